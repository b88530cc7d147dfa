package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
)

func kvAcquire() lease.Request { return lease.Request{Op: lease.KVAcquire, Key: "lock"} }

// firstGrant returns when b gets the lock that a holds from the beginning, if b asks every second, at its half: in
// whole seconds.
func firstGrant(t *testing.T, a func(c *client), faults ...func(w *world)) time.Duration {
	w := newWorld(t, 1, lease.Consul())
	for _, f := range faults {
		f(w)
	}
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.SessionCreate, TTL: 10 * s})
		require.True(t, c.must(kvAcquire()).Succeeded)
		a(c)
	})
	var got time.Duration
	w.client("b", func(c *client) {
		c.until(1500 * ms)
		for got == 0 && c.now() < 5*time.Minute {
			c.session, c.conn = 0, nil
			c.begin(lease.Request{Op: lease.SessionCreate, TTL: time.Hour})
			if c.must(kvAcquire()).Succeeded {
				got = c.now()
			}
			c.until(c.now().Truncate(s) + 1500*ms)
		}
	})
	w.play()
	return got.Truncate(s)
}

func TestLockDelayFollowsEveryEndOfASessionAndNoRelease(t *testing.T) {
	silent := func(*client) {}
	require.Equal(t, 35*s, firstGrant(t, silent), "20 s until it expires, 15 s of delay")
	require.Equal(t, 20*s, firstGrant(t, func(c *client) {
		c.until(5 * s)
		c.must(lease.Request{Op: lease.SessionDestroy})
	}))
	require.Equal(t, 17*s, firstGrant(t, silent, func(w *world) {
		w.at(2*s, sim.Action{Kind: sim.EndSession, Node: "a"})
	}))
	require.Equal(t, 5*s, firstGrant(t, func(c *client) {
		c.until(5 * s)
		require.True(t, c.must(lease.Request{Op: lease.KVRelease, Key: "lock"}).Succeeded)
		require.False(t, c.must(lease.Request{Op: lease.KVRelease, Key: "lock"}).Succeeded)
		mine := c.session
		c.session = 0
		require.False(t, c.must(lease.Request{Op: lease.KVRelease, Key: "lock"}).Succeeded, "nobody's is not to be released")
		c.session = mine
		c.must(lease.Request{Op: lease.SessionDestroy})
	}))
}

// TestLockDelayIsForgottenWithASnapshotOnly: every server has the delay in memory, and applies it again from
// its log.
func TestLockDelayIsForgottenWithASnapshotOnly(t *testing.T) {
	destroys := func(c *client) {
		c.until(5 * s)
		c.must(lease.Request{Op: lease.SessionDestroy})
	}
	promote := func(w *world) { w.at(8*s, sim.Action{Kind: sim.Promote}) }
	snapshot := func(at time.Duration) func(w *world) {
		return func(w *world) { w.at(at, sim.Action{Kind: sim.Snapshot}) }
	}
	crash := func(w *world) { w.at(9700*ms, sim.Action{Kind: sim.Crash, Host: true, Restart: 100 * ms}) }
	require.Equal(t, 20*s, firstGrant(t, destroys, promote), "a new leader knows it")
	require.Equal(t, 25*s, firstGrant(t, destroys, crash), "the delay starts again with the server")
	require.Equal(t, 25*s, firstGrant(t, destroys, snapshot(4*s), crash), "the snapshot came before the end")
	require.Equal(t, 10*s, firstGrant(t, destroys, snapshot(7*s), crash), "the log has nothing left of it")
}

func TestClientChoosesItsLockDelayUpToAMinute(t *testing.T) {
	for asked, given := range map[time.Duration]time.Duration{0: 15 * s, -1: 0, 30 * s: 30 * s, time.Hour: time.Minute} {
		w := newWorld(t, 1, lease.Consul())
		w.client("a", func(c *client) {
			c.begin(lease.Request{Op: lease.SessionCreate, LockDelay: asked})
			require.True(t, c.must(kvAcquire()).Succeeded)
			c.must(lease.Request{Op: lease.SessionDestroy})
			ended := c.now() - ms
			c.begin(lease.Request{Op: lease.SessionCreate, TTL: time.Hour})
			for !c.must(kvAcquire()).Succeeded {
				c.task.Sleep(ms)
			}
			require.InDelta(t, float64(given), float64(c.now()-ended), float64(10*ms))
		})
		w.play()
	}
}

func TestLockIndexCountsHoldersUntilTheKeyIsDeleted(t *testing.T) {
	w := newWorld(t, 1, lease.Consul())
	w.client("a", func(c *client) {
		hold := func(deletes bool) (index, revision int64) {
			c.begin(lease.Request{Op: lease.SessionCreate, LockDelay: -1, Delete: deletes})
			k := c.must(kvAcquire()).Keys[0]
			require.Equal(t, k.LockIndex, c.must(kvAcquire()).Keys[0].LockIndex, "the holder is the same")
			c.must(lease.Request{Op: lease.SessionDestroy})
			return k.LockIndex, k.Mod
		}
		one, first := hold(false)
		two, second := hold(true)
		again, third := hold(false)
		require.Equal(t, []int64{1, 2, 1}, []int64{one, two, again}, "behavior delete takes the count with the key")
		require.Less(t, first, second)
		require.Less(t, second, third, "the index of the write goes on")
	})
	w.play()
}

func TestSessionsBelowTenSecondsAreRefused(t *testing.T) {
	w := newWorld(t, 1, lease.Consul())
	w.client("a", func(c *client) {
		require.Equal(t, lease.BadTTL, c.call(lease.Request{Op: lease.SessionCreate, TTL: 9 * s}).Err)
		require.Equal(t, lease.NoSession, c.call(kvAcquire()).Err)
	})
	w.play()
}

func TestBlockingQueryReturnsWithAChangeOrWhenItsTimeIsOver(t *testing.T) {
	w := newWorld(t, 1, lease.Consul())
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.SessionCreate, TTL: time.Hour})
		c.must(kvAcquire())
		c.until(20 * s)
		c.must(lease.Request{Op: lease.KVRelease, Key: "lock"})
	})
	w.client("b", func(c *client) {
		c.until(s)
		seen := c.must(lease.Request{Op: lease.KVGet, Key: "lock"})
		require.NotZero(t, seen.Keys[0].Session)
		same := c.must(lease.Request{Op: lease.KVGet, Key: "lock", Index: seen.Revision, Wait: 8 * s})
		require.Equal(t, seen.Revision, same.Revision)
		require.GreaterOrEqual(t, c.now(), 9*s)
		require.LessOrEqual(t, c.now(), 10*s, "a sixteenth more at most")
		free := c.must(lease.Request{Op: lease.KVGet, Key: "lock", Index: seen.Revision})
		require.Zero(t, free.Keys[0].Session)
		require.Equal(t, 20*s+2*ms, c.now())
		c.must(lease.Request{Op: lease.KVGet, Key: "lock", Index: seen.Revision})
		require.Equal(t, 20*s+4*ms, c.now(), "an old index does not wait")
	})
	w.play()
}
