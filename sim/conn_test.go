package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestRoundTripTakesTwoDelays(t *testing.T) {
	w := newWorld(t)
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("SET k", sim.Forever)) })
	w.expect("4ms SET ok") // a round trip to connect, another for the call
	require.Equal(t, `2ms a send SET srv (SET k)
3ms srv receive SET a
3ms srv execute SET a (SET k -> SET ok)
3ms srv reply SET a (SET ok)
4ms a receive SET srv
`, w.transcript())
}

func TestStepsOfOneMessageShareItsNumber(t *testing.T) {
	w := newWorld(t)
	w.client("a", func(_ *sim.Task, l *line) { l.call("SET k", sim.Forever) })
	w.play()
	var numbers []uint64
	for _, e := range w.Trace.Events() {
		numbers = append(numbers, e.Msg)
	}
	require.Equal(t, []uint64{1, 1, 1, 2, 2}, numbers)
	require.Equal(t, 2, w.Messages())
}

func TestConnectionKeepsOrderForAnyDelays(t *testing.T) {
	w := newWorldWith(t, sim.Config{Seed: 7, Latency: sim.UniformLatency(0, time.Second)}, nil)
	sent := []string{"m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"}
	var got []string
	w.client("a", func(_ *sim.Task, l *line) {
		l.send(sent...)
		for range sent {
			got = append(got, l.next(sim.Forever))
		}
	})
	w.play()
	require.Equal(t, []string{"a:m1", "a:m2", "a:m3", "a:m4", "a:m5", "a:m6", "a:m7", "a:m8"}, w.echo.executed)
	require.Equal(t, []string{"m1 ok", "m2 ok", "m3 ok", "m4 ok", "m5 ok", "m6 ok", "m7 ok", "m8 ok"}, got)
}

func TestConnectionsHaveNoOrderBetweenThem(t *testing.T) {
	overtaken := 0
	for seed := range uint64(100) {
		w := newWorldWith(t, sim.Config{Seed: seed, Latency: sim.UniformLatency(0, time.Second)}, nil)
		w.client("a", func(task *sim.Task, first *line) {
			second := w.dial(task)
			first.send("mute1")
			second.send("mute2")
		})
		w.play()
		if w.echo.executed[0] == "a:mute2" {
			overtaken++
		}
	}
	require.Greater(t, overtaken, 20)
	require.Less(t, overtaken, 80)
}

func TestRequestsSentBeforeACloseAreStillExecuted(t *testing.T) {
	w := newWorld(t)
	w.client("a", func(_ *sim.Task, l *line) {
		l.send("SET k")
		l.conn.Close()
		require.ErrorIs(t, l.conn.Send(l.task, word("SET again")), sim.ErrClosed)
	})
	w.AddClient("b", func(task *sim.Task) {
		task.Sleep(s)
		require.Zero(t, w.srv.Connections())
	})
	w.play()
	require.Equal(t, []string{"a:SET k"}, w.echo.executed)
	require.Empty(t, w.steps(trace.Receive)[1:], "nobody receives the answer")
}

func TestCloseTellsTheReceiverNothing(t *testing.T) {
	w := newWorld(t)
	w.client("a", func(task *sim.Task, l *line) {
		l.conn.Close()
		task.Sleep(s)
		require.False(t, l.over)
	})
	w.play()
}

func TestServerForgetsAClosedConnection(t *testing.T) {
	w := newWorld(t)
	var session any = "kept"
	w.client("a", func(task *sim.Task, l *line) {
		l.conn.Session = "kept"
		l.conn.Close()
		task.Sleep(s)
		session = l.conn.Session
	})
	w.play()
	require.Nil(t, session)
}

func TestDialToADeadProcessIsRefused(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, crash("srv")))
	w.AddClient("a", func(task *sim.Task) {
		l, err := w.dialTo(task, w.srv, 0)
		w.note("%v", err)
		require.False(t, l.over, "what was never open does not end")
	})
	w.expect("2ms connection refused")
}

func TestDialToADeadMachineMeetsSilence(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, hostCrash("srv")))
	w.AddClient("a", func(task *sim.Task) {
		_, err := w.dialTo(task, w.srv, 3*s)
		w.note("%v", err)
	})
	w.expect("3s dial timed out")
}

func TestDialToAMachineThatComesBackSucceeds(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, hostCrash("srv", 5*s)))
	w.AddClient("a", func(task *sim.Task) {
		l := w.dial(task)
		require.Greater(t, w.Now(), trace.Instant(5*s))
		require.Equal(t, "SET ok", l.call("SET k", sim.Forever))
	})
	w.play()
	require.Equal(t, []string{"a:SET k"}, w.echo.executed)
}

func TestDialDuringWhichTheMachineGoesOffSucceedsWhenItIsBack(t *testing.T) {
	w := newWorld(t)
	w.faults(at(ms/2, hostCrash("srv", 5*s)))
	w.client("a", func(_ *sim.Task, l *line) {
		require.Greater(t, w.Now(), trace.Instant(5*s))
		require.Equal(t, "SET ok", l.call("SET k", sim.Forever))
	})
	w.play()
}

func TestDialToAPausedServerSucceeds(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, pause("srv"), 10*s))
	w.client("a", func(_ *sim.Task, l *line) {
		w.note("connected")
		w.note("%s", l.call("SET k", sim.Forever))
	})
	w.expect("2ms connected", "10.001s SET ok")
}

func TestDialThatTimedOutLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, cut("a", "srv"), 10*s))
	w.AddClient("a", func(task *sim.Task) {
		for range 100 {
			_, err := w.dialTo(task, w.srv, 50*ms)
			require.ErrorIs(t, err, sim.ErrDialTimeout)
		}
		task.Sleep(time.Minute)
		w.dial(task)
		require.Less(t, w.Connections(), 50)
		require.Equal(t, 1, w.srv.Connections())
	})
	w.play()
}

func TestDialTimeOutIsOnTheClientsClock(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, cut("a", "srv")), at(0, clock("a", 0, 1_000_000)))
	w.AddClient("a", func(task *sim.Task) {
		_, err := w.dialTo(task, w.srv, 10*s)
		w.note("%v", err)
	})
	w.expect("5s dial timed out")
}

func TestFINDeliversWhatIsOnItsWay(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after a send m2", breakThis(false, sim.LoseNothing)))
	w.client("a", func(task *sim.Task, l *line) {
		l.send("m1", "m2", "m3") // the client does not know yet: m3 goes nowhere
		for range 2 {
			w.note("%s", l.next(sim.Forever))
		}
		require.ErrorIs(t, l.conn.Send(task, word("m4")), sim.ErrClosed)
	})
	w.play()
	require.Equal(t, []string{"a:m1", "a:m2"}, w.echo.executed)
	require.Equal(t, []string{"3ms closed", "3ms closed"}, w.notes, "the end came before the answers")
}

func TestRSTLosesWhatIsOnItsWay(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after a send m2", breakThis(true, sim.LoseNothing)))
	w.client("a", func(_ *sim.Task, l *line) {
		l.send("m1", "m2")
		w.note("%s", l.next(sim.Forever))
	})
	w.expect("3ms closed")
	require.Empty(t, w.echo.executed)
}

func TestBreakDeliversAPrefix(t *testing.T) {
	w := newWorld(t)
	w.faults(plus(5*ms, on("after a send m3", breakLink("a", "srv", true, sim.LoseNothing))))
	w.client("a", func(task *sim.Task, l *line) {
		for _, m := range []string{"m1", "m2", "m3", "m4", "m5", "m6"} {
			if l.conn.Send(task, word(m)) != nil {
				return
			}
			task.Sleep(5*ms - 1)
		}
	})
	w.play()
	require.Equal(t, []string{"a:m1", "a:m2", "a:m3"}, w.echo.executed)
}

func TestBreakCanLoseTheRequest(t *testing.T) {
	for _, f := range []sim.Fault{
		on("before srv receive m2", breakThis(true, sim.LoseRequest)),
		on("before srv receive m2", breakThis(false, sim.LoseRequest)),
		on("before srv execute m2", breakThis(false, sim.LoseRequest)),
	} {
		w := newWorld(t)
		w.faults(f)
		w.client("a", func(_ *sim.Task, l *line) {
			l.send("m1", "m2", "m3")
			w.note("%s", l.next(sim.Forever))
			w.note("%s", l.next(sim.Forever))
		})
		w.expect("4ms m1 ok", "4ms closed")
		require.Equal(t, []string{"a:m1"}, w.echo.executed)
	}
}

func TestResetDestroysTheMessageAtTheDoor(t *testing.T) {
	w := newWorld(t)
	w.faults(on("before srv receive SET", breakThis(true, sim.LoseNothing)))
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("SET k", sim.Forever)) })
	w.expect("4ms closed")
	require.Empty(t, w.echo.executed)
}

func TestResetThatLosesRepliesSparesRequests(t *testing.T) {
	w := newWorld(t)
	w.faults(on("after a send SET", breakThis(true, sim.LoseReply)))
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("SET k", sim.Forever)) })
	w.expect("3ms closed")
	require.Equal(t, []string{"a:SET k"}, w.echo.executed)
}

func TestRequestThatIsLostTakesAlongThoseBehindIt(t *testing.T) {
	w := newWorld(t)
	w.faults(at(2*ms, pause("srv"), s), on("before srv execute m2", breakThis(false, sim.LoseRequest)))
	w.client("a", func(_ *sim.Task, l *line) {
		l.send("m1", "m2", "m3")
		w.note("%s", l.next(sim.Forever))
		w.note("%s", l.next(sim.Forever))
	})
	w.expect("1.003s m1 ok", "1.003s closed")
	require.Equal(t, []string{"a:m1"}, w.echo.executed)
}

func TestReplyThatIsLostTakesAlongThoseBehindIt(t *testing.T) {
	w := newWorld(t)
	w.faults(at(3*ms, pause("a"), s), on("before a receive m2", breakThis(false, sim.LoseReply)))
	w.client("a", func(_ *sim.Task, l *line) {
		l.send("m1", "m2", "m3")
		w.note("%s", l.next(sim.Forever))
		w.note("%s", l.next(sim.Forever))
	})
	w.expect("1.003s m1 ok", "1.004s closed")
	require.Len(t, w.echo.executed, 3)
}

func TestBreakCanLoseTheReply(t *testing.T) {
	for _, trigger := range []string{"before srv execute SET", "after srv execute SET", "before srv reply SET", "after srv reply SET"} {
		w := newWorld(t)
		w.faults(on(trigger, breakThis(true, sim.LoseReply)))
		w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("SET k", sim.Forever)) })
		w.expect("4ms closed")
		require.Equal(t, []string{"a:SET k"}, w.echo.executed, trigger)
	}
}

func TestResetSparesWhatHasBeenReceived(t *testing.T) {
	w := newWorld(t)
	w.faults(at(0, pause("srv"), 10*s), at(s, breakLink("a", "srv", true, sim.LoseNothing)))
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("SET k", sim.Forever)) })
	w.expect("1.001s closed")
	require.Equal(t, []string{"10s srv SET"}, w.steps(trace.Execute), "though its client has ended")
}

func TestSecondBreakDoesNotSwallowTheEnd(t *testing.T) {
	w := newWorld(t)
	w.faults(
		on("after a send SET", breakThis(false, sim.LoseNothing)),
		on("after a send SET", breakThis(true, sim.LoseNothing)),
	)
	w.client("a", func(_ *sim.Task, l *line) { w.note("%s", l.call("SET k", sim.Forever)) })
	w.expect("3ms closed")
}

func TestServerProcessCrashClosesConnectionsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, crash("srv", s)))
	w.client("a", func(task *sim.Task, l *line) {
		w.note("%s", l.next(sim.Forever))
		_, err := w.dialTo(task, w.srv, 0)
		w.note("%v", err)
		task.Sleep(s)
		require.Zero(t, w.srv.Connections())
		w.note("%s", w.dial(task).call("SET k", sim.Forever))
	})
	w.expect("11ms closed", "13ms connection refused", "1.017s SET ok")
	require.Equal(t, []string{`crash host=false keep=""`, "restart"}, w.echo.lives)
}

func TestServerProcessCrashLosesWhatWasReceivedAndKeepsWhatWasSent(t *testing.T) {
	w := newWorld(t)
	w.faults(
		at(0, pause("srv")),
		on("after a send m2", crash("srv", s)),
	)
	w.client("a", func(task *sim.Task, l *line) {
		l.send("m1")
		task.Sleep(5 * ms)
		l.send("m2")
		w.note("%s", l.next(sim.Forever))
	})
	w.expect("8ms closed")
	require.Empty(t, w.echo.executed)

	w = newWorld(t)
	w.faults(on("after srv reply m1", crash("srv")))
	w.client("a", func(_ *sim.Task, l *line) {
		w.note("%s", l.call("m1", sim.Forever))
		w.note("%s", l.next(sim.Forever))
	})
	w.expect("4ms m1 ok", "4ms closed")
}

func TestServerHostCrashIsSilentUntilTheMachineIsBack(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, hostCrash("srv", 5*s)))
	w.client("a", func(task *sim.Task, l *line) {
		task.Sleep(20 * ms)
		w.note("%s", l.call("SET k", 4*s))
		require.Equal(t, "closed", l.next(sim.Forever))
		require.Greater(t, w.Now(), trace.Instant(5*s), "a reset answers what was sent meanwhile")
		require.LessOrEqual(t, w.Now(), trace.Instant(10*s+20*ms))
		require.Equal(t, "SET ok", w.dial(task).call("SET k2", sim.Forever))
	})
	w.expect("4.022s timeout")
	require.Equal(t, []string{"a:SET k2"}, w.echo.executed)
}

func TestRequestAtTheDoorOfADyingMachineIsSentAgain(t *testing.T) {
	w := newWorld(t)
	w.faults(on("before srv receive SET", hostCrash("srv", 5*s)))
	w.client("a", func(_ *sim.Task, l *line) {
		require.Equal(t, "closed", l.call("SET k", sim.Forever))
		require.Greater(t, w.Now(), trace.Instant(5*s))
	})
	w.play()
	require.Empty(t, w.steps(trace.Receive), "nobody has read it")
	require.Empty(t, w.echo.executed)
}

func TestMachineThatGoesOffAfterItsProcessDiedFallsSilent(t *testing.T) {
	w := newWorld(t)
	w.faults(at(10*ms, crash("srv")), at(20*ms, hostCrash("srv")))
	w.AddClient("a", func(task *sim.Task) {
		task.Sleep(12 * ms)
		_, err := w.dialTo(task, w.srv, s)
		w.note("%v", err)
		task.Sleep(10 * ms)
		_, err = w.dialTo(task, w.srv, s)
		w.note("%v", err)
	})
	w.expect("14ms connection refused", "1.024s dial timed out")
	require.Len(t, w.echo.lives, 1)
}

func TestClientProcessCrashStillDeliversWhatItSent(t *testing.T) {
	for _, action := range []sim.Action{crash("a"), hostCrash("a")} {
		w := newWorld(t)
		w.hangs = []string{"a"}
		w.faults(on("after a send SET", action))
		w.client("a", func(_ *sim.Task, l *line) { l.send("SET k", "SET never") })
		w.play()
		require.Equal(t, []string{"a:SET k"}, w.echo.executed)
	}
}

func TestClientHostCrashLosesWhatACutHeldBack(t *testing.T) {
	for _, c := range []struct {
		action sim.Action
		want   []string
	}{
		{crash("a"), []string{"a:SET k"}},
		{hostCrash("a"), nil},
	} {
		w := newWorld(t)
		w.hangs = []string{"a"}
		w.faults(at(10*ms, cut("a", "srv"), 5*s), at(s, c.action))
		w.client("a", func(task *sim.Task, l *line) {
			task.Sleep(20 * ms)
			l.call("SET k", sim.Forever)
		})
		w.AddClient("b", func(task *sim.Task) { task.Sleep(time.Minute) })
		w.play()
		require.Equal(t, c.want, w.echo.executed)
	}
}

func TestServerHearsOfADeadClientMachineWhenThatAnswersAPush(t *testing.T) {
	w := newWorld(t)
	push := w.addSubscription("push")
	w.faults(at(s+s/2, hostCrash("a", 2*s)))
	w.AddClient("a", func(task *sim.Task) {
		if w.Now() == 0 {
			l, err := w.dialTo(task, push.node, 0)
			require.NoError(t, err)
			l.send("mute subscribe")
		}
		task.Sleep(10 * s)
	})
	w.play()
	require.Equal(t, []string{"1.003s push push", "2.003s push push", "3.003s push push", "4.003s push push"},
		w.steps(trace.Reply), "the machine is back when the fourth arrives")
}

func TestServerKeepsAConnectionWhoseClientsMachineFellSilent(t *testing.T) {
	w := newWorld(t)
	w.faults(at(s, hostCrash("a", s)), at(3*s, crash("a", s))) // the second life knows nothing of the connection
	w.AddClient("a", func(task *sim.Task) {
		if w.Now() == 0 {
			w.dial(task)
		}
		task.Sleep(5 * s)
		w.note("%d", w.srv.Connections())
	})
	w.expect("9s 1")
}

func TestPushesAreDeliveredInOrder(t *testing.T) {
	w := newWorld(t)
	push := w.addSubscription("push")
	w.AddClient("a", func(task *sim.Task) {
		l, err := w.dialTo(task, push.node, 0)
		require.NoError(t, err)
		l.send("mute subscribe")
		for range 3 {
			w.note("%s", l.next(sim.Forever))
		}
		l.conn.Close()
	})
	w.expect("1.004s push 1", "2.004s push 2", "3.004s push 3")
}

// subscription sends a message a second to every client that has asked for it.
type subscription struct {
	echo
	node  *sim.Node
	timer *sim.Timer
	conn  *sim.Conn
	count int
}

func (w *world) addSubscription(name string) *subscription {
	p := &subscription{}
	p.node = w.AddServer(name, p)
	p.timer = p.node.NewTimer(p)
	return p
}

func (p *subscription) Execute(c *sim.Conn, _ sim.Payload) sim.Payload {
	p.conn = c
	p.timer.Arm(false, p.node.Monotonic()+int64(s))
	return nil
}

func (p *subscription) Ring() {
	p.count++
	p.conn.Reply(word("push " + string(rune('0'+p.count))))
	p.timer.Arm(false, p.node.Monotonic()+int64(s))
}

func TestServerCannotReplyOnAForgottenConnection(t *testing.T) {
	w := newWorld(t)
	push := w.addSubscription("push")
	w.AddClient("a", func(task *sim.Task) {
		l, err := w.dialTo(task, push.node, 0)
		require.NoError(t, err)
		l.send("mute subscribe")
		l.conn.Close()
		task.Sleep(10 * s)
	})
	w.play()
	require.Positive(t, push.count)
	require.Empty(t, w.steps(trace.Reply))
}

func TestSendByAnotherProcessIsABug(t *testing.T) {
	w := newWorld(t)
	var conn *sim.Conn
	w.client("a", func(task *sim.Task, l *line) { conn = l.conn; task.Sleep(s) })
	w.AddClient("b", func(task *sim.Task) {
		task.Sleep(10 * ms)
		_ = conn.Send(task, word("SET k"))
	})
	ending := w.Run()
	require.ErrorContains(t, ending.Panic, "b sends on a connection of a")
}
