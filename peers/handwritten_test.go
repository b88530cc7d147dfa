package peers

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"
)

// outcome is what the hand-written test sees: how often the lock was taken, and how often while somebody else held it.
type outcome struct{ grants, doubles int64 }

// handwritten does the work in a bubble, with servers and clients of its own.
func handwritten(t *testing.T, w work) (o outcome) {
	synctest.Test(t, func(t *testing.T) {
		nodes := make([]*miniredis.Miniredis, servers)
		for i := range nodes {
			nodes[i] = miniredis.NewMiniRedis()
			nodes[i].ClockTTL(true) // keys expire by the bubble's clock
			defer nodes[i].Close()
		}
		var clients sync.WaitGroup
		seen, failures := &lookout{}, make([]error, w.clients)
		for i := range w.clients {
			clients.Go(func() { failures[i] = cycle(nodes, w, seen) })
		}
		clients.Wait()
		require.NoError(t, errors.Join(failures...))
		o = outcome{seen.grants.Load(), seen.doubles.Load()}
	})
	return o
}

// lookout is told by the clients what they believe.
type lookout struct{ holders, grants, doubles atomic.Int64 }

// cycle is one client: it locks, holds and unlocks.
func cycle(nodes []*miniredis.Miniredis, w work, seen *lookout) error {
	mutex, closeAll := connect(nodes, w)
	defer closeAll()
	for range w.cycles {
		if err := lock(mutex); err != nil {
			return err
		}
		seen.grants.Add(1)
		if seen.holders.Add(1) > 1 {
			seen.doubles.Add(1)
		}
		time.Sleep(w.hold)
		seen.holders.Add(-1)
		if _, err := mutex.Unlock(); err != nil && !errors.Is(err, redsync.ErrLockAlreadyExpired) {
			return err
		}
	}
	return nil
}

// lock waits until the mutex is held, however many tries that takes.
func lock(mutex *redsync.Mutex) error {
	for {
		err := mutex.Lock()
		var all, one = new(redsync.ErrTaken), new(redsync.ErrNodeTaken)
		if !errors.As(err, &all) && !errors.As(err, &one) && !errors.Is(err, redsync.ErrFailed) {
			return err
		}
	}
}

// connect gives one client its mutex on all nodes, over connections of its own.
func connect(nodes []*miniredis.Miniredis, w work) (mutex *redsync.Mutex, closeAll func()) {
	var clients []*goredislib.Client
	var pools []redis.Pool
	for _, node := range nodes {
		client := goredislib.NewClient(&goredislib.Options{
			Addr: "127.0.0.1:6379", // a name would be looked up, outside of the bubble
			Dialer: func(context.Context, string, string) (net.Conn, error) {
				conn, err := node.Dial()
				return slow{conn, w.latency}, err
			},
			PoolSize: 2, Protocol: 2, DisableIdentity: true, MaxRetries: -1, // nothing is said that need not be
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		clients, pools = append(clients, client), append(pools, goredis.NewPool(client))
	}
	delay := func(int) time.Duration { return w.delay + rand.N(w.delay) }
	mutex = redsync.New(pools...).NewMutex("lock", redsync.WithExpiry(w.lease), redsync.WithRetryDelayFunc(delay))
	return mutex, func() {
		for _, client := range clients {
			_ = client.Close()
		}
	}
}

// slow is a connection on which every message takes its time.
type slow struct {
	net.Conn
	latency time.Duration
}

// Write sends a request.
func (s slow) Write(b []byte) (int, error) {
	time.Sleep(s.latency)
	return s.Conn.Write(b)
}

// Read receives a reply.
func (s slow) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	time.Sleep(s.latency)
	return n, err
}
