package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestStalledLinkDeliversAtOnceWhenItFlowsAgain(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, stall("a", "srv"), 5*s))
	w.client("a", func(task *sim.Task, l *line) {
		task.Sleep(20 * ms)
		l.send("m1", "m2")
		w.note("%s", l.next(sim.Forever))
		w.note("%s", l.next(sim.Forever))
	})
	w.expect("5.012s m1 ok", "5.012s m2 ok")
}

func TestStallHoldsWhatIsAlreadyOnItsWay(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after a send m1", stall("a", "srv"), 5*s))
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("m1", sim.Forever)) })
	w.expect("5.004s m1 ok")
}

// TestCutDeliversLate follows the back-off of TCP (RFC 6298): after the cut has healed, what was sent
// arrives within as long again as it has lasted, and not all at the same moment in every run.
func TestCutDeliversLate(t *testing.T) {
	arrivals := make(map[time.Duration]bool)
	for seed := range uint64(50) {
		w := newWorldWith(t, sim.Config{Seed: seed}, nil)
		w.faults(at(10*ms, cut("a", "srv"), 5*s))
		w.client("a", func(task *sim.Task, l *line) {
			task.Sleep(s)
			require.Equal(t, "m1 ok", l.call("m1", sim.Forever))
			late := time.Duration(w.Now()) - 5*s - 10*ms
			require.Greater(t, late, time.Duration(0))
			require.LessOrEqual(t, late, 5*s+2*ms)
			arrivals[late/s] = true
		})
		w.play()
	}
	require.Len(t, arrivals, 5, "in every second of the five")
}

func TestRetransmissionIsNeverFurtherThanTwoMinutesAway(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorldWith(t, sim.Config{Seed: seed}, nil)
		w.faults(at(10*ms, cut("a", "srv"), 40*time.Minute))
		w.client("a", func(task *sim.Task, l *line) {
			task.Sleep(s)
			l.call("m1", sim.Forever)
			require.LessOrEqual(t, w.Now(), trace.Instant(42*time.Minute+20*ms))
		})
		w.play()
	}
}

func TestCutHoldsBothDirections(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after srv execute m1", cut("srv", "a"), 5*s))
	w.client("a", func(_ *sim.Task, l *line) {
		require.Equal(t, "m1 ok", l.call("m1", sim.Forever))
		require.Greater(t, w.Now(), trace.Instant(5*s))
	})
	w.play()
	require.Equal(t, []string{"3ms srv m1"}, w.steps(trace.Execute))
}

func TestOneWayCutLetsTheOtherDirectionPass(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, cutOne("srv", "a"), 5*s))
	w.client("a", func(task *sim.Task, l *line) {
		task.Sleep(s)
		w.note("%s", l.call("m1", 2*s))
		require.Equal(t, "m1 ok", l.next(sim.Forever))
		require.Greater(t, w.Now(), trace.Instant(5*s))
	})
	w.expect("3.002s timeout")
	require.Equal(t, []string{"1.003s srv m1"}, w.steps(trace.Execute))
}

func TestConnectionOpenedDuringACutIsHeldUpToo(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, cut("a", "srv"), 5*s))
	w.AddClient("a", func(task *sim.Task) {
		task.Sleep(s)
		_, err := w.dialTo(task, w.srv, s)
		w.note("%v", err)
		l := w.dial(task)
		require.Greater(t, w.Now(), trace.Instant(5*s))
		require.Equal(t, "m1 ok", l.call("m1", sim.Forever))
	})
	w.expect("2s dial timed out")
}

func TestCutReachesOnlyTheNodesItNames(t *testing.T) {
	w := newWorld(t)
	other := w.AddServer("srv-2", &echo{})
	w.faults(at(10*ms, cut("a", "srv")))
	for _, name := range []string{"a", "b"} {
		w.client(name, func(task *sim.Task, l *line) {
			task.Sleep(20 * ms)
			w.note("%s srv %s", name, l.call("m1", s))
			l2, err := w.dialTo(task, other, s)
			require.NoError(t, err)
			w.note("%s srv-2 %s", name, l2.call("m1", s))
		})
	}
	w.expect("24ms b srv m1 ok", "28ms b srv-2 m1 ok", "1.022s a srv timeout", "1.026s a srv-2 m1 ok")
}

func TestOverlappingCutsLastUntilTheLastHasHealed(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, cut("a", "srv"), 5*s), at(20*ms, cut("*", "srv"), 20*s), at(30*ms, stall("a", "*"), 3*s))
	w.client("a", func(task *sim.Task, l *line) {
		task.Sleep(s)
		require.Equal(t, "m1 ok", l.call("m1", sim.Forever))
		require.Greater(t, w.Now(), trace.Instant(20*s))
	})
	w.play()
}

func TestRunWaitsForWhatADeadClientSentIntoACutThatHeals(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, cut("a", "srv"), time.Minute))
	w.client("a", func(task *sim.Task, l *line) {
		task.Sleep(s)
		l.send("m1")
	})
	require.True(t, w.play().Quiescent)
	require.Equal(t, []string{"a:m1"}, w.echo.executed)
	require.Greater(t, w.Now(), trace.Instant(time.Minute))
}

func TestRunDoesNotWaitForACutThatNeverHeals(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, cut("a", "srv")), at(10*ms, cut("a", "srv"), s))
	w.timer("endless", false, time.Minute)
	w.client("a", func(task *sim.Task, l *line) {
		task.Sleep(s / 2)
		l.send("m1")
	})
	w.expect()
	require.Equal(t, trace.Instant(s+10*ms), w.Now())
}

func TestRunDoesNotWaitForACutThatHoldsNothingUp(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, cut("a", "srv"), time.Minute))
	w.client("a", func(task *sim.Task, _ *line) { task.Sleep(s) })
	w.expect()
	require.Equal(t, trace.Instant(s+2*ms), w.Now())
}

func TestBreakDuringACutIsLearntWhenItHeals(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, cut("a", "srv"), 5*s), at(s, breakLink("a", "srv", true, sim.LoseNothing)))
	w.client("a", func(_ *sim.Task, l *line) {
		require.Equal(t, "closed", l.next(sim.Forever))
		require.Greater(t, w.Now(), trace.Instant(5*s))
	})
	w.play()
}

func TestLatencyOfALinkIsItsOwn(t *testing.T) {
	w := newWorld(t)
	far := w.AddServer("far", &echo{})
	w.AddClient("a", func(task *sim.Task) {
		l, err := w.dialTo(task, far, 0)
		require.NoError(t, err)
		w.note("connected")
		w.note("%s", l.call("m1", sim.Forever))
		w.note("%s", w.dial(task).call("m1", sim.Forever))
	})
	w.SetLatency(sim.Link{From: []string{"*"}, To: []string{"far"}}, sim.Constant(s))
	w.SetLatency(sim.Link{From: []string{"far"}, To: []string{"b"}}, sim.Constant(time.Hour)) // there is no b
	w.SetLatency(sim.Link{From: []string{"far"}, To: []string{"a"}, OneWay: true}, sim.Constant(2*s))
	w.expect("3s connected", "6s m1 ok", "6.004s m1 ok")
}
