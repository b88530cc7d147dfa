package zookeeper_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// user is a client with a handle.
type user struct {
	*zookeeper.Handle
	w    *world
	task *sim.Task
}

// user adds a client with a handle on servers that are tried in their order: 1, 2 and 3 if none is named.
func (w *world) user(name string, f zookeeper.Flavour, timeout time.Duration, main func(u *user), servers ...int) {
	if len(servers) == 0 {
		servers = []int{1, 2, 3}
	}
	w.client(name, func(k *keeper) {
		main(&user{w: w, task: k.task, Handle: zookeeper.NewHandle(k.task, w.zk, zookeeper.HandleConfig{
			Flavour: f, Timeout: timeout, Servers: servers, Rand: w.Rand("handle", name),
		})})
	})
}

func (u *user) must(r *zookeeper.Request, watch ...*zookeeper.Watch) *zookeeper.Response {
	var w *zookeeper.Watch
	if len(watch) > 0 {
		w = watch[0]
	}
	a, err := u.Do(u.task, r, w)
	require.NoError(u.w.t, err, "%v", r)
	require.Equal(u.w.t, zookeeper.OK, a.Err, "%v", r)
	return a
}

// fails is a request that must not be answered.
func (u *user) fails(r *zookeeper.Request) error {
	a, err := u.Do(u.task, r, nil)
	require.Error(u.w.t, err, "%v was answered: %v", r, a)
	return err
}

// when waits for a signal and returns the moment.
func (u *user) when(s *sim.Signal) time.Duration {
	require.Zero(u.w.t, u.task.Wait(3*time.Minute, s), "at %v", u.w.Now())
	return time.Duration(u.w.Now())
}

func (u *user) sleepUntil(at time.Duration) { u.w.sleepUntil(u.task, at) }

// each plays a world for every library.
func each(t *testing.T, play func(t *testing.T, w *world, f zookeeper.Flavour)) {
	for _, f := range zookeeper.Flavours() {
		t.Run(f.Name, func(t *testing.T) { play(t, newWorld(t, 1, zookeeper.Config{}), f) })
	}
}

// sent lists when a client sent messages of a kind, and to whom.
func (w *world) sent(node, what string) (found []string) {
	for _, e := range w.Trace.Events() {
		if e.Node == node && e.Does == trace.Send && e.What == what {
			found = append(found, fmt.Sprintf("%v %s", time.Duration(e.At).Round(10*ms), e.Peer))
		}
	}
	return found
}

func TestHandleKeepsItsSessionAlive(t *testing.T) {
	each(t, func(t *testing.T, w *world, f zookeeper.Flavour) {
		w.user("a", f, 9*s, func(u *user) {
			u.must(create("/e", "ephemeral"))
			session := u.Session()
			require.Equal(t, 9*s, session.Timeout)
			u.sleepUntil(60 * s)
			require.Equal(t, session.ID, u.must(ask(zookeeper.Exists, "/e")).Stat.EphemeralOwner)
			require.False(t, session.Lost.Fired())
			require.False(t, session.Suspended().Fired())
		})
		w.play()
		require.Len(t, w.sent("a", "ping"), 19, "one every third of the time-out")
	})
}

// TestGoZooKeeperPingsEvenIfItSendsRequests: Java's client pings only when it has nothing else to send.
func TestGoZooKeeperPingsEvenIfItSendsRequests(t *testing.T) {
	for name, pings := range map[string]int{"java": 0, "curator": 0, "go-zookeeper": 10} {
		w := newWorld(t, 1, zookeeper.Config{})
		w.user("a", flavour(name), 9*s, func(u *user) {
			for range 15 {
				u.must(ask(zookeeper.Exists, "/"))
				u.task.Sleep(2 * s)
			}
		})
		w.play()
		require.Len(t, w.sent("a", "ping"), pings, name)
	}
}

func flavour(name string) zookeeper.Flavour {
	f, ok := zookeeper.FindFlavour(name)
	if !ok {
		panic(name)
	}
	return f
}

// TestSessionMovesToTheNextServer: the library notices after two thirds of silence, or at once if the server dies.
func TestSessionMovesToTheNextServer(t *testing.T) {
	each(t, func(t *testing.T, w *world, f zookeeper.Flavour) {
		w.at(10*s, cut("a", "zk-1"))
		w.at(30*s, crash("zk-2", false, 0))
		w.user("a", f, 9*s, func(u *user) {
			u.must(create("/e", "ephemeral"))
			session := u.Session()
			first := session.Suspended()
			noticed := u.when(first)
			require.Greater(t, noticed, 10*s+6*s-3*s)
			require.LessOrEqual(t, noticed, 10*s+6*s)
			u.must(ask(zookeeper.Exists, "/e"))
			second := session.Suspended()
			require.NotSame(t, first, second, "another connection has a signal of its own")
			require.Less(t, u.when(second), 31*s)
			require.Equal(t, session.ID, u.must(ask(zookeeper.Exists, "/e")).Stat.EphemeralOwner)
			require.Same(t, session, u.Session())
			require.False(t, session.Lost.Fired())
		})
		w.play()
		connects := w.sent("a", "connect")
		require.Len(t, connects, 3)
		for i, server := range []string{"zk-1", "zk-2", "zk-3"} {
			require.Contains(t, connects[i], server)
		}
		require.Empty(t, w.expired)
	})
}

func TestRequestOnALostConnectionHasAnUnknownOutcome(t *testing.T) {
	each(t, func(t *testing.T, w *world, f zookeeper.Flavour) {
		w.Inject(sim.Fault{
			Trigger: sim.Trigger{When: sim.After, Step: sim.Pattern{Node: "zk-1", Does: trace.Receive, What: "create"}},
			Action:  cut("a", "zk-1"),
		})
		w.user("a", f, 9*s, func(u *user) {
			require.ErrorIs(t, u.fails(create("/p")), zookeeper.ErrConnectionLoss)
			require.Equal(t, zookeeper.OK, u.must(ask(zookeeper.Exists, "/p")).Err, "it was executed")
		})
		w.play()
	})
}

// TestRequestWithoutConnectionWaits: in Java for the next attempt, which fails here, in Go until all servers have been
// tried.
func TestRequestWithoutConnectionWaits(t *testing.T) {
	want := map[string]error{
		"java": zookeeper.ErrConnectionLoss, "curator": zookeeper.ErrConnectionLoss, "go-zookeeper": zookeeper.ErrNoServer,
	}
	each(t, func(t *testing.T, w *world, f zookeeper.Flavour) {
		w.at(10*s, cut("a", "zk-*"), 13*s)
		w.user("a", f, 9*s, func(u *user) {
			u.must(ask(zookeeper.Exists, "/"))
			u.when(u.Session().Suspended())
			require.ErrorIs(t, u.fails(ask(zookeeper.Exists, "/")), want[f.Name])
		})
		w.play()
	})
}

func TestServerThatIsBehindIsPassedOver(t *testing.T) {
	each(t, func(t *testing.T, w *world, f zookeeper.Flavour) {
		w.at(5*s, cut("zk-2", "zk-1", "zk-3"), 8*s)
		w.at(7*s, sim.Action{Kind: sim.Break, Link: sim.Link{From: []string{"a"}, To: []string{"zk-1"}}})
		w.user("a", f, 10*s, func(u *user) {
			u.sleepUntil(6 * s)
			u.must(create("/new"))
			u.when(u.Session().Suspended())
			a, err := u.Do(u.task, ask(zookeeper.Exists, "/new"), nil)
			for err != nil { // Java lets it fail with every server that turns the client away
				require.ErrorIs(t, err, zookeeper.ErrConnectionLoss)
				a, err = u.Do(u.task, ask(zookeeper.Exists, "/new"), nil)
			}
			require.Equal(t, zookeeper.OK, a.Err, "a session never goes back in time")
			require.Less(t, time.Duration(w.Now()), 10*s)
		})
		w.play()
		require.Contains(t, w.sent("a", "connect")[2], "zk-3")
	})
}

// TestLossIsLearntAsTheLibraryHasIt cuts a client off from all servers for half a minute. The session expires at the
// servers after 9 s to 11 s of silence; who notices when?
func TestLossIsLearntAsTheLibraryHasIt(t *testing.T) {
	const timeout, cutAt, healAt = 9 * s, 20 * s, 60 * s
	for name, c := range map[string]struct{ from, to time.Duration }{
		"java":         {cutAt + timeout, cutAt + timeout*4/3 + timeout/3 + 2*s}, // at the first look after 4/3
		"curator":      {cutAt + timeout, cutAt + timeout*5/3},                   // that, or its own clock
		"go-zookeeper": {healAt, healAt + 45*s},                                  // by the word of a server only
	} {
		for seed := range uint64(10) {
			w := newWorld(t, seed, zookeeper.Config{})
			w.at(cutAt, cut("a", "zk-*"), healAt-cutAt)
			w.user("a", flavour(name), timeout, func(u *user) {
				u.must(create("/e", "ephemeral"))
				first := u.Session()
				suspended := u.when(first.Suspended())
				require.LessOrEqual(t, suspended, cutAt+timeout*2/3)
				lost := u.when(&first.Lost)
				require.GreaterOrEqual(t, lost, c.from, name)
				require.LessOrEqual(t, lost, c.to, name)
				if name == "java" {
					require.Same(t, first, u.Session())
					require.ErrorIs(t, u.fails(create("/e", "ephemeral")), zookeeper.ErrSessionExpired)
					return
				}
				u.sleepUntil(healAt + 40*s)
				u.must(create("/e", "ephemeral"))
				require.NotEqual(t, first.ID, u.Session().ID)
			})
			w.play()
		}
	}
}

// TestCuratorJudgesTheLossByTheWallClock: a clock that is set back postpones LOST, one that is set forward does not
// bring it sooner, since the wait for it is on the other clock. Without the Java client's own opinion, which is new.
// TestClientThatStoodStillLearnsOfItsEndWhenItConnects: what it finds after the pause is that its server has closed the
// connection. Java's library only looks how long it has heard nobody when it has slept before the next attempt.
func TestClientThatStoodStillLearnsOfItsEndWhenItConnects(t *testing.T) {
	for _, f := range []zookeeper.Flavour{zookeeper.Java(), zookeeper.Curator()} {
		var sum time.Duration
		for seed := range uint64(20) {
			w := newWorld(t, seed, zookeeper.Config{})
			w.at(10*s, sim.Action{Kind: sim.Pause, Node: "a"}, 30*s)
			w.user("a", f, 6*s, func(u *user) {
				session := u.Session()
				u.must(create("/e", "ephemeral"))
				require.Equal(t, 40*s, u.when(session.Suspended()).Round(10*ms), f.Name)
				lost := u.when(&session.Lost) - 40*s
				require.Less(t, lost, s)
				sum += lost
			})
			w.play()
		}
		require.InDelta(t, (s / 2).Seconds(), (sum / 20).Seconds(), 0.2, f.Name)
	}
}

func TestCuratorJudgesTheLossByTheWallClock(t *testing.T) {
	f := zookeeper.Curator()
	f.GivesUp = false
	for step, late := range map[time.Duration]time.Duration{0: 0, -5 * s: 5 * s, 5 * s: 0} {
		w := newWorld(t, 1, zookeeper.Config{})
		w.at(20*s, cut("a", "zk-*"))
		w.at(28*s, sim.Action{Kind: sim.SetClock, Node: "a", Step: step})
		w.user("a", f, 9*s, func(u *user) {
			u.must(ask(zookeeper.Exists, "/"))
			session := u.Session()
			suspended := u.when(session.Suspended())
			require.Equal(t, suspended+9*s+late, u.when(&session.Lost))
		})
		w.play()
	}
}

func TestWatchFiresOnceAndOutlivesItsConnection(t *testing.T) {
	each(t, func(t *testing.T, w *world, f zookeeper.Flavour) {
		w.at(10*s, crash("zk-1", false, 0))
		w.user("a", f, 20*s, func(u *user) {
			var data, exists, children, missing zookeeper.Watch
			u.must(create("/p"))
			u.must(ask(zookeeper.GetData, "/p"), &data)
			u.must(ask(zookeeper.GetChildren, "/p"), &children)
			_, err := u.Do(u.task, ask(zookeeper.Exists, "/q"), &exists)
			require.NoError(t, err)
			a, err := u.Do(u.task, ask(zookeeper.GetData, "/q"), &missing)
			require.NoError(t, err)
			require.Equal(t, zookeeper.NoNode, a.Err)
			u.must(set("/p", "x", -1))
			require.True(t, data.Over.Fired())
			require.Equal(t, "dataChanged /p", data.Event.String())

			u.when(u.Session().Suspended())
			require.False(t, children.Over.Fired(), "the loss of a connection uses no watch up")
			u.when(&children.Over)
			require.Equal(t, "childrenChanged /p", children.Event.String())
			u.when(&exists.Over)
			require.Equal(t, "created /q", exists.Event.String())
			require.False(t, missing.Over.Fired(), "it was not set")
		})
		w.client("b", func(k *keeper) {
			k.open(3, 30*s)
			w.sleepUntil(k.task, 10*s+500*time.Microsecond)
			k.must(create("/p/c")) // while nobody is told
			k.pingUntil(20 * s)
			k.must(create("/q"))
		})
		w.play()
	})
}

func TestWatchEndsWithItsSession(t *testing.T) {
	each(t, func(t *testing.T, w *world, f zookeeper.Flavour) {
		w.user("a", f, 20*s, func(u *user) {
			var watch zookeeper.Watch
			u.must(create("/p"))
			u.must(ask(zookeeper.GetData, "/p"), &watch)
			u.sleepUntil(5 * s)
			session := u.Session()
			require.True(t, w.zk.EndSession(session.ID))
			u.task.Sleep(ms)
			require.False(t, w.zk.EndSession(session.ID), "it is over")
			ended := u.when(&watch.Over)
			require.Less(t, ended, 7*s)
			require.Nil(t, watch.Event)
			require.True(t, session.Lost.Fired())
		})
		w.play()
		require.Len(t, w.expired, 1)
	})
}

func TestCloseEndsTheSessionAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world, f zookeeper.Flavour) {
		w.user("a", f, 30*s, func(u *user) {
			u.must(create("/e", "ephemeral"))
			session := u.Session()
			u.Close(u.task)
			require.ErrorIs(t, u.fails(create("/p")), zookeeper.ErrHandleClosed)
			require.Equal(t, zookeeper.NoNode, code(w, 1, "/e"))
			u.sleepUntil(60 * s)
			require.False(t, session.Lost.Fired(), "nothing was lost")
		})
		w.user("b", f, 30*s, func(u *user) {
			w.at(10*s, cut("b", "zk-*"))
			u.must(create("/f", "ephemeral"))
			u.when(u.Session().Suspended())
			u.Close(u.task)
		})
		w.play()
		require.Len(t, w.sent("a", "connect"), 1, "it does not come back")
		require.Empty(t, w.sent("b", "closeSession"))
	})
}

// TestProcessThatJustEndsLeavesItsSessionToExpire, and one that is paused for long finds its session gone.
func TestProcessThatJustEndsLeavesItsSessionToExpire(t *testing.T) {
	each(t, func(t *testing.T, w *world, f zookeeper.Flavour) {
		w.at(10*s, sim.Action{Kind: sim.Pause, Node: "b"}, 20*s)
		w.user("a", f, 6*s, func(u *user) { u.must(create("/e", "ephemeral")) })
		w.user("b", f, 6*s, func(u *user) {
			u.must(create("/f", "ephemeral"))
			session := u.Session()
			require.Equal(t, 30*s, u.when(session.Suspended()).Truncate(s), "before anything else")
			u.when(&session.Lost)
		})
		w.play()
		require.Len(t, w.expired, 2)
	})
}

func TestHandlesWithoutAListSpreadOverTheServers(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	for i := range 12 {
		w.client(fmt.Sprintf("c%d", i), func(k *keeper) {
			h := zookeeper.NewHandle(k.task, w.zk, zookeeper.HandleConfig{
				Flavour: zookeeper.Java(), Timeout: 10 * s, Rand: w.Rand("handle", k.task.Node().Name),
			})
			_, err := h.Do(k.task, ask(zookeeper.Exists, "/"), nil)
			require.NoError(t, err)
		})
	}
	w.play()
	used := make(map[string]bool)
	for i := range 12 {
		used[w.sent(fmt.Sprintf("c%d", i), "connect")[0]] = true
	}
	require.Len(t, used, 3)
}
