package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/serve"
)

// Suites of libraries start the servers that they are played with. This test program stands in for these, under their names.

// redisServer is the program redis-server: it reads the address from its arguments, or from the configuration on its standard input, and
// ends when it is told to.
func redisServer(args []string) int {
	settings := map[string]string{"bind": "127.0.0.1", "port": "6379"}
	switch {
	case slices.Equal(args, []string{"--version"}):
		fmt.Println("Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64 build=0")
		return 0
	case slices.Equal(args, []string{"-"}):
		readSettings(os.Stdin, " ", settings)
	}
	for i := 0; i+1 < len(args); i++ {
		if name, ok := strings.CutPrefix(args[i], "--"); ok {
			settings[name] = args[i+1]
		}
	}
	address := net.JoinHostPort(settings["bind"], settings["port"])
	w, err := serve.Redis(1, []string{address}, false)
	if err == nil {
		err = forwardSocket(settings["unixsocket"], w.Addresses()[0]) // port 0 is any
	}
	if err == nil {
		fmt.Println("1:M * The server is now ready to accept connections on port " + settings["port"])
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		go endWithParent(os.Getppid())
		err = w.Serve(ctx)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// endWithParent ends this process when the one that started it is gone: a suite that panics leaves servers behind.
func endWithParent(parent int) {
	for os.Getppid() == parent {
		time.Sleep(time.Second)
	}
	os.Exit(1)
}

func readSettings(from io.Reader, separator string, to map[string]string) {
	for in := bufio.NewScanner(from); in.Scan(); {
		name, value, _ := strings.Cut(in.Text(), separator)
		to[name] = value
	}
}

// forwardSocket takes the connections to a socket of the file system to an address; there is none if its path is "".
func forwardSocket(path, address string) error {
	if path == "" {
		return nil
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	carry := func(from, to net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", address)
			if err != nil {
				_ = near.Close()
				continue
			}
			go carry(near, far)
			go carry(far, near)
		}
	}()
	return nil
}

// zooKeeperServer is the script zkServer.sh: it has the ensemble of its configuration start the server, which crashes when this program
// ends.
func zooKeeperServer(args []string) int {
	c, err := net.Dial("unix", os.Getenv("LOCKSIM_ENSEMBLES"))
	if err == nil {
		fmt.Fprintln(c, args[len(args)-1])
		_, err = io.Copy(os.Stdout, c)
	}
	fmt.Println(err)
	return 1
}

// ensembles are those that zkServer.sh is asked for, by the folder in which their servers have one each.
type ensembles struct {
	mu   sync.Mutex
	list map[string]*ensemble
}

type ensemble struct {
	lines   io.Writer
	answers *bufio.Scanner
}

// serveEnsembles waits for calls of zkServer.sh at a socket until the test ends, and returns its path.
func serveEnsembles(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ensembles")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	all := &ensembles{list: map[string]*ensemble{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go all.attend(t.Context(), c)
		}
	}()
	return path
}

// attend has a server live as long as a call of zkServer.sh.
func (all *ensembles) attend(ctx context.Context, c net.Conn) {
	defer c.Close()
	in := bufio.NewScanner(c)
	if !in.Scan() {
		return
	}
	configuration := in.Text()
	name := "zk-" + strings.TrimPrefix(filepath.Base(filepath.Dir(configuration)), "srv")
	if err := all.tell(ctx, configuration, "restart "+name); err != nil {
		fmt.Fprintln(c, err)
		return
	}
	for in.Scan() {
	}
	if err := all.tell(ctx, configuration, "crash "+name); err != nil && ctx.Err() == nil {
		panic(err)
	}
}

// tell gives a line to the ensemble to which a configuration belongs, which is made first if there is none.
func (all *ensembles) tell(ctx context.Context, configuration, line string) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	root := filepath.Dir(filepath.Dir(configuration))
	e := all.list[root]
	if e == nil {
		var err error
		if e, err = newEnsemble(ctx, configuration); err != nil {
			return err
		}
		all.list[root] = e
	}
	return e.tell(line)
}

func (e *ensemble) tell(line string) error {
	if _, err := fmt.Fprintln(e.lines, line); err != nil {
		return err
	}
	if !e.answers.Scan() || e.answers.Text() != line {
		return fmt.Errorf("%s: %s", line, e.answers.Text())
	}
	return nil
}

// newEnsemble serves an ensemble, whose servers are all down. Its client ports are three apart: a configuration tells its own.
func newEnsemble(ctx context.Context, configuration string) (*ensemble, error) {
	f, err := os.Open(configuration)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	settings := map[string]string{}
	readSettings(f, "=", settings)
	var id, port, tick, servers int
	_, _ = fmt.Sscanf(filepath.Base(filepath.Dir(configuration)), "srv%d", &id)
	_, _ = fmt.Sscan(settings["clientPort"], &port)
	_, _ = fmt.Sscan(settings["tickTime"], &tick)
	for name := range settings {
		if strings.HasPrefix(name, "server.") {
			servers++
		}
	}
	var addresses []string
	for i := range max(servers, 1) {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port+3*(i+1-id)))
	}
	w, err := serve.ZooKeeper(1, addresses, time.Duration(tick)*time.Millisecond)
	if err != nil {
		return nil, err
	}
	go func() { _ = w.Serve(ctx) }()
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	go func() { _ = w.Control(ctx, in, out) }()
	e := &ensemble{lines, bufio.NewScanner(answers)}
	for i := range addresses {
		if err := e.tell(fmt.Sprintf("crash zk-%d", i+1)); err != nil {
			return nil, err
		}
	}
	return e, nil
}
