package peers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/serve"
)

// served serves simulated Redis servers until the test ends, and returns where.
func served(t *testing.T, n int) []string {
	t.Helper()
	addresses := make([]string, n)
	for i := range addresses {
		addresses[i] = "127.0.0.1:0"
	}
	w, err := serve.Redis(1, addresses, false)
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

// client is go-redis as it is without options, but for the protocol that it speaks.
func client(t *testing.T, address string, protocol int) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: address, Protocol: protocol, ClientName: "peer"})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// inBothProtocols runs a test with go-redis speaking RESP2, and RESP3, which is its default.
func inBothProtocols(t *testing.T, test func(t *testing.T, c *redis.Client)) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) { test(t, client(t, served(t, 1)[0], protocol)) })
	}
}

func TestGoRedisReadsWhatItWrites(t *testing.T) {
	inBothProtocols(t, func(t *testing.T, c *redis.Client) {
		ctx := t.Context()
		ok, err := c.SetNX(ctx, "lock", "a", time.Minute).Result()
		require.NoError(t, err)
		require.True(t, ok)
		ok, err = c.SetNX(ctx, "lock", "b", time.Minute).Result()
		require.NoError(t, err)
		require.False(t, ok)
		left, err := c.PTTL(ctx, "lock").Result()
		require.NoError(t, err)
		require.InDelta(t, time.Minute, left, float64(10*time.Second))
		_, err = c.Get(ctx, "nosuch").Result()
		require.ErrorIs(t, err, redis.Nil)
		require.NoError(t, c.HSet(ctx, "h", "f", "1", "g", "2").Err())
		all, err := c.HGetAll(ctx, "h").Result()
		require.NoError(t, err)
		require.Equal(t, map[string]string{"f": "1", "g": "2"}, all)
		require.NoError(t, c.ZAdd(ctx, "z", redis.Z{Score: 1.5, Member: "a"}, redis.Z{Score: 0.1, Member: "b"}).Err())
		scored, err := c.ZRangeWithScores(ctx, "z", 0, -1).Result()
		require.NoError(t, err)
		require.Equal(t, []redis.Z{{Score: 0.1, Member: "b"}, {Score: 1.5, Member: "a"}}, scored)
		require.NoError(t, c.SAdd(ctx, "s", "a", "b").Err())
		members, err := c.SMembersMap(ctx, "s").Result()
		require.NoError(t, err)
		require.Len(t, members, 2)
		_, err = c.HGet(ctx, "lock", "f").Result()
		require.ErrorContains(t, err, "WRONGTYPE")
		values, err := c.MGet(ctx, "lock", "nosuch").Result()
		require.NoError(t, err)
		require.Equal(t, []any{"a", nil}, values)
		name, err := c.ClientGetName(ctx).Result()
		require.NoError(t, err)
		require.Equal(t, "peer", name)
		info, err := c.ClientInfo(ctx).Result()
		require.NoError(t, err)
		require.Equal(t, "peer", info.Name)
		commands, err := c.Command(ctx).Result()
		require.NoError(t, err)
		require.Equal(t, int8(1), commands["get"].FirstKeyPos)
		require.True(t, commands["get"].ReadOnly)
		require.False(t, commands["set"].ReadOnly)
	})
}

func TestGoRedisRunsScripts(t *testing.T) {
	inBothProtocols(t, func(t *testing.T, c *redis.Client) {
		script := redis.NewScript(`return {redis.call('incr', KEYS[1]), ARGV[1], false, {ok = 'FINE'}}`)
		for i := range int64(2) { // by EVALSHA, which finds no script, and then by EVAL; the second time by EVALSHA
			reply, err := script.Run(t.Context(), c, []string{"n"}, "x").Result()
			require.NoError(t, err)
			require.Equal(t, []any{i + 1, "x", nil, "FINE"}, reply)
		}
		require.ErrorContains(t, c.Eval(t.Context(), "return redis.call('hget', KEYS[1], 'f')", []string{"n"}).Err(), "WRONGTYPE")
	})
}

// TestGoRedisLosesNoIncrement has clients count with WATCH, MULTI and EXEC, each of which fails if another has come first.
func TestGoRedisLosesNoIncrement(t *testing.T) {
	inBothProtocols(t, func(t *testing.T, c *redis.Client) {
		ctx := t.Context()
		increment := func(tx *redis.Tx) error {
			n, err := tx.Get(ctx, "n").Int()
			if err != nil && !errors.Is(err, redis.Nil) {
				return err
			}
			_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "n", n+1, 0)
				p.Incr(ctx, "commits")
				return nil
			})
			return err
		}
		var wait sync.WaitGroup
		errs := make(chan error, 100)
		for range 5 {
			wait.Go(func() {
				for range 20 {
					err := c.Watch(ctx, increment, "n")
					for errors.Is(err, redis.TxFailedErr) {
						err = c.Watch(ctx, increment, "n")
					}
					errs <- err
				}
			})
		}
		wait.Wait()
		for range 100 {
			require.NoError(t, <-errs)
		}
		require.Equal(t, []any{"100", "100"}, c.MGet(ctx, "n", "commits").Val())
	})
}

func TestGoRedisPipelinesAndSubscribes(t *testing.T) {
	inBothProtocols(t, func(t *testing.T, c *redis.Client) {
		ctx := t.Context()
		replies, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range 1000 {
				p.Incr(ctx, "n")
				if i%100 == 0 {
					p.Get(ctx, "nosuch")
				}
			}
			return nil
		})
		require.ErrorIs(t, err, redis.Nil)
		require.Len(t, replies, 1010)
		require.Equal(t, "1000", c.Get(ctx, "n").Val())

		sub := c.Subscribe(ctx, "news", "free")
		defer func() { require.NoError(t, sub.Close()) }()
		for range 2 {
			_, err := sub.ReceiveTimeout(ctx, time.Minute)
			require.NoError(t, err)
		}
		require.NoError(t, sub.PSubscribe(ctx, "ne*"))
		confirmed, err := sub.ReceiveTimeout(ctx, time.Minute)
		require.NoError(t, err)
		require.Equal(t, &redis.Subscription{Kind: "psubscribe", Channel: "ne*", Count: 3}, confirmed)
		require.NoError(t, sub.Ping(ctx, "hello"))
		pong, err := sub.ReceiveTimeout(ctx, time.Minute)
		require.NoError(t, err)
		require.Equal(t, &redis.Pong{Payload: "hello"}, pong)
		require.Equal(t, int64(2), c.Publish(ctx, "news", "x").Val())
		for _, pattern := range []string{"", "ne*"} {
			m, err := sub.ReceiveTimeout(ctx, time.Minute)
			require.NoError(t, err)
			require.Equal(t, &redis.Message{Channel: "news", Pattern: pattern, Payload: "x"}, m)
		}
	})
}

// TestRedsyncExcludesOnServedServers has redsync, unmodified, lock on five simulated servers.
func TestRedsyncExcludesOnServedServers(t *testing.T) {
	var pools []redsyncredis.Pool
	for _, address := range served(t, 5) {
		pools = append(pools, goredis.NewPool(client(t, address, 3)))
	}
	rs := redsync.New(pools...)
	const workers, rounds = 4, 5
	var wait sync.WaitGroup
	inside, most := 0, 0
	errs := make(chan error, workers*rounds)
	for range workers {
		wait.Go(func() {
			for range rounds {
				m := rs.NewMutex("lock", redsync.WithExpiry(time.Minute), redsync.WithTries(10_000), redsync.WithRetryDelay(time.Millisecond))
				err := m.LockContext(t.Context())
				if err == nil {
					inside++ // the lock is what guards it: the race detector would tell
					most = max(most, inside)
					inside--
					_, err = m.UnlockContext(t.Context())
				}
				errs <- err
			}
		})
	}
	wait.Wait()
	for range workers * rounds {
		require.NoError(t, <-errs)
	}
	require.Equal(t, 1, most)
	m := rs.NewMutex("other", redsync.WithExpiry(time.Minute))
	require.NoError(t, m.Lock())
	extended, err := m.Extend()
	require.NoError(t, err)
	require.True(t, extended)
	require.Error(t, rs.NewMutex("other", redsync.WithTries(1)).Lock())
}
