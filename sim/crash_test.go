package sim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestCrashedClientsDeferredReleaseSendsNothing(t *testing.T) {
	w := newWorld(t)
	w.hangs = []string{"a"}
	w.faults(on("after a acquired", crash("a")))
	deferred := false
	w.client("a", func(task *sim.Task, l *line) {
		l.call("SET k", sim.Forever)
		defer func() {
			deferred = true
			l.send("DEL k")
		}()
		step(task, trace.Acquired)
		task.Sleep(s)
		step(task, trace.Release)
	})
	w.play()
	require.True(t, deferred, "Go runs the deferred function")
	require.Equal(t, []string{"a:SET k"}, w.echo.executed)
	require.Equal(t, []string{"2ms a SET"}, w.steps(trace.Send))
	require.Empty(t, w.steps(trace.Release))
}

func TestNothingThatADeadProcessDoesHasAnEffect(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, crash("a")))
	refused := 0
	w.client("a", func(task *sim.Task, l *line) {
		for _, call := range []func(){
			func() { l.conn.Close() }, // without effect, and silent: the kernel has closed it
			func() { _ = l.conn.Send(task, word("DEL k")) },
			func() { _, _ = w.dialTo(task, w.srv, 0) },
			func() { task.Go(func(*sim.Task) { w.note("a new task") }) },
			func() { task.Step(trace.Step{Does: trace.Release}, 0, func() { w.note("took") }, nil) },
			func() { task.Sleep(0) },
			func() { task.Wait(0, &sim.Signal{}) },
		} {
			defer func() {
				if recover() != nil {
					refused++
				}
				call()
			}()
		}
		task.Sleep(sim.Forever)
	})
	w.play()
	require.Empty(t, w.notes)
	require.Empty(t, w.echo.executed)
	require.Len(t, w.Trace.Events(), 1, "the crash alone")
	require.Equal(t, 7, refused)
}

func TestCrashBeforeAStepCancelsIt(t *testing.T) {
	w := newWorld(t)
	w.hangs = []string{"a", "b"}
	w.faults(on("before a send DEL", crash("a")), on("before b access", crash("b")))
	w.client("a", func(_ *sim.Task, l *line) { l.send("SET k", "DEL k") })
	w.AddClient("b", func(task *sim.Task) {
		task.Step(trace.Step{Does: trace.Access}, 0, func() { w.note("took") }, nil)
	})
	w.play()
	require.Equal(t, []string{"a:SET k"}, w.echo.executed)
	require.Empty(t, w.notes)
	require.Empty(t, w.steps(trace.Access))
}

func TestCrashOfTheServerBeforeAnExecutionCancelsIt(t *testing.T) {
	for trigger, executions := range map[string]int{
		"before srv receive SET": 0, "after srv receive SET": 0, "before srv execute SET": 0,
		"after srv execute SET": 1, "before srv reply SET": 1,
	} {
		w := newWorld(t)
		w.faults(on(trigger, crash("srv")))
		w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("SET k", sim.Forever)) })
		w.expect("4ms closed")
		require.Len(t, w.echo.executed, executions, trigger)
		require.Len(t, w.steps(trace.Execute), executions, trigger)
		require.Empty(t, w.steps(trace.Reply), trigger)
	}
}

func TestTasksOfAProcessDieTogether(t *testing.T) {
	w := newWorld(t)
	w.hangs = []string{"a"}
	w.faults(at(s, crash("a")))
	w.AddClient("a", func(task *sim.Task) {
		for range 3 {
			task.Go(func(task *sim.Task) {
				defer w.note("%v unwound", task)
				task.Sleep(2 * s)
				w.note("%v survived", task)
			})
		}
		task.Sleep(2 * s)
		w.note("%v survived", task)
	})
	w.expect("1s a/1 unwound", "1s a/2 unwound", "1s a/3 unwound")
}

func TestProcessEndsWithItsMainTask(t *testing.T) {
	w := newWorld(t)
	w.client("a", func(task *sim.Task, l *line) {
		task.Go(func(task *sim.Task) {
			defer w.note("unwound")
			task.Sleep(s)
			l.send("never")
		})
		task.Sleep(ms)
	})
	n := w.Node("a")
	w.client("b", func(task *sim.Task, _ *line) {
		task.Sleep(5 * s)
		require.False(t, n.Up())
	})
	w.expect("3ms unwound")
	require.Empty(t, w.echo.executed)
}

func TestProcessThatEndsClosesItsConnections(t *testing.T) {
	w := newWorld(t)
	var conn *sim.Conn
	w.client("a", func(_ *sim.Task, l *line) {
		conn = l.conn
		conn.Session = "open"
		l.send("SET k")
	})
	w.AddClient("b", func(task *sim.Task) {
		task.Sleep(s)
		require.Nil(t, conn.Session)
	})
	w.play()
	require.Equal(t, []string{"a:SET k"}, w.echo.executed)
}

func TestRestartedClientRunsMainAgain(t *testing.T) {
	w := newWorld(t)
	w.faults(at(2*s, crash("a", 3*s)))
	crashed := 0
	w.Crashed = func(n *sim.Node) {
		require.Equal(t, "a", n.Name)
		crashed++
	}
	w.AddClient("a", func(task *sim.Task) {
		w.note("%v starts", task)
		task.Go(func(task *sim.Task) { w.note("%v starts", task) })
		task.Sleep(10 * s)
		w.note("%v ends", task)
	})
	w.expect("0s a starts", "0s a/1 starts", "5s a/2 starts", "5s a/3 starts", "15s a/2 ends")
	require.Equal(t, 1, crashed, "an end is no crash")
	require.Equal(t, trace.Instant(5*s), w.Faults()[0].End)
}

func TestRunWaitsForAClientThatWillRestart(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, crash("a", 1000*s)))
	w.AddClient("a", func(task *sim.Task) {
		if w.Now() > 0 {
			w.note("again")
			return
		}
		task.Sleep(2 * s)
	})
	w.expect("16m41s again")
}

func TestWhatAnEarlierLifeBeganDoesNotReachTheNext(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after a send SET", crash("a", ms/2)))
	w.client("a", func(task *sim.Task, l *line) {
		if w.Now() < trace.Instant(3*ms) {
			l.call("SET k", 10*ms)
			return
		}
		w.note("%s", l.next(s))
	})
	w.expect("1.0045s timeout")
	require.Equal(t, []string{"a:SET k"}, w.echo.executed)
}

func TestCrashOfTheServerClearsItsTimers(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.faults(at(s, crash("srv", s)), at(0, pause("srv"), 900*ms))
	w.timer("due", false, 950*ms)
	cleared := w.timer("cleared", false, 5*s)
	w.srv.NewObserver(bell{w, "observer"}).Arm(false, int64(5*s))
	w.After(3*s, func() { require.False(t, cleared.Armed()) })
	w.expect("950ms due", "5s observer")
}

func TestTimerThatWasDueWhenItsServerDiedServesTheNextLife(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.faults(at(0, pause("srv")), at(2*s, crash("srv", s)), at(4*s, pause("srv"), 10*s))
	timer := w.timer("bell", false, s)
	w.After(4*s, func() { timer.Arm(false, int64(5*s)) })
	w.expect("14s bell")
}

func TestReplyThatWasHeldWhenItsServerDiedIsNeverSent(t *testing.T) {
	w := newWorld(t)
	w.faults(on("before srv reply m1", pause("srv")), at(s, crash("srv", s)), at(3*s, pause("srv"), s))
	w.client("a", func(task *sim.Task, l *line) {
		w.note("%s", l.call("m1", sim.Forever))
		task.Sleep(10 * s)
	})
	w.expect("1.001s closed")
	require.Empty(t, w.steps(trace.Reply))
}

func TestServerIsToldHowItDied(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	a := hostCrash("srv", s)
	a.Keep = "all"
	w.faults(at(s, a), at(3*s, crash("srv", s)))
	w.play()
	require.Equal(t, []string{`crash host=true keep="all"`, "restart", `crash host=false keep=""`, "restart"}, w.echo.lives)
}

func TestCrashOfTheDeadFindsNothingToActOn(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, crash("srv", 10*s)), at(2*s, crash("srv", s)), at(3*s, crash("a", s)))
	keeper(w.Engine)
	w.AddClient("a", func(*sim.Task) {})
	w.After(5*s, func() { require.False(t, w.srv.Up(), "the second crash restarts nothing") })
	w.play()
	require.Equal(t, []string{`crash host=false keep=""`, "restart"}, w.echo.lives)
	reports := w.Faults()
	require.True(t, reports[0].Fired)
	require.False(t, reports[1].Fired)
	require.False(t, reports[2].Fired)
}

func TestCodeThatRecoversForeverIsCutOffAndReported(t *testing.T) {
	spare := &sim.Spare{}
	w := newWorldWith(t, sim.Config{}, spare)
	w.faults(at(s, crash("a")))
	w.AddClient("a", func(task *sim.Task) {
		for {
			func() {
				defer func() { _ = recover() }()
				task.Sleep(10 * s)
			}()
		}
	})
	w.AddClient("b", func(task *sim.Task) { task.Sleep(2 * s); w.note("fine") })
	ending := w.Run()
	require.Equal(t, []string{"a"}, ending.Zombies)
	require.Equal(t, []string{"2s fine"}, w.notes)
	require.Equal(t, 1, spare.Idle(), "a's coroutine is lost, b's is not")
	spare.Close()
}

func TestCodeThatWouldNotEndIsReportedAtTheEndOfTheRunToo(t *testing.T) {
	w := newWorldWith(t, sim.Config{Until: trace.Instant(s)}, nil)
	w.AddClient("a", func(task *sim.Task) {
		for {
			func() {
				defer func() { _ = recover() }()
				task.Sleep(10 * s)
			}()
		}
	})
	require.Equal(t, []string{"a"}, w.Run().Zombies)
}

func TestPanicsOfDeadProcessesAreIgnored(t *testing.T) {
	w := newWorld(t)
	w.hangs = []string{"a"}
	w.faults(at(s, crash("a")))
	w.AddClient("a", func(task *sim.Task) {
		defer func() {
			if v := recover(); v != nil {
				panic("wrapped")
			}
		}()
		task.Sleep(10 * s)
	})
	w.play()
}

func TestPanicOfAClientIsReportedWithItsName(t *testing.T) {
	w := newWorld(t)
	w.AddClient("a", func(task *sim.Task) { task.Sleep(10 * s) })
	w.AddClient("b", func(task *sim.Task) {
		task.Sleep(s)
		task.Go(func(*sim.Task) { panic(errors.New("index out of luck")) })
		task.Sleep(s)
	})
	ending := w.Run()
	require.EqualError(t, ending.Panic, "the code of client b panicked: index out of luck")
	require.Equal(t, trace.Instant(s), ending.At, "the run ends there")
	require.Contains(t, ending.Panic.Stack, "TestPanicOfAClientIsReportedWithItsName")
	require.Empty(t, ending.Zombies)
}

func TestCallsOfAStrangeStackAreFew(t *testing.T) {
	calls := func(stack string) []string { return (&sim.Panic{Stack: stack}).Calls() }
	require.Empty(t, calls(""))
	require.Empty(t, calls("panic(0x1)"))
	require.Len(t, calls("panic(0x1)\n\tpanic.go\n"+strings.Repeat("f()\n\tf.go:1 +0x2\n", 100)), 16)
	require.Equal(t, []string{"f", "    f.go:1"}, calls("goroutine 1 [running]:\nf(0x1)\n\tf.go:1 +0x2\n")[:2])
}

func TestPanicLeavesNoCoroutineBehind(t *testing.T) {
	spare := &sim.Spare{}
	w := newWorldWith(t, sim.Config{}, spare)
	unwound := 0
	for _, name := range []string{"a", "b", "c", "d"} {
		w.AddClient(name, func(task *sim.Task) {
			defer func() { unwound++ }()
			task.Sleep(s)
			if name == "b" {
				panic("first")
			}
			task.Sleep(s)
		})
	}
	w.faults(at(s/2, crash("d")))
	w.Run()
	require.Equal(t, 4, unwound)
	require.Equal(t, 4, spare.Idle())
	spare.Close()
}

func TestTaskUsedByAnothersCodeIsABug(t *testing.T) {
	w := newWorld(t)
	w.AddClient("a", func(task *sim.Task) {
		task.Go(func(*sim.Task) { task.Sleep(s) })
		task.Sleep(10 * s)
	})
	require.ErrorContains(t, w.Run().Panic, "task a was used by other code than its own")
}

func TestManyTasksInTurnAreNumbered(t *testing.T) {
	w := newWorld(t)
	var names []string
	w.AddClient("a", func(task *sim.Task) {
		for range 50 {
			task.Wait(sim.Forever, task.Go(func(task *sim.Task) { names = append(names, task.String()) }))
		}
	})
	w.play()
	require.Len(t, names, 50)
	require.Equal(t, "a/1", names[0])
	require.Equal(t, "a/50", names[49])
}
