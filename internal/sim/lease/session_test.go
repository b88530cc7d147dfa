package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// service is what a test of all three has to know of each.
type service struct {
	name                string
	dialect             lease.Dialect
	open, renew, end    lease.Op
	ttl, shortest, last time.Duration // asked for; how long a silent session lives
}

func services() []service {
	return []service{
		{"etcd", lease.Etcd(), lease.LeaseGrant, lease.LeaseKeepAlive, lease.LeaseRevoke, 10 * s, 10 * s, 10*s + 500*ms},
		{"consul", lease.Consul(), lease.SessionCreate, lease.SessionRenew, lease.SessionDestroy, 10 * s, 20 * s, 20 * s},
		{"chubby", lease.Chubby(), lease.CreateSession, lease.KeepAlive, lease.EndSession, 0, 12 * s, 12 * s},
	}
}

// ended returns when the observer saw sessions end without their clients' asking.
func ended(w *world) []time.Duration {
	var at []time.Duration
	for _, e := range w.Trace.Events() {
		if e.Does == trace.Expire {
			at = append(at, time.Duration(e.At))
		}
	}
	return at
}

func TestSilentSessionLivesAsLongAsItsServiceSays(t *testing.T) {
	for _, v := range services() {
		for seed := range uint64(20) {
			w := newWorld(t, seed, v.dialect)
			var opened time.Duration
			w.client("a", func(c *client) {
				c.begin(lease.Request{Op: v.open, TTL: v.ttl})
				opened = c.now() - ms
				c.until(60 * s)
				require.Equal(t, lease.NoSession, c.call(lease.Request{Op: v.renew}).Err)
			})
			w.play()
			require.Len(t, ended(w), 1, v.name)
			life := ended(w)[0] - opened
			require.GreaterOrEqual(t, life, v.shortest, v.name)
			require.LessOrEqual(t, life, v.last, v.name)
		}
	}
}

func TestRenewedSessionLives(t *testing.T) {
	for _, v := range services() {
		w := newWorld(t, 1, v.dialect)
		w.client("a", func(c *client) {
			c.begin(lease.Request{Op: v.open, TTL: v.ttl})
			for c.now() < 100*s {
				require.Equal(t, c.session, c.must(lease.Request{Op: v.renew}).Session)
				c.task.Sleep(v.ttl / 3)
			}
			require.True(t, c.must(lease.Request{Op: v.end}).Succeeded)
			require.Equal(t, lease.NoSession, c.call(lease.Request{Op: v.end}).Err)
		})
		w.play()
		require.Empty(t, ended(w), v.name)
	}
}

// TestNewLeaderGivesEverySessionItsWholeLife holds after a change of leader and after a crash of all servers: how much
// of a life was over nobody has written down.
func TestNewLeaderGivesEverySessionItsWholeLife(t *testing.T) {
	for _, v := range services() {
		for _, fault := range []sim.Action{{Kind: sim.Promote}, {Kind: sim.Crash, Host: true, Restart: s}} {
			w := newWorld(t, 2, v.dialect)
			fault.Node = "" // the service
			w.at(9*s, fault)
			var opened time.Duration
			w.client("a", func(c *client) {
				c.begin(lease.Request{Op: v.open, TTL: v.ttl})
				opened = c.now() - ms
				c.until(2 * time.Minute)
			})
			w.play()
			led := 9*s + v.dialect.Election
			if fault.Kind == sim.Crash {
				led += s
			}
			require.Len(t, ended(w), 1, v.name)
			life := ended(w)[0] - (led + v.dialect.Extend)
			require.GreaterOrEqual(t, life, v.shortest, "%s %v", v.name, fault)
			require.LessOrEqual(t, life, v.last, "%s %v", v.name, fault)
			require.Positive(t, opened)
		}
	}
}

func TestRequestsWaitForALeader(t *testing.T) {
	for _, v := range services() {
		w := newWorld(t, 1, v.dialect)
		w.at(s, sim.Action{Kind: sim.Promote})
		w.client("a", func(c *client) {
			c.until(1500 * ms)
			c.begin(lease.Request{Op: v.open, TTL: v.ttl})
			require.Equal(t, s+v.dialect.Election+ms, c.now(), v.name)
		})
		w.play()
	}
}

func TestDisksThatKeepNothingLoseSessionsAndKeys(t *testing.T) {
	w := newWorld(t, 1, lease.Etcd())
	w.at(3*s, sim.Action{Kind: sim.Crash, Keep: "nothing", Restart: s})
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.LeaseGrant, TTL: 30 * s})
		c.must(lease.Request{Op: lease.Put, Key: "k", Session: c.session})
		c.until(10 * s)
		require.Empty(t, c.must(lease.Request{Op: lease.Range, Key: "k"}).Keys)
		require.Equal(t, lease.NoSession, c.call(lease.Request{Op: lease.LeaseKeepAlive}).Err)
		require.Greater(t, c.must(lease.Request{Op: lease.LeaseGrant}).Session, c.session, "no name is used twice")
	})
	w.play()
	require.Equal(t, []string{"5ms created k@2 of session-1", "3s wiped", "3s deleted k@2 of session-1"}, w.saw)
}

func TestPausedLeaderReadsWhatHasComeBeforeItLooksAtItsTimers(t *testing.T) {
	w := newWorld(t, 1, lease.Etcd())
	w.at(4*s, sim.Action{Kind: sim.Pause}, 20*s)
	w.client("a", func(c *client) {
		c.begin(lease.Request{Op: lease.LeaseGrant, TTL: 10 * s})
		c.until(8 * s)
		require.Equal(t, lease.NoSession, c.call(lease.Request{Op: lease.LeaseKeepAlive}).Err,
			"a lease that is over is not renewed, though nobody has noticed its end")
		require.GreaterOrEqual(t, c.now(), 24*s)
	})
	w.play()
	require.Len(t, ended(w), 1)
}

func TestOperatorEndsTheSessionsOfAClient(t *testing.T) {
	w := newWorld(t, 1, lease.Consul())
	w.at(5*s, sim.Action{Kind: sim.EndSession, Node: "a"})
	for _, name := range []string{"a", "b"} {
		w.client(name, func(c *client) {
			c.begin(lease.Request{Op: lease.SessionCreate})
			c.must(lease.Request{Op: lease.KVAcquire, Key: "key-" + name})
			c.until(6 * s)
			require.Equal(t, name == "a", c.call(lease.Request{Op: lease.SessionRenew}).Err == lease.NoSession)
		})
	}
	w.play()
	require.Contains(t, w.saw, "5s killed session-1")
	require.Contains(t, w.saw, "5s released key-a@1 lock 1 of session-1")
	require.NotContains(t, w.saw, "5s killed session-2")
}

// TestFaultsComeBetweenADeadlineAndItsEnd hangs faults on the end of a session and on the answers that it brings: what
// they stop does not happen, what they postpone happens later.
func TestFaultsComeBetweenADeadlineAndItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		fault sim.Fault
		saw   []string
	}{
		"a pause postpones the end": {
			sim.Fault{
				Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Does: trace.Expire}},
				Action:  sim.Action{Kind: sim.Pause, Node: "etcd-1"}, For: 5 * s,
			},
			[]string{"15.04", "15.04", "15.04"},
		},
		"a crash cancels it, and the session lives on": {
			sim.Fault{
				Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Does: trace.Expire}},
				Action:  sim.Action{Kind: sim.Crash, Node: "etcd-1", Restart: s},
			},
			[]string{"23.", "23.", "23."},
		},
		"a pause between two answers": {
			sim.Fault{
				Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Does: trace.Reply, What: "Watch"}},
				Action:  sim.Action{Kind: sim.Pause, Node: "etcd-1"}, For: 5 * s,
			},
			[]string{"10.04", "15.04", "15.04"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 5, lease.Etcd())
			w.Inject(c.fault)
			w.client("a", func(c *client) {
				c.begin(lease.Request{Op: lease.LeaseGrant, TTL: 10 * s})
				c.must(lease.Request{Op: lease.Put, Key: "k", Session: c.session})
				c.until(60 * s)
			})
			told := make([]string, 2)
			for i, name := range []string{"b", "d"} {
				w.client(name, func(c *client) {
					c.until(s)
					for told[i] == "" {
						if c.call(lease.Request{Op: lease.Watch, Key: "k", Revision: 1}) != nil {
							told[i] = c.now().String()
						}
						c.task.Sleep(2 * s)
					}
				})
			}
			w.play()
			got := append([]string{ended(w)[0].String()}, told...)
			require.Len(t, ended(w), 1)
			for i := range got {
				require.Contains(t, got[i], c.saw[i], "%v", got)
			}
		})
	}
}
