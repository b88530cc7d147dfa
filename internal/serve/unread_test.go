package serve_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/serve"
)

// lines collects what a world says on its log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// talker is a client that reads the lines which it waits for.
type talker struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func newTalker(t *testing.T, address string) *talker {
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &talker{t, c, bufio.NewReader(c)}
}

// ask sends a line and reads the first line of the answer.
func (c *talker) ask(line string) string {
	_, err := io.WriteString(c.conn, line+"\r\n")
	require.NoError(c.t, err)
	answer, err := c.in.ReadString('\n')
	require.NoError(c.t, err)
	return strings.TrimSpace(answer)
}

// TestClientsThatDoNotReadAreDisconnected has clients ask for more than they read: one beyond the limit that CONFIG SET gives its
// class, one beyond the bound of the process, one that subscribes. Others are served meanwhile, and one that stays below its limit
// reads everything, however late.
func TestClientsThatDoNotReadAreDisconnected(t *testing.T) {
	const mb = 1 << 20
	for name, c := range map[string]struct {
		config string // what CONFIG SET says of client-output-buffer-limit
		bound  int    // of the process
		reason string // that the log tells
	}{
		"configured limit":     {"normal 4mb 0 0", 64 * mb, "client-output-buffer-limit normal"},
		"bound of the process": {"normal 0 0 0", 4 * mb, "the bound of this process"},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := serve.Redis(1, anywhere(1), false)
			log := &lines{}
			w.MaxUnread, w.Log = c.bound, log
			address := served(t, w, err)[0]
			other := newTalker(t, address)
			require.Equal(t, "+OK", other.ask(`CONFIG SET client-output-buffer-limit "`+c.config+`"`))
			require.Equal(t, ":1048576", other.ask("SETRANGE big 1048575 x"))
			stuck := newTalker(t, address)
			sent := 0
			for ; sent < 200; sent++ { // 200 MB
				if _, err := io.WriteString(stuck.conn, "GET big\r\n"); err != nil {
					break
				}
				require.Equal(t, "+PONG", other.ask("PING"))
			}
			got, err := io.Copy(io.Discard, stuck.in)
			require.Less(t, got, int64(200*mb), "everything was kept for a client that did not read: %v", err)
			require.Contains(t, log.String(), c.reason)
			require.Contains(t, log.String(), stuck.conn.LocalAddr().String())
			require.Equal(t, "+PONG", other.ask("PING"))
		})
	}
}

// TestSubscribersThatDoNotReadAreDisconnected: the limit of their class is 32 MB unless it is configured.
func TestSubscribersThatDoNotReadAreDisconnected(t *testing.T) {
	w, err := serve.Redis(1, anywhere(1), false)
	log := &lines{}
	w.Log = log
	address := served(t, w, err)[0]
	stuck, other := newTalker(t, address), newTalker(t, address)
	require.Equal(t, "*3", stuck.ask("SUBSCRIBE news"))
	message := strings.Repeat("x", 1<<20)
	publish := fmt.Sprintf("*3\r\n$7\r\nPUBLISH\r\n$4\r\nnews\r\n$%d\r\n%s\r", len(message), message)
	published := 0
	for ; published < 100 && other.ask(publish) == ":1"; published++ {
		continue
	}
	require.Less(t, published, 100)
	require.Contains(t, log.String(), "client-output-buffer-limit pubsub")
}

// TestLateReadersReadEverything: a client that stays below its limit loses nothing.
func TestLateReadersReadEverything(t *testing.T) {
	w, err := serve.Redis(1, anywhere(1), false)
	address := served(t, w, err)[0]
	other, late := newTalker(t, address), newTalker(t, address)
	require.Equal(t, ":1048576", other.ask("SETRANGE big 1048575 x"))
	_, err = io.WriteString(late.conn, strings.Repeat("GET big\r\n", 32)+"QUIT\r\n")
	require.NoError(t, err)
	require.Equal(t, "+PONG", other.ask("PING"))
	got, err := io.Copy(io.Discard, late.in)
	require.True(t, err == nil || errors.Is(err, io.EOF))
	require.Equal(t, int64(32*(len("$1048576\r\n")+(1<<20)+2)+len("+OK\r\n")), got)
}
