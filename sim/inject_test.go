package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestFaultAtZeroActsBeforeAnyProcessStarts(t *testing.T) {
	w := newWorld(t)
	w.AddClient("a", func(task *sim.Task) {
		step(task, trace.Start)
		w.note("started")
	})
	w.faults(at(0, clock("a", time.Hour, 0)), at(0, pause("a"), s))
	w.expect("1s started")
	require.Equal(t, "0s a begin fault-1 (clock: a, step: 1h0m0s)\n0s a begin fault-2 (pause: a)\n1s a end fault-2 (pause: a)\n1s a start\n",
		w.transcript())
}

func TestFaultFiresOnce(t *testing.T) {
	w := newWorld(t)
	w.faults(on("before a send *", delay(s)))
	w.client("a", func(_ *sim.Task, l *line) {
		w.note("%s", l.call("m1", sim.Forever))
		w.note("%s", l.call("m2", sim.Forever))
	})
	w.expect("1.004s m1 ok", "1.006s m2 ok")
}

func TestFaultWaitsForTheNthMatch(t *testing.T) {
	w := newWorld(t)
	w.faults(nth(3, on("after a send m*", pause("a"), s)))
	w.client("a", func(_ *sim.Task, l *line) {
		l.send("m1", "x", "m2", "y", "m3", "z")
		w.note("sent")
	})
	w.expect("1.002s sent")
	require.Equal(t, "2ms a m3", w.steps(trace.Send)[4])
	require.Equal(t, "1.002s a z", w.steps(trace.Send)[5])
}

func TestFaultComesLaterThanItsStep(t *testing.T) {
	w := newWorld(t)
	w.faults(plus(5*s, on("after a start", pause("a"), 10*s)))
	w.AddClient("a", func(task *sim.Task) {
		task.Sleep(s)
		step(task, trace.Start)
		task.Sleep(4 * s)
		w.note("runs")
		task.Sleep(4 * s)
		w.note("resumed")
	})
	w.expect("5s runs", "16s resumed")
	require.Equal(t, trace.Instant(6*s), w.Faults()[0].Begin)
	require.Equal(t, trace.Instant(16*s), w.Faults()[0].End)
}

func TestFaultThatWasTriggeredButNeverCameIsNotReportedAsFired(t *testing.T) {
	w := newWorld(t)
	w.faults(plus(time.Minute, on("after a start", pause("a"))))
	w.AddClient("a", func(task *sim.Task) { step(task, trace.Start) })
	w.play()
	require.Equal(t, sim.FaultReport{Fault: w.Faults()[0].Fault, Begin: trace.Never, End: trace.Never}, w.Faults()[0])
}

func TestPatternsAreGlobsOverNodeWhatAndPeer(t *testing.T) {
	for trigger, fires := range map[string]bool{
		"after client-1 send SET srv":       true,
		"after client-* send SET srv":       true,
		"after client-? send S?T s*":        true,
		"after client-[12] send * *":        true,
		"after * send acquire srv":          true, // the second name
		"after * send acq* *":               true,
		"after client-2 send SET srv":       false,
		"after client-1 receive acquire sr": false,
		"after client-1 send DEL srv":       false,
		"after client-1 send release":       false,
		"after srv send SET":                false,
		"before srv execute SET client-1":   true,
		"before srv reply SET client-1":     true,
		"before srv reply SET client-2":     false,
	} {
		w := newWorld(t)
		w.faults(on(trigger, clock("srv", s, 0)))
		w.client("client-1", func(_ *sim.Task, l *line) { l.call("SET/acquire k", sim.Forever) })
		w.play()
		require.Equal(t, fires, w.Faults()[0].Fired, trigger)
	}
}

func TestRoleIsResolvedAtTheMomentOfTheFault(t *testing.T) {
	w := newWorld(t)
	holder := ""
	w.Role = func(role string) string {
		require.Equal(t, "holder", role)
		return holder
	}
	w.faults(
		on("after holder access", clock("srv", s, 0)),
		at(5*s, pause("holder"), s), // b
		at(9*s, pause("holder"), s), // nobody
		at(9*s, cut("holder", "srv"), s),
	)
	for i, name := range []string{"a", "b"} {
		w.AddClient(name, func(task *sim.Task) {
			step(task, trace.Access)
			task.Sleep(time.Duration(1+3*i) * s)
			holder = name
			step(task, trace.Access)
			task.Sleep(2 * s)
			w.note("%s", name)
			holder = ""
			task.Sleep(10 * s)
		})
	}
	w.expect("3s a", "6s b")
	require.Equal(t, []string{"1s srv fault-1", "5s b fault-2"}, w.steps(trace.Begin))
	require.False(t, w.Faults()[2].Fired)
	require.False(t, w.Faults()[3].Fired)
}

func TestRoleThatNobodyPlaysIsNotThePeerOfAStepWithoutOne(t *testing.T) {
	w := newWorld(t)
	w.Role = func(string) string { return "" }
	w.faults(on("after a start * holder", clock("srv", s, 0)))
	w.AddClient("a", func(task *sim.Task) { step(task, trace.Start) })
	w.play()
	require.False(t, w.Faults()[0].Fired)
}

func TestFaultsHangOnOtherFaults(t *testing.T) {
	w := newWorld(t)
	w.hangs = []string{"a"}
	w.faults(
		named("gc", at(s, pause("a"), 5*s)),
		on("after a begin gc", clock("a", 100*s, 0)),
		on("before a begin gc", clock("srv", 1*s, 0)),
		on("after * end g*", crash("a")),
		named("late", on("before a end gc", clock("a", s, 0))),
		plus(s, on("after a end gc", crash("srv"))),
	)
	keeper(w.Engine)
	w.AddClient("a", func(task *sim.Task) {
		task.Sleep(2 * s)
		w.note("woke")
	})
	w.play()
	require.Equal(t, []string{"1s srv fault-3", "1s a gc", "1s a fault-2", "6s a late", "6s a fault-4", "7s srv fault-6"}, w.steps(trace.Begin))
	require.Empty(t, w.notes, "dead before it woke")
}

func TestDelayBeforeAStepOfAMessage(t *testing.T) {
	for trigger, executed := range map[string]string{
		"before a send m1":      "1.003s srv m1",
		"after a send m1":       "1.003s srv m1",
		"before srv receive m1": "1.003s srv m1",
		"after srv receive m1":  "1.003s srv m1",
		"before srv execute m1": "1.003s srv m1",
		"before srv reply m1":   "3ms srv m1",
		"after srv reply m1":    "3ms srv m1",
		"before a receive m1":   "3ms srv m1",
		"after a receive m1":    "3ms srv m1",
	} {
		w := newWorld(t)
		w.faults(on(trigger, delay(s)))
		w.client("a", func(_ *sim.Task, l *line) {
			l.send("m1", "m2")
			w.note("%s", l.next(sim.Forever))
			w.note("%s", l.next(sim.Forever))
		})
		w.expect("1.004s m1 ok", "1.004s m2 ok") // what follows is held up too
		require.Equal(t, executed, w.steps(trace.Execute)[0], trigger)
		require.True(t, w.Faults()[0].Fired, trigger)
		require.Len(t, w.steps(trace.Execute), 2, trigger)
	}
}

func TestNothingIsLeftToDelayOfWhatHasBeenExecuted(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after srv execute m1", delay(s)))
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("m1", sim.Forever)) })
	w.expect("4ms m1 ok")
	require.False(t, w.Faults()[0].Fired)
}

func TestDelayedMessageOfADeadClientIsStillExecuted(t *testing.T) {
	for _, trigger := range []string{"after a send m1", "before srv receive m1", "before srv execute m1"} {
		w := newWorld(t)
		w.hangs = []string{"a"}
		w.faults(on(trigger, delay(time.Minute)), on("after a send m1", crash("a")))
		w.client("a", func(_ *sim.Task, l *line) { l.send("m1") })
		w.play()
		require.Equal(t, []string{"1m0.003s srv m1"}, w.steps(trace.Execute), trigger)
	}
}

func TestErrorAnswersInPlaceOfTheExecution(t *testing.T) {
	for _, trigger := range []string{
		"before a send m1", "after a send m1", "before srv receive m1", "after srv receive m1", "before srv execute m1",
	} {
		w := newWorld(t)
		w.faults(on(trigger, errorReply("LOADING soon")))
		w.client("a", func(_ *sim.Task, l *line) {
			w.note("%s", l.call("m1", sim.Forever))
			w.note("%s", l.call("m2", sim.Forever))
		})
		w.expect("4ms LOADING soon", "6ms m2 ok")
		require.Equal(t, []string{"a:m2"}, w.echo.executed, trigger)
		require.Equal(t, []string{"3ms srv m1", "5ms srv m2"}, w.steps(trace.Execute), trigger)
	}
}

func TestErrorCannotReplaceWhatHasBeenDone(t *testing.T) {
	for _, trigger := range []string{"after srv execute m1", "before srv reply m1", "after srv reply m1", "before a receive m1"} {
		w := newWorld(t)
		w.faults(on(trigger, errorReply("LOADING soon")))
		w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("m1", sim.Forever)) })
		w.expect("4ms m1 ok")
		require.False(t, w.Faults()[0].Fired, trigger)
	}
}

func TestErrorNeedsAWayToMakeOne(t *testing.T) {
	require.Panics(t, func() { newWorld(t).Inject(on("before srv execute SET", errorReply("ERR"))) })
}

func TestFaultsThatNeverFiredAreReported(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, pause("a"), s), named("never", on("after a release", crash("a"))), at(time.Minute, crash("a")))
	w.AddClient("a", func(task *sim.Task) { task.Sleep(3 * s) })
	w.play()
	var fired []string
	for _, r := range w.Faults() {
		if r.Fired {
			fired = append(fired, r.Fault.Name)
		}
	}
	require.Equal(t, []string{"fault-1"}, fired)
	require.Equal(t, "never", w.Faults()[1].Fault.Name)
}

func TestBreakOfALinkWithoutConnectionsFindsNothingToActOn(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, breakLink("a", "srv", true, sim.LoseNothing)))
	w.client("a", func(task *sim.Task, l *line) {
		l.conn.Close()
		task.Sleep(2 * s)
	})
	w.play()
	require.False(t, w.Faults()[0].Fired)
}

func TestSameRandomIsLeftToTheBuilderOfTheProcesses(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, sim.Action{Kind: sim.SameRandom, Nodes: []string{"a", "b"}}))
	w.AddClient("a", func(*sim.Task) {})
	w.play()
	require.True(t, w.Faults()[0].Fired)
}
