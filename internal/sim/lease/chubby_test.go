package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
)

func take(op lease.Op) lease.Request { return lease.Request{Op: op, Key: "lock"} }

// keepAlive keeps the client's session until a moment, as the library does: one KeepAlive is always with the master.
func (c *client) keepAlive(end time.Duration) {
	for c.now() < end {
		if a := c.call(lease.Request{Op: lease.KeepAlive}); a != nil {
			require.Empty(c.w.t, a.Err)
		}
	}
}

func TestKeepAliveIsHeldUntilTheLeaseIsCloseToItsEnd(t *testing.T) {
	w := newWorld(t, 1, lease.Chubby())
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.CreateSession})
		began := c.now()
		a := c.must(lease.Request{Op: lease.KeepAlive})
		require.Equal(t, 12*s, a.TTL)
		require.Equal(t, 10*s-2*ms, a.Held)
		require.Equal(t, 10*s, c.now()-began)
		c.keepAlive(60 * s)
	})
	w.play()
	require.Empty(t, ended(w))
}

func TestKeepAliveOnANewConnectionIsAnsweredAtOnce(t *testing.T) {
	w := newWorld(t, 1, lease.Chubby())
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.CreateSession})
		c.conn = nil
		a := c.must(lease.Request{Op: lease.KeepAlive})
		require.Zero(t, a.Held)
		require.Less(t, c.now(), 10*ms)
	})
	w.play()
}

func TestLocksAreGrantedInTheOrderOfAskingAndNumbered(t *testing.T) {
	w := newWorld(t, 1, lease.Chubby())
	var order []string
	for i, name := range []string{"a", "b", "c"} {
		w.client(name, func(c *client) {
			c.until(time.Duration(i) * 100 * ms)
			c.begin(lease.Request{Op: lease.CreateSession})
			require.Equal(t, name == "a", c.must(take(lease.TryAcquire)).Succeeded)
			k := c.must(take(lease.Acquire)).Keys[0]
			require.Equal(t, int64(i+1), k.LockIndex)
			order = append(order, name)
			valid := lease.Request{Op: lease.CheckSequencer, Key: "lock", Index: k.LockIndex}
			require.True(t, c.must(valid).Succeeded)
			require.False(t, c.must(lease.Request{Op: lease.CheckSequencer, Key: "lock", Index: k.LockIndex - 1}).Succeeded)
			c.task.Sleep(s)
			require.True(t, c.must(take(lease.Release)).Succeeded)
			require.False(t, c.must(valid).Succeeded)
		})
	}
	w.play()
	require.Equal(t, []string{"a", "b", "c"}, order)
}

func TestReleaseWithdrawsWhatIsStillAskedFor(t *testing.T) {
	w := newWorld(t, 1, lease.Chubby())
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.CreateSession})
		c.must(take(lease.Acquire))
		c.until(3 * s)
		c.must(take(lease.Release))
	})
	w.client("b", func(c *client) {
		c.until(s)
		c.begin(lease.Request{Op: lease.CreateSession})
		asked := c.send(take(lease.Acquire))
		c.until(2 * s)
		require.False(t, c.must(take(lease.Release)).Succeeded)
		c.until(5 * s)
		require.Empty(t, c.answers, "%v", asked)
	})
	w.play()
	require.Equal(t, []string{
		"5ms acquired lock@1 lock 1 of session-1", "3.001s released lock@1 lock 1 of session-1",
	}, w.saw)
}

func TestLockDelayKeepsOthersWaiting(t *testing.T) {
	w := newWorld(t, 1, lease.Chubby())
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.CreateSession, LockDelay: 20 * s})
		c.must(take(lease.Acquire))
	})
	w.client("b", func(c *client) {
		c.until(s)
		c.begin(lease.Request{Op: lease.CreateSession})
		asked := c.send(take(lease.Acquire))
		c.keepAlive(40 * s)
		require.NotNil(t, c.await(asked))
	})
	w.play()
	require.Equal(t, []string{
		"5ms acquired lock@1 lock 1 of session-1",
		"12.003s expired session-1", "12.003s released lock@1 lock 1 of session-1",
		"32.003s acquired lock@1 lock 2 of session-2",
	}, w.saw)
}

func TestNewMasterEndsConnectionsAndRefusesTheOldEpoch(t *testing.T) {
	w := newWorld(t, 1, lease.Chubby())
	w.at(5*s, sim.Action{Kind: sim.Promote})
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.CreateSession})
		c.must(take(lease.Acquire))
		require.Nil(t, c.call(lease.Request{Op: lease.KeepAlive}))
		require.Equal(t, 5*s+ms, c.now(), "the connection ends with the master")
		require.Equal(t, lease.StaleEpoch, c.call(take(lease.TryAcquire)).Err)
		require.Equal(t, 10*s+ms, c.now(), "the new master has been awaited")
		require.Equal(t, 2, c.epoch)
		c.keepAlive(15 * s)
		require.True(t, c.must(take(lease.TryAcquire)).Succeeded, "it is still the holder")
	})
	w.play()
	require.Equal(t, []string{"5ms acquired lock@1 lock 1 of session-1"}, w.saw)
}

func TestIdleConnectionEndsWithTheNextRequest(t *testing.T) {
	w := newWorld(t, 1, lease.Chubby())
	w.at(5*s, sim.Action{Kind: sim.Promote})
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.CreateSession})
		c.until(11 * s)
		require.Nil(t, c.call(lease.Request{Op: lease.KeepAlive}))
		require.Equal(t, 12*s, c.must(lease.Request{Op: lease.KeepAlive}).TTL)
	})
	w.play()
}
