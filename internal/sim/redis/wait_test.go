package redis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// took measures how long something takes in true time.
func (c *caller) took(do func()) time.Duration {
	began := c.d.Now()
	do()
	return c.d.Now().Sub(began)
}

func TestWaitAnswersWhenTheReplicasHaveTheWrite(t *testing.T) {
	d := deploy(t, 2, redis.Config{})
	d.client("a", func(c *caller) {
		c.expect("(integer) 2", 1, "WAIT 1 1000")
		c.expect("OK", 1, "SET lock a NX")
		require.Equal(t, 4*ms, c.took(func() { c.expect("(integer) 2", 1, "WAIT 2 1000") }), "a round trip for the acknowledgement")
		require.Equal(t, 2*ms, c.took(func() { c.expect("(integer) 2", 1, "WAIT 2 1000") }), "nothing was written since")
		require.True(t, d.has(2, "lock"))
	})
	d.play()
}

func TestWaitThatTimesOutUndoesNothing(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.fault(at(0), link(sim.Stall, "redis-1", "redis-2"), 0)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a NX PX 10000")
		require.Equal(t, 302*ms, c.took(func() { c.expect("(integer) 0", 1, "WAIT 1 300") }))
		c.expect(`"a"`, 1, "GET lock")
	})
	d.client("b", func(c *caller) {
		c.sleepUntil(1 * s)
		c.expect("(nil)", 1, "SET lock b NX PX 10000")
		require.Equal(t, 2*ms, c.took(func() { c.expect("(integer) 1", 1, "WAIT 1 300") }),
			"its connection has written nothing, and one replica is online")
	})
	d.play()
}

func TestWaitBlocksItsConnectionAndNoOther(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.fault(at(0), link(sim.Stall, "redis-1", "redis-2"), 500*ms)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a NX PX 10000")
		c.send(1, "WAIT", "1", "0")
		c.send(1, "INCR", "n")
		c.send(1, "WAIT", "1", "0")
		c.send(1, "INCR", "n")
		require.Equal(t, "silence", c.next(1, 400*ms))
		require.False(t, d.has(1, "n"))
		for _, want := range []string{"(integer) 1", "(integer) 1", "(integer) 1", "(integer) 2"} {
			require.Equal(t, want, c.next(1, s))
		}
	})
	d.client("b", func(c *caller) {
		c.sleepUntil(100 * ms)
		c.expect(`"a"`, 1, "GET lock")
	})
	d.play()
}

func TestWaitWithinATransactionDoesNotBlock(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.fault(at(0), link(sim.Stall, "redis-1", "redis-2"), 0)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET k 1")
		for _, line := range []string{"MULTI", "SET lock a", "WAIT 1 0"} {
			c.do(1, line)
		}
		require.Equal(t, 2*ms, c.took(func() { c.expect("[OK, (integer) 0]", 1, "EXEC") }))
		require.Contains(t, c.words(1, "EVAL", "return redis.call('wait', 1, 0)", "0"), "not allowed from script")
	})
	d.play()
}

func TestWaitIsRefusedByAReplicaAndEndedByADemotion(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.fault(at(0), link(sim.Stall, "redis-1", "redis-2"), 0)
	d.client("a", func(c *caller) {
		require.Contains(t, c.do(2, "WAIT 1 100"), "(error) ERR WAIT cannot be used with replica instances")
		c.expect("(error) ERR timeout is negative", 1, "WAIT 1 -1")
		c.expect("(error) ERR timeout is not an integer or out of range", 1, "WAIT 1 x")
		c.expect("(error) ERR value is not an integer or out of range", 1, "WAIT x 1")
		c.expect("OK", 1, "SET lock a")
		c.send(1, "WAIT", "1", "0")
		require.Equal(t, "(error) UNBLOCKED force unblock from blocking operation, "+
			"instance state changed (master -> replica?)", c.next(1, 10*s))
		require.Equal(t, "closed", c.next(1, 10*s))
	})
	d.client("b", func(c *caller) {
		c.sleepUntil(1 * s)
		c.expect("OK", 1, "REPLICAOF redis-2 6379")
		c.expect(`"a"`, 1, "GET lock")
		c.expect("(error) READONLY You can't write against a read only replica.", 1, "SET lock b")
	})
	d.play()
}

func TestWaitaofAnswersWhenTheDiskHasTheWrite(t *testing.T) {
	for _, c := range []struct {
		persistence redis.Persistence
		want        string
		least, most time.Duration
	}{
		{redis.Always, "[(integer) 1, (integer) 0]", 2 * ms, 2 * ms},
		{redis.Everysec, "[(integer) 1, (integer) 0]", 900 * ms, s + 3*ms},
		{redis.Lazy, "[(integer) 0, (integer) 0]", 5 * s, 5*s + 2*ms},
	} {
		for _, lies := range []bool{false, true} {
			d := deploy(t, 0, redis.Config{Persistence: c.persistence, DiskLies: lies})
			d.fault(at(7*s), crash("redis-1", true, 10*ms), 0)
			d.client("a", func(a *caller) {
				a.expect("OK", 1, "SET lock a")
				took := a.took(func() { a.expect(c.want, 1, "WAITAOF 1 0 5000") })
				require.True(t, c.least <= took && took <= c.most, "%v %v", c.persistence, took)
				a.sleepUntil(9 * s)
				require.Equal(t, c.persistence != redis.Lazy && !lies, d.has(1, "lock"), "after a power failure")
			})
			d.play()
		}
	}
}

func TestWaitaofCountsReplicasWhoseDisksHaveTheWrite(t *testing.T) {
	persistence := []redis.Persistence{redis.NoPersistence, redis.Everysec, redis.Always, redis.Lazy, redis.NoPersistence}
	d := deployLike(t, 1, 4, func(i int) redis.Config { return redis.Config{Persistence: persistence[i]} })
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a")
		c.expect("(integer) 4", 1, "WAIT 4 0")
		took := c.took(func() { c.expect("[(integer) 0, (integer) 2]", 1, "WAITAOF 0 2 0") })
		require.True(t, 100*ms < took && took <= 2*s+10*ms, "%v: a flush each second, told by the next acknowledgement", took)
		c.expect("[(integer) 0, (integer) 2]", 1, "WAITAOF 0 3 3000")
		c.expect("[(integer) 0, (integer) 2]", 1, "WAITAOF 0 2 0")
	})
	d.play()
}

func TestWaitaofRefusesWhatRedisRefuses(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.client("a", func(c *caller) {
		for line, want := range map[string]string{
			"WAITAOF 1 0 0":  "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
			"WAITAOF 2 0 0":  "ERR value is out of range, value must between 0 and 1",
			"WAITAOF 0 -1 0": "ERR value is out of range, must be positive",
			"WAITAOF x 0 0":  "ERR value is not an integer or out of range",
			"WAITAOF 0 0 -1": "ERR timeout is negative",
			"WAITAOF 0 0 x":  "ERR timeout is not an integer or out of range",
		} {
			c.expect("(error) "+want, 1, line)
		}
		require.Contains(t, c.do(2, "WAITAOF 0 0 0"), "ERR WAITAOF cannot be used with replica instances.")
		c.do(1, "SET k v")
		c.do(1, "MULTI")
		c.do(1, "WAITAOF 0 1 0")
		c.expect("[[(integer) 0, (integer) 0]]", 1, "EXEC")
	})
	d.play()
}

func TestConnectionThatEndsIsNotWaitedFor(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.fault(at(0), link(sim.Stall, "redis-1", "redis-2"), 500*ms)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a")
		c.send(1, "WAIT", "1", "0")
		c.send(1, "SET", "late", "a")
		c.Sleep(10 * ms)
		c.line(1).conn.Close()
		c.sleepUntil(2 * s)
		require.False(t, d.has(1, "late"), "it was behind the wait, and nobody waits")
	})
	d.play()
}

func TestMinReplicasAreCountedOnceASecond(t *testing.T) {
	const refused = "(error) NOREPLICAS Not enough good replicas to write."
	for seed := range uint64(20) {
		d := deployLike(t, seed, 1, func(int) redis.Config { return redis.Config{MinReplicas: 1, MinReplicasMaxLag: 3 * s} })
		d.fault(at(10500*ms), link(sim.Cut, "redis-1", "redis-2"), 20*s)
		d.client("a", func(c *caller) {
			c.expect("OK", 1, "SET k v")
			c.sleepUntil(10500 * ms)
			for c.do(1, "SET k v") == "OK" {
				c.Sleep(10 * ms)
			}
			accepted := time.Duration(d.Now()) - 10500*ms
			require.Greater(t, accepted, 2*s, "the last acknowledgement was up to a second old")
			require.Less(t, accepted, 3*s+2*s+50*ms)
			require.Contains(t, c.words(1, "EVAL", "return redis.call('set', 'k', 'w')", "0"), refused)
			c.expect(`"v"`, 1, "GET k")
			c.do(1, "MULTI")
			c.expect(refused, 1, "SET k w")
			c.expect("(error) EXECABORT Transaction discarded because of previous errors.", 1, "EXEC")
			c.sleepUntil(60 * s)
			c.expect("OK", 1, "SET k w")
		})
		d.play()
	}
}

func TestMasterWithoutItsMinReplicasAcceptsNothing(t *testing.T) {
	d := deploy(t, 0, redis.Config{MinReplicas: 1})
	d.client("a", func(c *caller) {
		c.expect("(error) NOREPLICAS Not enough good replicas to write.", 1, "SET lock a")
		c.expect("(integer) 0", 1, "WAIT 0 0")
	})
	d.play()
}
