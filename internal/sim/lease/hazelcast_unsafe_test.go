package lease_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
)

// newPair is a partition, as the clients of its owner see it, and as those of its backup do.
func newPair(t testing.TB) (owner, backup *world) {
	owner = newWorld(t, 1, lease.HazelcastUnsafe())
	other := *owner
	backup = &other
	backup.server = lease.New(owner.Engine, lease.Config{Dialect: lease.HazelcastUnsafe(), Name: "other", Observer: backup})
	lease.Pair(owner.server, backup.server)
	return owner, backup
}

var apart = sim.Link{From: []string{"hazelcast-unsafe-1"}, To: []string{"other"}}

// join adds a client of one member to the engine of both.
func (w *world) join(whole *world, name string, main func(c *client)) {
	whole.open = append(whole.open, name)
	whole.AddClient(name, func(t *sim.Task) {
		main(&client{w: w, task: t})
		whole.open = slices.DeleteFunc(whole.open, func(other string) bool { return other == name })
	})
}

func TestAnOwnerWaitsForItsBackupForFiveSeconds(t *testing.T) {
	for _, cut := range []bool{false, true} {
		owner, _ := newPair(t)
		if cut {
			owner.at(500*ms, sim.Action{Kind: sim.Cut, Link: apart})
		}
		owner.client("a", func(c *client) {
			c.until(s)
			c.begin(session(60 * s))
			if cut {
				require.Equal(t, 6*s+4*ms, c.now())
			} else {
				require.Equal(t, s+6*ms, c.now(), "two more for the way to the backup")
			}
		})
		owner.play()
	}
}

// TestABackupGoesOnWithWhatItHasBeenSent has b and c wait for a: b's time is over when a leaves, so that c is next. Then the owner dies.
func TestABackupGoesOnWithWhatItHasBeenSent(t *testing.T) {
	owner, backup := newPair(t)
	owner.at(6*s, sim.Action{Kind: sim.Crash})
	owner.client("a", func(c *client) {
		c.begin(session(60 * s))
		c.must(enter("1", -1))
		c.until(4 * s)
		c.must(unlock("2"))
	})
	owner.client("b", func(c *client) {
		c.until(s)
		c.begin(session(60 * s))
		require.False(t, c.must(enter("1", 2*s)).Succeeded)
	})
	var held lease.SessionID
	var fence int64
	owner.client("c", func(c *client) {
		c.until(2 * s)
		held = c.begin(session(60 * s)).Session
		fence = c.must(enter("1", -1)).Keys[0].LockIndex
	})
	backup.join(owner, "of the backup", func(c *client) {
		require.Equal(t, lease.WrongTarget, c.call(session(60*s)).Err)
		c.until(7 * s)
		c.session = held
		require.Equal(t, fence, c.must(enter("1", -1)).Keys[0].LockIndex, "a repeated call is answered as it was")
		require.Less(t, c.now(), 7*s+10*ms)
		require.False(t, c.must(unlock("2")).Succeeded)
		require.Greater(t, c.must(enter("3", -1)).Keys[0].LockIndex, fence)
	})
	owner.play()
}

// TestAMemberThatComesBackIsGivenTheState, and takes over in its turn; if nobody has it, it begins with nothing.
func TestAMemberThatComesBackIsGivenTheState(t *testing.T) {
	for _, v := range []struct {
		restart time.Duration
		err     string
	}{{s, ""}, {3 * s, lease.NoSession}} {
		owner, _ := newPair(t)
		owner.at(2*s, sim.Action{Kind: sim.Crash, Restart: v.restart})
		owner.at(4*s, sim.Action{Kind: sim.Crash, Node: "other"})
		owner.client("a", func(c *client) {
			c.begin(session(60 * s))
			c.must(enter("1", -1))
			c.until(12 * s)
			require.Equal(t, v.err, c.call(enter("2", -1)).Err)
			if v.err == "" {
				require.True(t, c.must(unlock("3")).Succeeded, "it has entered twice")
			}
		})
		owner.play()
	}
}

func TestEachSideOfASplitTakesTheOtherForGoneAfterAMinute(t *testing.T) {
	owner, backup := newPair(t)
	owner.at(2*s, sim.Action{Kind: sim.Cut, Link: apart})
	for _, side := range []*world{owner, backup} {
		side.join(owner, side.server.Node().Name+"'s", func(c *client) {
			c.until(59 * s)
			if side == backup {
				require.Equal(t, lease.WrongTarget, c.call(session(60*s)).Err)
			}
			c.until(70 * s)
			c.begin(session(60 * s))
			require.Equal(t, int64(2), c.must(enter("1", -1)).Keys[0].LockIndex)
			require.Less(t, c.now(), 71*s, "nobody waits for the other any more")
		})
	}
	owner.play()
}
