package redis_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestMessagesReachTheSubscribersOfTheServerAndOfItsReplicas(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	for i, name := range []string{"near", "far"} {
		d.client(name, func(c *caller) {
			c.expect(`["subscribe", "locks", (integer) 1]`, i+1, "SUBSCRIBE locks")
			require.Equal(t, `["message", "locks", "one"]`, c.next(i+1, 10*s))
			require.Equal(t, `["message", "locks", "two"]`, c.next(i+1, 10*s))
			require.Equal(t, `["message", "locks", "three"]`, c.next(i+1, 10*s))
			require.Equal(t, "silence", c.next(i+1, 10*s))
		})
	}
	d.client("a", func(c *caller) {
		c.sleepUntil(1 * s)
		c.expect("(integer) 1", 1, "PUBLISH locks one")
		c.expect("(integer) 0", 1, "PUBLISH others nothing")
		c.expect("OK", 1, "SET lock a")
		unlock := "redis.call('publish', KEYS[2], ARGV[1]) return redis.call('del', KEYS[1])"
		require.Equal(t, "(integer) 1", c.words(1, "EVAL", unlock, "2", "lock", "locks", "two"))
		c.do(1, "MULTI")
		c.do(1, "PUBLISH locks three")
		c.expect("[(integer) 1]", 1, "EXEC")
	})
	d.play()
	require.Contains(t, d.steps("redis-1", trace.Reply, "redis-2"), "MULTI; DEL lock; PUBLISH locks two; EXEC")
}

func TestMessagesAreLostOnTheDisconnected(t *testing.T) {
	d := deploy(t, 0, redis.Config{})
	d.fault(at(1*s), link(sim.Break, "listener", "redis-1"), 0)
	d.client("listener", func(c *caller) {
		c.do(1, "SUBSCRIBE locks")
		require.Equal(t, "closed", c.next(1, 10*s))
		c.lines[1] = nil
		c.sleepUntil(3 * s)
		c.do(1, "SUBSCRIBE locks")
		require.Equal(t, `["message", "locks", "again"]`, c.next(1, 10*s))
	})
	d.client("a", func(c *caller) {
		c.sleepUntil(2 * s)
		c.expect("(integer) 0", 1, "PUBLISH locks lost")
		c.sleepUntil(4 * s)
		c.expect("(integer) 1", 1, "PUBLISH locks again")
	})
	d.play()
}

func TestSubscriberCanDoLittleElse(t *testing.T) {
	d := deploy(t, 0, redis.Config{})
	d.client("a", func(c *caller) {
		c.expect(`["unsubscribe", (nil), (integer) 0]`, 1, "UNSUBSCRIBE")
		c.expect(`[["subscribe", "x", (integer) 1], ["subscribe", "y", (integer) 2]]`, 1, "SUBSCRIBE x y")
		require.Contains(t, c.do(1, "GET k"), "(error) ERR Can't execute 'get': only (P|S)SUBSCRIBE")
		c.expect(`["unsubscribe", "x", (integer) 1]`, 1, "UNSUBSCRIBE x")
		c.expect(`["unsubscribe", "y", (integer) 0]`, 1, "UNSUBSCRIBE")
		c.expect("(nil)", 1, "GET k")
		require.Contains(t, c.words(1, "EVAL", "return redis.call('subscribe', 'c')", "0"), "not allowed from script")
	})
	d.play()
}
