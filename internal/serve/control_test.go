package serve_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/serve"
)

// TestServersAreControlledByLines crashes, restarts, pauses and resumes a server, and looks at it as a client does. The other goes on.
func TestServersAreControlledByLines(t *testing.T) {
	w, err := serve.Redis(1, anywhere(2), false)
	addresses := served(t, w, err)
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = w.Control(ctx, in, out) }()
	heard := bufio.NewScanner(answers)
	say := func(line, want string) {
		t.Helper()
		_, err := io.WriteString(lines, line+"\n")
		require.NoError(t, err)
		require.True(t, heard.Scan())
		require.Equal(t, want, heard.Text())
	}
	ping := func(c net.Conn, limit time.Duration) error {
		_ = c.SetDeadline(time.Now().Add(limit))
		if _, err := io.WriteString(c, "PING\r\n"); err != nil {
			return err
		}
		_, err := io.ReadFull(c, make([]byte, len("+PONG\r\n")))
		return err
	}
	dial := func(i int) net.Conn {
		c, err := net.Dial("tcp", addresses[i])
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	first, second := dial(0), dial(1)
	require.NoError(t, ping(first, time.Minute))
	require.NoError(t, ping(second, time.Minute))

	say("pause  redis-1", "pause redis-1")
	require.ErrorContains(t, ping(first, 20*time.Millisecond), "timeout")
	say("pause redis-1", "error: redis-1 is paused or has crashed already")
	say("restart redis-1", "error: redis-1 has not been crashed")
	say("resume redis-1", "resume redis-1")
	_, err = io.ReadFull(first, make([]byte, len("+PONG\r\n"))) // the answer to what was asked meanwhile
	require.ErrorContains(t, err, "timeout")
	_ = first.SetDeadline(time.Now().Add(time.Minute))
	_, err = io.ReadFull(first, make([]byte, len("+PONG\r\n")))
	require.NoError(t, err)

	say("pause redis-1", "pause redis-1")
	say("crash redis-1", "crash redis-1")
	require.ErrorIs(t, ping(first, time.Minute), io.EOF)
	_, err = net.Dial("tcp", addresses[0])
	require.ErrorContains(t, err, "refused")
	require.NoError(t, ping(second, time.Minute))
	say("crash redis-1", "error: redis-1 has crashed already")
	say("resume redis-1", "error: redis-1 has not been paused")
	say("restart redis-1", "restart redis-1")
	require.NoError(t, ping(dial(0), time.Minute))

	say("crash redis-3", `error: there is no server "redis-3"; want redis-1 to redis-2`)
	say("stop redis-1", `error: there is no "stop"; want crash, restart, pause or resume`)
	say("crash", "error: want crash, restart, pause or resume, and the name of a server, such as crash redis-1")
	say("crash redis-2", "crash redis-2") // and the end of Serve is none in error
}
