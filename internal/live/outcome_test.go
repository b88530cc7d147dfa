package live_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/locks"
)

// listenTo makes a function serve every connection, and returns the address.
func listenTo(t *testing.T, talk func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				talk(c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// TestAMasterIsNotAskedTwice has a master that takes a command and hangs up: a second try would find the first one's key.
func TestAMasterIsNotAskedTwice(t *testing.T) {
	var sets atomic.Int32
	master := listenTo(t, func(c net.Conn) {
		for r := bufio.NewReader(c); ; {
			line, err := r.ReadString('\n')
			switch {
			case err != nil:
				return
			case strings.EqualFold(line, "set\r\n"):
				sets.Add(1)
				return
			case strings.EqualFold(line, "hello\r\n"):
				_, _ = c.Write([]byte("-ERR unknown command\r\n"))
			}
		}
	})
	host, port, err := net.SplitHostPort(master)
	require.NoError(t, err)
	sentinel := listenTo(t, func(c net.Conn) {
		for r := bufio.NewReader(c); ; {
			line, err := r.ReadString('\n')
			switch {
			case err != nil:
				return
			case strings.EqualFold(line, "hello\r\n"):
				_, _ = c.Write([]byte("-ERR unknown command\r\n"))
			case strings.EqualFold(line, "get-master-addr-by-name\r\n"):
				_, _ = c.Write([]byte("*2\r\n$9\r\n" + host + "\r\n$5\r\n" + port + "\r\n"))
			case strings.EqualFold(line, "sentinels\r\n"):
				_, _ = c.Write([]byte("*0\r\n"))
			}
		}
	})
	p := open(t, live.Config{Redis: []string{sentinel}, Master: "mymaster"})
	_, err = p.Redis(0).Do(3*time.Second, "SET", "lock", "a", "NX")
	require.ErrorIs(t, err, locks.ErrUnknown)
	require.EqualValues(t, 1, sets.Load())
}

func TestProcessEndsWhileItsTasksAreBlocked(t *testing.T) {
	t.Parallel()
	silent := listenTo(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	for name, server := range map[string]string{"a server that does not answer": silent, "no server": "127.0.0.1:1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := live.Open(live.Config{ZooKeeper: []string{server}})
			require.NoError(t, err)
			a, ok := locks.Catalogue().Find("zk-ephemeral")
			require.True(t, ok)
			lock, err := a.New(locks.Options{Key: "lock", TTL: 10 * time.Second})(p)
			require.NoError(t, err)
			p.Go(func(locks.Process) { _, _ = lock.Acquire(locks.Try) })
			p.Sleep(3 * time.Second) // until it gives up, and has a task of its own remove what it may have made
			ended := make(chan error, 1)
			go func() { ended <- p.Close() }()
			select {
			case err := <-ended:
				require.NoError(t, err)
			case <-time.After(10 * time.Second):
				t.Fatal("it still runs")
			}
		})
	}
}

func TestUnknownServerIsRefused(t *testing.T) {
	_, err := live.Open(live.Config{ZooKeeper: []string{"127.0.0.1:99999"}})
	require.ErrorContains(t, err, "99999")
	_, err = live.Open(live.Config{ZooKeeper: []string{"nowhere.invalid:2181"}})
	require.Error(t, err)
}
