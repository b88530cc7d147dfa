package redis

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Wire is a connection to a server that speaks RESP.
type Wire struct {
	conn net.Conn
	in   *bufio.Reader
}

// Dial connects to a server.
func Dial(t *testing.T, address string) *Wire {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return &Wire{conn: conn, in: bufio.NewReader(conn)}
}

// Send sends a command line.
func (w *Wire) Send(t require.TestingT, args ...string) {
	line := appendArray(nil, len(args))
	for _, a := range args {
		line = appendBulk(line, a)
	}
	_, err := w.conn.Write(line)
	require.NoError(t, err)
}

// Do sends a command line and waits for its reply.
func (w *Wire) Do(t require.TestingT, args ...string) Reply {
	w.Send(t, args...)
	reply, err := w.Read()
	require.NoError(t, err, "%q", args)
	return reply
}

// Read reads a reply.
func (w *Wire) Read() (Reply, error) {
	raw, err := readReply(w.in)
	if err != nil {
		return Reply{}, err
	}
	return ParseReply(raw)
}

// RealServer is a redis-server of this machine, on loopback, without persistence.
type RealServer struct {
	Address string
	t       *testing.T
	options []string
	process *os.Process
}

// StartRealServer starts a redis-server, or skips the test if there is none.
func StartRealServer(t *testing.T, options ...string) *RealServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &RealServer{Address: listener.Addr().String(), t: t}
	require.NoError(t, listener.Close())
	s.options = append([]string{
		"--bind", "127.0.0.1", "--port", s.Address[strings.LastIndex(s.Address, ":")+1:], "--dir", t.TempDir(),
		"--save", "", "--appendonly", "no", "--daemonize", "no",
	}, options...)
	t.Cleanup(s.Kill)
	s.Start()
	return s
}

// Start starts the process and waits until it serves.
func (s *RealServer) Start() {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Skip("no redis-server on this machine: the comparison with a real Redis is skipped")
	}
	server := exec.Command(path, s.options...)
	log, err := server.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, server.Start())
	s.process = server.Process
	for lines := bufio.NewScanner(log); ; {
		require.True(s.t, lines.Scan(), "redis-server ended before it was ready")
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
}

// Kill ends the process as kill -9 does.
func (s *RealServer) Kill() {
	if s.process != nil {
		_ = s.process.Kill()
		_, _ = s.process.Wait()
		s.process = nil
	}
}

// Stop stops the process as kill -STOP does.
func (s *RealServer) Stop() {
	require.NoError(s.t, exec.Command("sh", "-c", fmt.Sprintf("kill -STOP %d", s.process.Pid)).Run()) // syscall has no SIGSTOP everywhere
}

// readReply reads the bytes of one reply.
func readReply(in *bufio.Reader) ([]byte, error) {
	raw, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(raw[1:])))
	switch {
	case raw[0] == '$' && n >= 0:
		bulk := make([]byte, n+2)
		if _, err := io.ReadFull(in, bulk); err != nil {
			return nil, err
		}
		raw = append(raw, bulk...)
	case raw[0] == '*':
		for range n {
			elem, err := readReply(in)
			if err != nil {
				return nil, err
			}
			raw = append(raw, elem...)
		}
	}
	return raw, nil
}

// comparable is a reply without what may differ: the texts of errors.
func comparableReply(r Reply) string {
	switch r.Type {
	case ReplyError:
		return "(error) " + r.Code()
	case ReplyArray:
		var elems []string
		for _, e := range r.Elems {
			elems = append(elems, comparableReply(e))
		}
		return fmt.Sprint(elems)
	default:
		return r.String()
	}
}
