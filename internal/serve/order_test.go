package serve_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/serve"
)

func TestFarewellsComeAfterTheRepliesToWhatWasSentBefore(t *testing.T) {
	w, err := serve.Redis(1, anywhere(1), false)
	address := served(t, w, err)[0]
	for last, reply := range map[string]string{
		"QUIT\r\n":     "+OK\r\n",
		"*1\r\n:1\r\n": "-ERR Protocol error: expected '$', got ':'\r\n",
	} {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = io.WriteString(c, "PING\r\nECHO a\r\n"+last)
		require.NoError(t, err)
		all, err := io.ReadAll(c)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(all), "+PONG\r\n") && strings.HasSuffix(string(all), reply), "%q", all)
		require.NoError(t, c.Close())
	}
}

func TestAnswersComeInTheOrderOfRequests(t *testing.T) {
	w, err := serve.ZooKeeper(1, anywhere(1), time.Second)
	c, err := dialZK(served(t, w, err)[0], 10*time.Second, 0, "")
	require.NoError(t, err)
	ops := []struct {
		op   int32
		body frame
		code int32
	}{
		{opCreate, frame{}.text("/a").text("").anyone().int(0), 0}, {6, frame{}.text("/"), 0}, {opExists, frame{}.text("/a").bool(false), 0},
		{100, frame{}.int(0).text("digest").text("a:b"), 0},
	}
	for i, o := range ops {
		require.NoError(t, c.write(append(frame{}.int(int32(i+1)).int(o.op), o.body...)))
	}
	for i, o := range ops {
		b, err := c.read()
		require.NoError(t, err)
		require.Equal(t, int32(i+1), int32(binary.BigEndian.Uint32(b)))
		require.Equal(t, o.code, int32(binary.BigEndian.Uint32(b[12:])))
	}
	require.NoError(t, c.conn.Close())
}

// TestServingEndsThoughAClientDoesNotRead has a client leave more unread than sockets hold.
func TestServingEndsThoughAClientDoesNotRead(t *testing.T) {
	w, err := serve.Redis(1, anywhere(1), false)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx) }()
	c, err := net.Dial("tcp", w.Addresses()[0])
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	_, err = io.WriteString(c, "SET big "+strings.Repeat("x", 60_000)+"\r\n"+strings.Repeat("GET big\r\n", 1000)+"SET done 1\r\nQUIT\r\n")
	require.NoError(t, err)
	other, err := net.Dial("tcp", w.Addresses()[0])
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	r := bufio.NewReader(other)
	for rounds, line := 0, ""; rounds < 100; { // some more after the last command was done
		_, err := io.WriteString(other, "EXISTS done\r\n")
		require.NoError(t, err)
		line, err = r.ReadString('\n')
		require.NoError(t, err)
		if line == ":1\r\n" {
			rounds++
		}
	}
	stop()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("it still serves")
	}
}
