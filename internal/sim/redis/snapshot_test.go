package redis_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

func TestStaleSnapshotBringsAReleasedLockBack(t *testing.T) {
	for _, host := range []bool{false, true} {
		d := deploy(t, 0, redis.Config{Persistence: redis.RDB})
		d.fault(at(1*s), sim.Action{Kind: sim.Snapshot, Node: "redis-1"}, 0)
		d.fault(at(2*s), crash("redis-1", host, 100*ms), 0)
		d.client("a", func(c *caller) {
			c.expect("OK", 1, "SET lock a NX PX 600000")
			c.sleepUntil(1100 * ms)
			c.expect("(integer) 1", 1, "DEL lock")
			c.expect("OK", 1, "SET lock b NX PX 600000")
			c.expect("OK", 1, "SET new b")
			c.sleepUntil(3 * s)
			delete(c.lines, 1)
			c.expect(`"a"`, 1, "GET lock")
			c.expect("(nil)", 1, "GET new")
			c.expect("(integer) 596996", 1, "PTTL lock")
		})
		d.play()
	}
}

func TestOnlyTheSnapshotOnTheDiskComesBack(t *testing.T) {
	for name, f := range map[string]struct {
		config redis.Config
		crash  sim.Action
		back   bool
	}{
		"kept":                           {redis.Config{Persistence: redis.RDB}, crash("redis-1", true, s), true},
		"no persistence":                 {redis.Config{}, crash("redis-1", false, s), false},
		"lying disk, power lost":         {redis.Config{Persistence: redis.RDB, DiskLies: true}, crash("redis-1", true, s), false},
		"lying disk, process died":       {redis.Config{Persistence: redis.RDB, DiskLies: true}, crash("redis-1", false, s), true},
		"lazy log, process died":         {redis.Config{Persistence: redis.Lazy}, crash("redis-1", false, s), true},
		"lazy log, power lost":           {redis.Config{Persistence: redis.Lazy}, crash("redis-1", true, s), false},
		"snapshots beside a log are one": {redis.Config{Persistence: redis.Always}, crash("redis-1", true, s), true},
	} {
		t.Run(name, func(t *testing.T) {
			d := deploy(t, 0, f.config)
			d.fault(at(1*s), sim.Action{Kind: sim.Snapshot, Node: "redis-1"}, 0)
			d.fault(at(2*s), f.crash, 0)
			d.client("a", func(c *caller) {
				c.expect("OK", 1, "SET lock a")
				c.sleepUntil(4 * s)
				require.Equal(t, f.back, d.has(1, "lock"))
			})
			d.play()
		})
	}
}

func TestMachineWritesALazyLogBackWithinAMinute(t *testing.T) {
	d := deploy(t, 0, redis.Config{Persistence: redis.Lazy})
	d.fault(at(61*s), crash("redis-1", true, s), 0)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a")
		c.sleepUntil(63 * s)
		require.True(t, d.has(1, "lock"))
	})
	d.play()
}

func TestEvictionIsSeenAndPropagated(t *testing.T) {
	d := deploy(t, 1, redis.Config{Persistence: redis.Always})
	d.fault(at(1*s), sim.Action{Kind: sim.Evict, Node: "redis-1", Key: "lock"}, 0)
	d.fault(at(1100*ms), sim.Action{Kind: sim.Evict, Node: "redis-1", Key: "nosuch"}, 0)
	d.fault(at(1200*ms), sim.Action{Kind: sim.Evict, Node: "redis-2", Key: "other"}, 0)
	d.fault(at(3*s), crash("redis-1", true, 100*ms), 0)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a PX 10000")
		c.expect("OK", 1, "SET other a PX 10000")
		c.sleepUntil(2 * s)
		c.expect("(nil)", 1, "GET lock")
		c.expect("(nil)", 2, "GET lock")
		c.expect(`"a"`, 2, "GET other")
		c.sleepUntil(4 * s)
		require.False(t, d.has(1, "lock"))
		require.True(t, d.has(1, "other"))
	})
	d.play()
	require.Contains(t, d.notes, "redis-1 evicted lock")
	require.Contains(t, d.notes, "redis-2 applied evicted lock of nobody")
}
