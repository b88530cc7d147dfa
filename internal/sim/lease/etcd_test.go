package lease_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
)

// enqueue is what concurrency.Mutex does first: make the own key unless it is there, and look who is first.
func (c *client) enqueue() (own, first lease.Key) {
	key := fmt.Sprintf("lock/%x", uint64(c.session))
	get := lease.Request{Op: lease.Range, Key: key}
	owner := lease.Request{Op: lease.Range, Key: "lock/", Prefix: true, Order: lease.FirstCreated}
	a := c.must(lease.Request{
		Op: lease.Txn, If: []lease.Compare{{Key: key}},
		Then: []lease.Request{{Op: lease.Put, Key: key, Session: c.session}, owner}, Else: []lease.Request{get, owner},
	})
	own = lease.Key{Name: key, Create: a.Revision}
	if !a.Succeeded {
		own = a.Results[0].Keys[0]
	}
	return own, a.Results[1].Keys[0]
}

func TestLeasesLastWholeSecondsAndAtLeastTwo(t *testing.T) {
	w := newWorld(t, 1, lease.Etcd())
	w.client("a", func(c *client) {
		for asked, given := range map[time.Duration]time.Duration{ms: 2 * s, 2 * s: 2 * s, 2500 * ms: 3 * s, 7 * s: 7 * s} {
			require.Equal(t, given, c.must(lease.Request{Op: lease.LeaseGrant, TTL: asked}).TTL)
		}
	})
	w.play()
}

func TestKeyIsMadeOnceAndQueuedByItsRevision(t *testing.T) {
	w := newWorld(t, 1, lease.Etcd())
	for i, name := range []string{"a", "b"} {
		w.client(name, func(c *client) {
			c.until(time.Duration(i) * s)
			c.begin(lease.Request{Op: lease.LeaseGrant, TTL: 60 * s})
			own, first := c.enqueue()
			require.Equal(t, int64(i+2), own.Create, "an empty store is at revision 1")
			require.Equal(t, int64(2), first.Create)
			again, _ := c.enqueue()
			require.Equal(t, own.Create, again.Create, "the key is still the first")
			upTo := c.must(lease.Request{
				Op: lease.Range, Key: "lock/", Prefix: true, Order: lease.LastCreated, MaxCreate: 2,
			})
			require.Equal(t, first, upTo.Keys[0], "a waiter waits for the youngest key before its own")
		})
	}
	w.play()
}

func TestWatchTellsOfADeletionThatComesOrHasCome(t *testing.T) {
	w := newWorld(t, 1, lease.Etcd())
	w.client("a", func(c *client) {
		c.must(lease.Request{Op: lease.Put, Key: "k"})
		c.until(5 * s)
		c.must(lease.Request{Op: lease.Put, Key: "k"})
		c.until(6 * s)
		require.True(t, c.must(lease.Request{Op: lease.DeleteRange, Key: "k"}).Succeeded)
		require.False(t, c.must(lease.Request{Op: lease.DeleteRange, Key: "k"}).Succeeded)
	})
	w.client("b", func(c *client) {
		c.until(s)
		seen := c.must(lease.Request{Op: lease.Range, Key: "k"})
		require.True(t, c.must(lease.Request{Op: lease.Watch, Key: "k", Revision: seen.Revision}).Woken)
		require.Equal(t, 6*s+2*ms, c.now(), "the write at 5 s is no deletion")
		c.until(10 * s)
		require.False(t, c.must(lease.Request{Op: lease.Watch, Key: "k", Revision: seen.Revision}).Woken)
		require.Equal(t, 10*s+2*ms, c.now(), "what was missed is told at once")
	})
	w.play()
}

func TestExpiredLeaseTakesItsKeysAtOneRevision(t *testing.T) {
	w := newWorld(t, 3, lease.Etcd())
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.LeaseGrant, TTL: 5 * s})
		c.must(lease.Request{Op: lease.Put, Key: "k1", Session: c.session})
		c.must(lease.Request{Op: lease.Put, Key: "k2", Session: c.session})
		kept := c.must(lease.Request{Op: lease.Put, Key: "k3"})
		c.until(20 * s)
		a := c.must(lease.Request{Op: lease.Range, Key: "k", Prefix: true})
		require.Equal(t, []string{"k3"}, []string{a.Keys[0].Name})
		require.Len(t, a.Keys, 1)
		require.Equal(t, kept.Revision+1, a.Revision)
	})
	w.play()
}

func TestNothingIsPutUnderALeaseThatIsOver(t *testing.T) {
	w := newWorld(t, 1, lease.Etcd())
	w.client("a", func(c *client) {
		put := lease.Request{Op: lease.Put, Key: "k", Session: 77}
		require.Equal(t, lease.NoSession, c.call(put).Err)
		require.Equal(t, lease.NoSession, c.call(lease.Request{
			Op: lease.Txn, Then: []lease.Request{{Op: lease.Put, Key: "other"}, put},
		}).Err)
		require.Equal(t, int64(1), c.must(lease.Request{Op: lease.Range, Key: "other"}).Revision, "that of an empty store")
	})
	w.play()
	require.Empty(t, w.saw)
}

func TestTxnComparesRevisions(t *testing.T) {
	w := newWorld(t, 1, lease.Etcd())
	w.client("a", func(c *client) {
		made := c.must(lease.Request{Op: lease.Put, Key: "lock"}).Revision
		guarded := func(revision int64) bool {
			return c.must(lease.Request{
				Op: lease.Txn, If: []lease.Compare{{Key: "lock", Create: revision}},
				Then: []lease.Request{{Op: lease.Put, Key: "data", Value: "x"}},
			}).Succeeded
		}
		require.True(t, guarded(made))
		c.must(lease.Request{Op: lease.DeleteRange, Key: "lock"})
		require.False(t, guarded(made), "the owner is gone")
		c.must(lease.Request{Op: lease.Put, Key: "lock"})
		require.False(t, guarded(made), "the owner is another")
	})
	w.play()
}

// TestStuckLeaderRevokesWhatItsSuccessorHasRenewed is etcd issue 15247; without a stuck leader nothing happens.
func TestStuckLeaderRevokesWhatItsSuccessorHasRenewed(t *testing.T) {
	for _, stuck := range []time.Duration{0, 20 * s} {
		w := newWorld(t, 1, lease.Etcd(), stuck)
		w.at(5*s, sim.Action{Kind: sim.Promote})
		w.client("a", func(c *client) {
			c.begin(lease.Request{Op: lease.LeaseGrant, TTL: 10 * s})
			for c.now() < 24*s {
				c.must(lease.Request{Op: lease.LeaseKeepAlive})
				c.task.Sleep(3 * s)
			}
			c.until(26 * s)
			require.Equal(t, stuck > 0, c.call(lease.Request{Op: lease.LeaseKeepAlive}).Err == lease.NoSession)
		})
		w.play()
		if stuck > 0 {
			require.Equal(t, []string{"25s mistaken session-1"}, w.saw)
		} else {
			require.Empty(t, w.saw)
		}
	}
}
