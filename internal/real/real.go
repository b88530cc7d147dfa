// Package real starts real servers as child processes on loopback, each with a directory of its own, and stages faults
// for them: stops and kills, restarts with and without persistence, wrong clocks, slow or cut links.
//
// All child processes end with [Host.Close] and, on Linux, with this process, however that ends.
package real

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Host starts servers and links, and ends them.
type Host struct {
	dir     string
	janitor *janitor

	ending sync.Mutex // a concurrent second Close waits
	mu     sync.Mutex
	close  []func() error // what was started, and how it ends
	over   bool
}

// NewHost returns a host with a temporary directory for all its servers. It fails where processes cannot be suspended.
func NewHost() (*Host, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "locksim-real-")
	if err != nil {
		return nil, err
	}
	j, err := newJanitor(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Host{dir: dir, janitor: j}, nil
}

// Close ends all servers and links, the last first, and removes the directory.
func (h *Host) Close() error {
	h.ending.Lock()
	defer h.ending.Unlock()
	h.mu.Lock()
	list := h.close
	h.close, h.over = nil, true
	h.mu.Unlock()
	var errs []error
	for _, end := range slices.Backward(list) {
		errs = append(errs, end())
	}
	return errors.Join(append(errs, os.RemoveAll(h.dir), h.janitor.close())...)
}

func (h *Host) atEnd(f func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.close = append(h.close, f)
}

// Missing says which program is not installed, and which Debian package contains it; "": none does, but .ci/servers builds it.
type Missing struct{ Program, Package string }

func (m *Missing) Error() string {
	if m.Package == "" {
		return fmt.Sprintf("%s is not on PATH, and in no package of Debian; to build it in a folder, and put that on PATH: .ci/servers FOLDER %[1]s", m.Program)
	}
	return fmt.Sprintf("%s is not installed; on Debian: apt-get install %s", m.Program, m.Package)
}

// find returns the path of a program.
func find(program, pkg string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", &Missing{program, pkg}
	}
	return path, nil
}

// freePorts returns addresses on loopback on which nobody listens now. They are below those that the kernel gives to connections by
// itself (32768 and more on Linux, 49152 elsewhere), one of which might take the port before the server does. So is the port 10,000
// above, on which a node of a Redis Cluster talks to the others.
func freePorts(n int) ([]string, error) {
	var list []string
	for range n {
		l, err := listenBelow()
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // all at the end, so that they differ
		list = append(list, l.Addr().String())
	}
	return list, nil
}

func listenBelow() (l net.Listener, err error) {
	const first, last, tries = 15000, 22700, 100
	for range tries {
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(last-first)))); err == nil {
			return l, nil
		}
	}
	return nil, err
}

func port(address string) string {
	_, p, err := net.SplitHostPort(address)
	if err != nil {
		panic("real: " + err.Error())
	}
	return p
}

// Child is a child process that can be stopped, killed and started again.
type Child struct {
	Name string
	dir  string // of its own
	at   string // where it runs; "": there
	args []string
	env  []string
	in   io.Reader // of its standard input; may be nil
	out  io.Writer // nil: its log
	err  io.Writer // is given what goes to its log; may be nil

	owner *owner // whose process it is; nil: of the same user as we
	group bool   // it is stopped and killed with all that it has started, unless that has left its group

	clock string // the file that faketime reads; "" if it goes by the machine's clock

	process *os.Process
	ended   chan struct{} // closed when the process has

	succeeded bool // valid once ended is closed: it has returned 0
	log       tail
}

// start starts the process. The thread that starts it lives as long as it does, so that the kernel ends it with us.
func (c *Child) start() error {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = cmp.Or(c.at, c.dir), append(os.Environ(), c.env...), c.in
	log := io.Writer(&c.log)
	if c.err != nil {
		log = io.MultiWriter(log, c.err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if c.out != nil {
		cmd.Stdout = c.out
	}
	cmd.SysProcAttr = attributes(c.owner)
	if c.group {
		cmd.WaitDelay = time.Second // what it has started may have its output, and go on
	}
	ended, started := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.succeeded = cmd.Wait() == nil // a killed child is no error here
			if c.group {
				_ = signalGroup(cmd.Process.Pid, syscall.SIGKILL)
			}
		}
		close(ended)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	c.process, c.ended = cmd.Process, ended
	return nil
}

// Stop suspends the process, and returns when it is suspended.
func (c *Child) Stop() error {
	if err := c.signal(suspend); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return c.until(func() bool { return stopped(c.process.Pid) })
}

// Continue resumes the process.
func (c *Child) Continue() error {
	if err := c.signal(resume); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return nil
}

// Kill ends the process at once, as kill -9 does, and returns when it is gone. It does nothing if the process
// has ended.
func (c *Child) Kill() error {
	if c.process == nil {
		return nil
	}
	if err := c.signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	<-c.ended
	return nil
}

// signal sends a signal to the process, or to its group.
func (c *Child) signal(s syscall.Signal) error {
	if !c.group {
		return c.process.Signal(s)
	}
	select {
	case <-c.ended: // another process may have its number by now
		return os.ErrProcessDone
	default:
		return signalGroup(c.process.Pid, s)
	}
}

// Ended is closed when the process has ended.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Log returns the end of the process's output.
func (c *Child) Log() string { return c.log.String() }

// Await waits until ready returns true, as long as the process is alive.
func (c *Child) Await(ready func() bool) error { return c.until(ready) }

// patience is how long a server may take to be ready. A machine under load is slow.
const patience = 30 * time.Second

// until waits for something to become true of a process that is alive.
func (c *Child) until(ready func() bool) error {
	deadline := time.After(patience)
	for pause := 200 * time.Microsecond; !ready(); pause = min(2*pause, 50*time.Millisecond) {
		select {
		case <-c.ended:
			return fmt.Errorf("%s has ended: %s", c.Name, c.log.String())
		case <-deadline:
			return fmt.Errorf("%s was not ready within %v: %s", c.Name, patience, c.log.String())
		case <-time.After(pause):
		}
	}
	return nil
}

// launch makes a child of the host and starts it.
func (h *Host) launch(c *Child) error {
	h.mu.Lock() // until it runs: Close must not miss it
	defer h.mu.Unlock()
	if h.over {
		return errors.New("real: the host is closed")
	}
	c.dir = filepath.Join(h.dir, c.Name)
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	h.close = append(h.close, c.Kill)
	return c.start()
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if n := len(t.text); n > 2*tailSize {
		t.text = append([]byte(nil), t.text[n-tailSize:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

// stopped reports whether a process stands still: a stop takes effect some time after the signal was sent.
func stopped(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // where there is no such file, nobody can tell
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return bytes.HasPrefix(rest, []byte("T"))
}
