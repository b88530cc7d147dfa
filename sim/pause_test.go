package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestNoCodeRunsDuringAPause(t *testing.T) {
	w := newWorld(t)
	w.faults(at(3*s+s/2, pause("a"), 10*s))
	w.AddClient("a", func(task *sim.Task) {
		for range 6 {
			task.Sleep(s)
			w.note("tick")
		}
	})
	w.expect("1s tick", "2s tick", "3s tick", "13.5s tick", "14.5s tick", "15.5s tick")
}

func TestClocksRunDuringAPause(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, pause("a"), 10*s))
	w.AddClient("a", func(task *sim.Task) {
		task.Sleep(2 * s)
		require.Equal(t, int64(11*s), task.Node().Monotonic())
		require.Equal(t, sim.Epoch+int64(11*s), task.Node().Wall())
	})
	w.play()
}

func TestObserverRingsDuringAPause(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, pause("srv"), 10*s))
	keeper(w.Engine)
	w.srv.NewObserver(bell{w, "observer"}).Arm(false, int64(2*s))
	w.srv.NewTimer(bell{w, "timer"}).Arm(false, int64(2*s))
	w.expect("2s observer", "11s timer")
}

func TestReplyWaitsInTheBufferAndIsSeenBeforeTheTimeOut(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after a send SET", pause("a"), 10*s))
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("SET k", s)) })
	w.expect("10.002s SET ok")
	require.Equal(t, []string{"2ms a SET"}, w.steps(trace.Send))
	require.Equal(t, []string{"3ms srv SET"}, w.steps(trace.Execute), "the server did not wait")
	require.Equal(t, []string{"3ms srv SET", "10.002s a SET"}, w.steps(trace.Receive))
}

func TestTimeOutDuringAPauseIsSeenAtItsEnd(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, pause("a"), 10*s))
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("mute", 5*s)) })
	w.expect("11s timeout")
}

func TestBufferIsReadInOrderOverSeveralPauses(t *testing.T) {
	w := newWorld(t)
	w.faults(
		at(2*ms+1, pause("a"), 10*s),
		on("before a receive m1", pause("a"), 10*s),
		on("after a receive m2", pause("a"), 10*s),
		nth(1, on("before a receive m3", delay(5*s))),
	)
	w.client("a", func(_ *sim.Task, l *line) {
		l.send("m1", "m2", "m3", "m4")
		for range 4 {
			w.note("%s", l.next(sim.Forever))
		}
	})
	// The task is ready when m1 has been handed over at 20.002 s, but the next pause comes before it runs.
	w.expect("30.002000001s m1 ok", "30.002000001s m2 ok", "35.002000001s m3 ok", "35.002000001s m4 ok")
	require.Len(t, w.steps(trace.Receive), 8, "nothing is received twice")
}

// clocked is a client's end of a connection that notes when it is handed something.
type clocked struct{ w *world }

func (c clocked) Deliver(p sim.Payload) { c.w.note("%v", p) }
func (c clocked) Closed()               { c.w.note("closed") }

func TestPauseBeforeAndAfterAReceptionHoldsBackTheMessage(t *testing.T) {
	for trigger, received := range map[string]string{"before a receive m1": "10.004s a m1", "after a receive m1": "4ms a m1"} {
		w := newWorld(t)
		w.faults(on(trigger, pause("a"), 10*s))
		w.AddClient("a", func(task *sim.Task) {
			conn, err := task.Dial(w.srv, clocked{w}, 0)
			require.NoError(t, err)
			require.NoError(t, conn.Send(task, word("m1")))
			task.Sleep(s)
		})
		w.expect("10.004s m1 ok")
		require.Equal(t, received, w.steps(trace.Receive)[1], trigger)
	}
}

func TestEndOfAConnectionIsLearntAfterThePause(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, pause("a"), 10*s), at(20*ms, crash("srv")))
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.next(sim.Forever)) })
	w.expect("10.01s closed")
}

func TestPausesNest(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, pause("a"), 10*s), at(2*s, pause("a"), 3*s), at(9*s, pause("a"), 8*s))
	w.AddClient("a", func(task *sim.Task) {
		task.Sleep(2 * s)
		w.note("awake")
	})
	w.expect("17s awake")
}

func TestPauseBeforeAStepPostponesIt(t *testing.T) {
	w := newWorld(t)
	w.faults(on("before a access", pause("a"), 10*s))
	w.AddClient("a", func(task *sim.Task) {
		task.Step(trace.Step{Does: trace.Access, What: "write"}, 0, func() { w.note("took") }, nil)
		w.note("went on")
	})
	w.expect("10s took", "10s went on")
	require.Equal(t, []string{"10s a write"}, w.steps(trace.Access))
}

func TestPauseAfterAStepLetsItHappen(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after a access", pause("a"), 10*s))
	w.AddClient("a", func(task *sim.Task) {
		task.Step(trace.Step{Does: trace.Access, What: "write"}, 0, func() { w.note("took") }, nil)
		w.note("went on")
	})
	w.expect("0s took", "10s went on")
}

func TestPauseBeforeASendPostponesTheMessage(t *testing.T) {
	w := newWorld(t)
	w.faults(on("before a send SET", pause("a"), 10*s))
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("SET k", s)) })
	w.expect("10.004s SET ok")
	require.Equal(t, []string{"10.002s a SET"}, w.steps(trace.Send))
}

func TestPauseHoldsAllTasksOfAProcess(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after a start", pause("a"), 10*s))
	w.AddClient("a", func(task *sim.Task) {
		other := task.Go(func(task *sim.Task) {
			task.Sleep(s)
			w.note("%v woke", task)
		})
		task.Go(func(task *sim.Task) { step(task, trace.Start) })
		task.Wait(sim.Forever, other)
		w.note("%v woke", task)
	})
	w.expect("10s a/1 woke", "10s a woke")
}

func TestPausedServerExecutesWhatWaitsInOrderWithinEachConnection(t *testing.T) {
	orders := make(map[string]bool)
	for seed := range uint64(60) {
		w := newWorldWith(t, sim.Config{Seed: seed}, nil)
		w.faults(at(2*ms, pause("srv"), 10*s))
		for _, name := range []string{"a", "b", "c"} {
			w.client(name, func(_ *sim.Task, l *line) { l.send("mute1", "mute2") })
		}
		w.play()
		order := strings.Join(w.echo.executed, " ")
		orders[order] = true
		require.Len(t, w.echo.executed, 6)
		for _, name := range []string{"a", "b", "c"} {
			first, second := slices.Index(w.echo.executed, name+":mute1"), slices.Index(w.echo.executed, name+":mute2")
			require.Equal(t, first+1, second, "one turn takes all that has arrived on a connection")
		}
		for _, line := range w.steps(trace.Execute) {
			require.True(t, strings.HasPrefix(line, "10.002s"), line)
		}
	}
	require.Len(t, orders, 6, "every order of three connections")
}

func TestPauseBeforeAReplyPostponesItAndWhatFollows(t *testing.T) {
	w := newWorld(t)
	w.faults(on("before srv reply m1", pause("srv"), 10*s))
	w.client("a", func(_ *sim.Task, l *line) {
		l.send("m1", "m2")
		w.note("%s", l.next(sim.Forever))
		w.note("%s", l.next(sim.Forever))
	})
	w.expect("10.004s m1 ok", "10.004s m2 ok")
	require.Equal(t, []string{"3ms srv m1", "10.003s srv m2"}, w.steps(trace.Execute))
}

func TestPauseBeforeAnExecutionPostponesIt(t *testing.T) {
	w := newWorld(t)
	w.faults(on("before srv execute m1", pause("srv"), 10*s))
	w.client("a", func(_ *sim.Task, l *line) { l.send("m1") })
	w.play()
	require.Equal(t, []string{"3ms srv m1"}, w.steps(trace.Receive)[:1])
	require.Equal(t, []string{"10.003s srv m1"}, w.steps(trace.Execute))
}

func TestServersTimersComeAfterWhatWaitsInItsSockets(t *testing.T) {
	w := newWorld(t)
	w.faults(at(5*ms, pause("srv"), 10*s))
	w.timer("timer", false, s)
	w.client("a", func(task *sim.Task, l *line) {
		task.Sleep(5 * s)
		l.send("SET k")
	})
	w.expect("10.005s timer")
	require.Equal(t, []string{"10.005s srv SET"}, w.steps(trace.Execute))
	require.Equal(t, []string{"a:SET k"}, w.echo.executed)
}

func TestTimersDueDuringAPauseRingInTheOrderOfTheirDeadlines(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.faults(at(0, pause("srv"), 10*s))
	w.timer("third", false, 9*s)
	w.timer("first", false, 2*s)
	w.timer("second", true, 3*s)
	w.timer("later", false, 11*s)
	w.expect("10s first", "10s second", "10s third", "11s later")
}

func TestTimerSetBackDuringAPauseIsNoLongerDue(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.faults(at(0, pause("srv"), 10*s), at(5*s, clock("srv", -20*s, 0)))
	w.timer("wall", true, 3*s)
	w.expect("23s wall")
}

func TestTimerThatIsDueTwiceDuringAPauseRingsOnce(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.faults(at(0, pause("srv"), 10*s), at(5*s, clock("srv", -4*s, 0)), at(8*s, clock("srv", s, 0)))
	w.timer("wall", true, 3*s)
	w.expect("10s wall")
}

func TestPauseByTheFirstTimerHoldsTheOthers(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.faults(at(0, pause("srv"), 10*s), on("after srv expire", pause("srv"), 5*s))
	first := w.srv.NewTimer(ringer(func() {
		w.note("first")
		w.srv.Step(trace.Expire, "key", 0, nil)
	}))
	first.Arm(false, int64(s))
	w.timer("second", false, 2*s)
	w.expect("10s first", "15s second")
}

func TestCrashDuringAPauseEndsIt(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, pause("a"), 10*s), at(2*s, crash("a", s)))
	w.AddClient("a", func(task *sim.Task) {
		w.note("started")
		task.Sleep(20 * s)
		w.note("woke")
	})
	w.expect("0s started", "3s started", "23s woke")
	require.Equal(t, trace.Instant(11*s), w.Faults()[0].End, "when the fault would have healed")
}

func TestPauseOfTheDeadFindsNothingToActOn(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, crash("srv", 10*s)), at(s, pause("srv"), 20*s))
	w.AddClient("a", func(task *sim.Task) {
		task.Sleep(11 * s)
		w.note("%s", w.dial(task).call("SET k", s))
	})
	w.expect("11.004s SET ok")
	require.False(t, w.Faults()[1].Fired)
}

func TestPausedTaskDoesNotDial(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, pause("a"), 10*s))
	w.client("a", func(*sim.Task, *line) { w.note("connected") })
	w.expect("10.002s connected")
}

func TestEndOfAPauseStandsBeforeWhatItReleases(t *testing.T) {
	w := newWorld(t)
	w.faults(at(2*ms, pause("srv"), 10*s), on("after * end fault-1", pause("srv"), 5*s))
	w.client("a", func(_ *sim.Task, l *line) { l.send("mute") })
	w.play()
	require.Equal(t, `2ms srv begin fault-1 (pause: srv)
2ms a send mute srv (mute)
3ms srv receive mute a
10.002s srv end fault-1 (pause: srv)
10.002s srv begin fault-2 (pause: srv)
15.002s srv end fault-2 (pause: srv)
15.002s srv execute mute a (mute)
`, w.transcript())
}
