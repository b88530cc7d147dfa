package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
)

// enter is a call of lock() that waits until it is granted, or not at all if wait is 0.
func enter(once string, wait time.Duration) lease.Request {
	return lease.Request{Op: lease.FencedLock, Key: "lock", Value: "main", Once: once, Wait: wait}
}

func unlock(once string) lease.Request {
	return lease.Request{Op: lease.FencedUnlock, Key: "lock", Value: "main", Once: once}
}

func session(ttl time.Duration) lease.Request {
	return lease.Request{Op: lease.CPCreateSession, TTL: ttl}
}

func TestFencedLockAnswersARepeatedCallAsTheFirstOne(t *testing.T) {
	w := newWorld(t, 1, lease.Hazelcast())
	w.client("a", func(c *client) {
		c.begin(session(60 * s))
		first, again := c.must(enter("1", -1)), c.must(enter("1", -1))
		require.Equal(t, first.Keys[0].LockIndex, again.Keys[0].LockIndex)
		require.False(t, c.must(unlock("2")).Succeeded, "it has left")
		require.False(t, c.must(unlock("2")).Succeeded, "a repeated call is no mistake")
		require.Equal(t, lease.NotOwner, c.call(unlock("3")).Err, "a new one is")
		require.True(t, c.must(enter("1", -1)).Succeeded, "calls are forgotten once the owner has left")
	})
	w.play()
}

func TestFencedLockIsEnteredSeveralTimesByOneThread(t *testing.T) {
	w := newWorld(t, 1, lease.Hazelcast())
	w.client("a", func(c *client) {
		c.begin(session(60 * s))
		outer := c.must(enter("1", 0)).Keys[0].LockIndex
		require.Equal(t, outer, c.must(enter("2", 0)).Keys[0].LockIndex)
		other := enter("3", 0)
		other.Value = "another thread"
		require.False(t, c.must(other).Succeeded)
		require.True(t, c.must(unlock("4")).Succeeded, "it is still inside")
		require.True(t, c.must(unlock("4")).Succeeded, "and has not left twice")
		require.False(t, c.must(unlock("5")).Succeeded)
		require.True(t, c.must(other).Err == "" && !c.must(other).Succeeded, "the answer was no, and stays so")
	})
	w.play()
}

// TestFencedLockGoesToTheNextInTheQueue has b wait on a connection that breaks, c give up, and d be dead when its turn comes.
func TestFencedLockGoesToTheNextInTheQueue(t *testing.T) {
	w := newWorld(t, 1, lease.Hazelcast())
	fences := map[string]int64{}
	w.client("a", func(c *client) {
		c.begin(session(60 * s))
		fences["a"] = c.must(enter("1", -1)).Keys[0].LockIndex
		c.until(5 * s)
		c.must(unlock("2"))
	})
	w.client("b", func(c *client) {
		c.until(s)
		c.begin(session(60 * s))
		c.send(enter("1", -1))
		c.until(2 * s)
		c.conn.Close()
		c.conn = nil
		fences["b"] = c.must(enter("1", -1)).Keys[0].LockIndex
		require.Equal(t, 5*s+2*ms, c.now())
		c.must(unlock("2"))
	})
	w.client("c", func(c *client) {
		c.until(1100 * ms)
		c.begin(session(60 * s))
		require.False(t, c.must(enter("1", 2*s)).Succeeded)
		require.Equal(t, 3106*ms, c.now(), "its place is gone after two seconds")
		require.False(t, c.must(enter("1", 2*s)).Succeeded)
		require.Equal(t, 3108*ms, c.now(), "and the call is answered as before")
	})
	w.client("d", func(c *client) {
		c.until(1200 * ms)
		c.begin(session(10 * s))
		c.send(enter("1", -1))
		c.until(2 * s)
		c.conn.Close()
	})
	w.client("e", func(c *client) {
		c.until(1300 * ms)
		c.begin(session(60 * s))
		fences["e"] = c.must(enter("1", -1)).Keys[0].LockIndex
		require.InDelta(t, float64(11204*ms+500*ms), float64(c.now()), float64(500*ms+2*ms), "d's session is over")
	})
	w.play()
	require.Less(t, fences["a"], fences["b"])
	require.Less(t, fences["b"], fences["e"])
}

func TestACallEndsTheWaitOfAnEarlierOneOfItsThread(t *testing.T) {
	w := newWorld(t, 1, lease.Hazelcast())
	w.client("a", func(c *client) {
		c.begin(session(60 * s))
		c.must(enter("1", -1))
		c.until(60 * s)
	})
	w.client("b", func(c *client) {
		c.until(s)
		c.begin(session(20 * s))
		first := c.send(enter("1", -1))
		require.False(t, c.must(enter("2", 0)).Succeeded)
		require.Equal(t, lease.Cancelled, c.await(first).Err)
		require.Equal(t, lease.NoSession, c.call(enter("3", -1)).Err, "a wait ends with its session")
		require.Less(t, c.now(), 23*s)
	})
	w.play()
}

func TestEveryRequestOfASessionIsAHeartbeat(t *testing.T) {
	w := newWorld(t, 1, lease.Hazelcast())
	w.client("a", func(c *client) {
		c.begin(session(10 * s))
		for _, r := range []lease.Request{{Op: lease.CPHeartbeat}, enter("1", 0), unlock("2")} {
			c.task.Sleep(9 * s)
			c.must(r)
		}
		c.task.Sleep(12 * s)
		require.Equal(t, lease.NoSession, c.call(lease.Request{Op: lease.CPHeartbeat}).Err)
	})
	w.play()
}

// TestSessionsOfHazelcastLiveByTheWallClock, and a new leader adds an interval of heartbeats to what is left.
func TestSessionsOfHazelcastLiveByTheWallClock(t *testing.T) {
	for _, v := range []struct {
		fault sim.Action
		ends  time.Duration
	}{
		{sim.Action{Kind: sim.SetClock, Step: 4 * s}, 6 * s},
		{sim.Action{Kind: sim.SetClock, Step: -4 * s}, 14 * s},
		{sim.Action{Kind: sim.Promote}, 15 * s},
		{sim.Action{Kind: sim.Crash, Host: true, Restart: s}, 19 * s}, // the log is carried out again
	} {
		w := newWorld(t, 1, lease.Hazelcast())
		w.at(3*s, v.fault)
		w.client("a", func(c *client) {
			c.begin(session(10 * s))
			c.until(40 * s)
		})
		w.play()
		require.Len(t, ended(w), 1)
		require.GreaterOrEqual(t, ended(w)[0], v.ends, "%v", v.fault)
		require.LessOrEqual(t, ended(w)[0], v.ends+s+5*ms, "%v", v.fault)
	}
}

// TestWaitsOfHazelcastOutliveTheirLeader: a wait with a time-out ends when there is a leader again, one without stays.
func TestWaitsOfHazelcastOutliveTheirLeader(t *testing.T) {
	w := newWorld(t, 1, lease.Hazelcast())
	w.at(3*s, sim.Action{Kind: sim.Promote})
	w.client("a", func(c *client) {
		c.begin(session(60 * s))
		c.must(enter("1", -1))
		c.until(10 * s)
		c.must(unlock("2"))
	})
	for _, v := range []struct {
		name       string
		wait, ends time.Duration
	}{{"b", 2500 * ms, 5*s + ms}, {"c", -1, 10*s + 2*ms}} {
		w.client(v.name, func(c *client) {
			c.until(s)
			c.begin(session(60 * s))
			require.Equal(t, v.wait < 0, c.must(enter("1", v.wait)).Succeeded)
			require.Equal(t, v.ends, c.now())
		})
	}
	w.play()
}
