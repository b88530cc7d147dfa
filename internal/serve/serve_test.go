package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/serve"
	"github.com/locksim/locksim/locks"
)

// served serves a world until the test ends, and returns where.
func served(t *testing.T, w *serve.World, err error) []string {
	t.Helper()
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return w.Addresses()
}

func anywhere(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "127.0.0.1:0"
	}
	return list
}

// takesTurns has two processes take a lock one after the other.
func takesTurns(t *testing.T, name string, servers live.Config) {
	t.Helper()
	a, ok := locks.Catalogue().Find(name)
	require.True(t, ok)
	options := locks.Options{Key: "key-of-" + name, TTL: 2 * time.Second, Timeout: time.Second}
	var list []locks.Lock
	for _, owner := range []string{"one", "two"} {
		servers.Owner = owner
		p, err := live.Open(servers)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.Close()) })
		lock, err := a.New(options)(p)
		require.NoError(t, err)
		list = append(list, lock)
	}
	lease, err := list[0].Acquire(locks.Forever)
	require.NoError(t, err)
	_, err = list[1].Acquire(locks.Try)
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	require.NoError(t, list[0].Release(lease))
	lease, err = list[1].Acquire(locks.Forever)
	require.NoError(t, err)
	require.NoError(t, list[1].Release(lease))
}

func TestClientsOfRedisTakeOurServersForRedis(t *testing.T) {
	w, err := serve.Redis(1, anywhere(3), false)
	addresses := served(t, w, err)
	for _, name := range []string{"setnx", "set-nx-lua", "set-nx-lua-fenced", "watchdog", "reentrant"} {
		t.Run(name, func(t *testing.T) { takesTurns(t, name, live.Config{Redis: addresses[:1]}) })
	}
	for _, name := range []string{"redlock", "redlock-parallel", "redlock-py", "redlock-counter-token"} {
		t.Run(name, func(t *testing.T) { takesTurns(t, name, live.Config{Redis: addresses}) })
	}
}

func TestClientsOfZooKeeperTakeOurServersForZooKeeper(t *testing.T) {
	w, err := serve.ZooKeeper(1, anywhere(3), 100*time.Millisecond)
	addresses := served(t, w, err)
	for _, name := range []string{"zk-ephemeral", "zk-sequential", "zk-sequential-no-sync", "zk-sequential-number-token"} {
		t.Run(name, func(t *testing.T) { takesTurns(t, name, live.Config{ZooKeeper: addresses}) })
	}
}

func TestReplicasFollowTheirMaster(t *testing.T) {
	w, err := serve.Redis(1, anywhere(2), true)
	addresses := served(t, w, err)
	ask := func(address, command string) string {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Close()) }()
		_, err = fmt.Fprintf(c, "%s\r\n", command)
		require.NoError(t, err)
		line, err := bufio.NewReader(c).ReadString('\n')
		require.NoError(t, err)
		return line
	}
	require.Equal(t, "+OK\r\n", ask(addresses[0], "SET lock a"))
	require.Equal(t, ":1\r\n", ask(addresses[0], "WAIT 0 1000"))
	require.Equal(t, "$1\r\n", ask(addresses[1], "GET lock"))
	require.Contains(t, ask(addresses[1], "SET lock b"), "READONLY")
}

func TestUnknownProtocolIsRejected(t *testing.T) {
	redis, err := serve.Redis(1, anywhere(1), false)
	zookeeper, err2 := serve.ZooKeeper(1, anywhere(1), time.Second)
	for address, bytes := range map[string]string{
		served(t, redis, err)[0]:      "*1\r\n:1\r\n",
		served(t, zookeeper, err2)[0]: "\xff\xff\xff\xff",
	} {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = c.Write([]byte(bytes))
		require.NoError(t, err)
		require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
		r := bufio.NewReader(c)
		for err == nil {
			_, err = r.ReadByte()
		}
		require.ErrorContains(t, err, "EOF")
		require.NoError(t, c.Close())
	}
}
