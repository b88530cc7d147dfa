package sim_test

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// poll is a client that never ends.
func poll(w *world, name string) {
	w.hangs = append(w.hangs, name)
	w.client(name, func(task *sim.Task, l *line) {
		for {
			l.call("GET k", s)
			task.Sleep(10 * ms)
		}
	})
}

func TestLimitOfStepsIsReportedByItsName(t *testing.T) {
	w := newWorldWith(t, sim.Config{Limits: sim.Limits{Steps: 100}}, nil)
	poll(w, "a")
	ending := w.play()
	require.Equal(t, "steps", ending.Bound)
	require.False(t, ending.Quiescent)
	require.Equal(t, 100, w.Steps())
}

func TestLimitOfMessagesIsReportedByItsName(t *testing.T) {
	w := newWorldWith(t, sim.Config{Limits: sim.Limits{Messages: 100}}, nil)
	poll(w, "a")
	require.Equal(t, "messages", w.play().Bound)
	require.Equal(t, 101, w.Messages())
}

func TestLimitThatIsNotReachedIsNotReported(t *testing.T) {
	w := newWorldWith(t, sim.Config{Limits: sim.Limits{Steps: 4, Messages: 2}}, nil)
	w.client("a", func(_ *sim.Task, l *line) { l.call("SET k", sim.Forever) })
	require.Equal(t, sim.Ending{At: trace.Instant(4 * ms), Quiescent: true}, w.play())
	require.Equal(t, 4, w.Steps())
}

func TestEndlessLoopAtOneMomentIsReportedAsABound(t *testing.T) {
	spare := &sim.Spare{}
	for _, loop := range []func(task *sim.Task, l *line){
		func(_ *sim.Task, l *line) { l.send("mute") },
		func(task *sim.Task, _ *line) { step(task, trace.Check) },
		func(task *sim.Task, _ *line) { task.Go(func(*sim.Task) {}) },
		func(task *sim.Task, _ *line) { task.Wait(sim.Forever, task.Go(func(*sim.Task) {})) },
	} {
		w := newWorldWith(t, sim.Config{}, spare)
		w.hangs = []string{"a"}
		w.client("a", func(task *sim.Task, l *line) {
			for {
				loop(task, l)
			}
		})
		require.Equal(t, "calls", w.play().Bound)
		require.Equal(t, trace.Instant(2*ms), w.Now())
	}
	spare.Close()
}

func TestTaskMayEndTheRunForABoundOfItsOwn(t *testing.T) {
	w := newWorldWith(t, sim.Config{}, nil)
	w.hangs = []string{"a"}
	w.client("a", func(task *sim.Task, _ *line) {
		task.Exceed("patience")
		t.Error("it went on")
	})
	poll(w, "b")
	require.Equal(t, "patience", w.play().Bound)
}

func TestRunEndsWhenTheTimeIsUp(t *testing.T) {
	w := newWorldWith(t, sim.Config{Until: trace.Instant(5 * s)}, nil)
	poll(w, "a")
	require.Equal(t, sim.Ending{At: trace.Instant(5 * s), Working: []string{"a"}}, w.play())
}

func TestEventAtTheVeryEndStillHappens(t *testing.T) {
	w := newWorldWith(t, sim.Config{Until: trace.Instant(5 * s)}, nil)
	w.AddClient("a", func(task *sim.Task) {
		task.Sleep(5 * s)
		w.note("there")
	})
	w.expect("5s there")
}

func TestRunIsQuiescentWhenAllClientsWaitForever(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	require.Equal(t, sim.Ending{Quiescent: true, Working: []string{"keeper"}}, w.play())
}

func TestStoppedTimersBeyondTheEndDoNotMatter(t *testing.T) {
	w := newWorld(t)
	w.hangs = []string{"a"}
	w.client("a", func(task *sim.Task, l *line) {
		l.call("SET k", 10*time.Hour) // leaves a timer behind
		task.Wait(sim.Forever)
	})
	require.Equal(t, sim.Ending{At: trace.Instant(4 * ms), Quiescent: true, Working: []string{"a"}}, w.play())
}

func TestRunDoesNotWaitForServersTimers(t *testing.T) {
	w := newWorld(t)
	w.timer("server", false, time.Minute)
	w.AddClient("a", func(task *sim.Task) { task.Sleep(s) })
	w.expect()
	require.Equal(t, trace.Instant(s), w.Now())
}

func TestRunThatEndsDuringAPauseLeavesNoCoroutineBehind(t *testing.T) {
	spare := &sim.Spare{}
	defer spare.Close()
	w := newWorldWith(t, sim.Config{Until: trace.Instant(5 * s)}, spare)
	w.hangs = []string{"a"}
	w.faults(at(s, pause("a")))
	unwound := 0
	w.AddClient("a", func(task *sim.Task) {
		for range 3 {
			task.Go(func(task *sim.Task) {
				defer func() { unwound++ }()
				task.Sleep(2 * s)
			})
		}
		defer func() { unwound++ }()
		task.Sleep(2 * s)
	})
	w.play()
	require.Equal(t, 4, unwound)
	require.Equal(t, 4, spare.Idle())
}

func TestNodesHaveNamesOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	require.Panics(t, func() { w.AddServer("srv", &echo{}) })
	require.Same(t, w.srv, w.Node("srv"))
	require.Nil(t, w.Node("other"))
}

func TestEventInThePastIsABug(t *testing.T) {
	w := newWorld(t)
	require.Panics(t, func() { w.After(-1, func() {}) })
}

func TestWaitReturnsTheFirstFiredSignal(t *testing.T) {
	w := newWorld(t)
	w.AddClient("a", func(task *sim.Task) {
		var first, second, third sim.Signal
		second.Fire()
		require.Equal(t, 1, task.Wait(sim.Forever, &first, &second, &third))
		require.Zero(t, task.Node().Monotonic(), "it does not block")

		task.Go(func(task *sim.Task) {
			task.Sleep(s)
			third.Fire()
			third.Fire()
		})
		require.Equal(t, -1, task.Wait(s/2, &first, &third))
		require.Equal(t, 1, task.Wait(sim.Forever, &first, &third))
		require.Equal(t, int64(s), task.Node().Monotonic())
		require.True(t, third.Fired())
		require.False(t, first.Fired())
	})
	w.play()
}

func TestSignalWakesEverybodyInTheOrderOfTheirWaits(t *testing.T) {
	w := newWorld(t)
	var gate, never sim.Signal
	for _, name := range []string{"a", "b", "c"} {
		w.AddClient(name, func(task *sim.Task) {
			if name == "a" {
				task.Wait(s, &gate) // it comes first, but stops waiting, and then waits again
				task.Sleep(s)
			} else {
				task.Sleep(s / 2)
			}
			require.Equal(t, 1, task.Wait(sim.Forever, &never, &gate, &gate))
			w.note("%s", name)
			task.Sleep(s)
		})
	}
	w.After(10*s, gate.Fire)
	w.expect("10s b", "10s c", "10s a")
}

func TestSignalThatNobodyWaitsForAnyMoreWakesNobody(t *testing.T) {
	w := newWorld(t)
	var early sim.Signal
	w.AddClient("a", func(task *sim.Task) {
		task.Wait(s, &early)
		task.Sleep(10 * s)
		w.note("slept")
	})
	w.AddClient("b", func(task *sim.Task) {
		task.Sleep(s / 2)
		task.Wait(s, &early)
		task.Sleep(10 * s)
		w.note("slept")
	})
	w.After(5*s, early.Fire)
	w.expect("11s slept", "11.5s slept")
}

func TestSleepZeroYields(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b"} {
		w.AddClient(name, func(task *sim.Task) {
			for range 2 {
				w.note("%s", name)
				task.Sleep(-s)
			}
		})
	}
	w.expect("0s a", "0s b", "0s a", "0s b")
}

// turmoil is a world in which much goes wrong, drawn from a seed.
func turmoil(t testing.TB, seed uint64, keep bool, spare *sim.Spare) (*sim.Engine, sim.Ending) {
	e := sim.New(sim.Config{Seed: seed, Until: trace.Instant(time.Minute), Keep: keep}, spare)
	r := rand.New(rand.NewPCG(seed, 0))
	srv := e.AddServer("srv", &echo{})
	for _, name := range []string{"a", "b", "c"} {
		e.AddClient(name, func(task *sim.Task) {
			w := &world{Engine: e, t: t, srv: srv}
			for range 20 {
				l, err := w.dialTo(task, srv, s)
				for i := 0; err == nil && i < 5; i++ {
					l.call("SET k", s)
					task.Sleep(time.Duration(task.Index()+1) * 50 * ms)
				}
				task.Sleep(s / 2)
			}
		})
	}
	actions := []func() sim.Fault{
		func() sim.Fault { return at(0, pause("srv"), 2*s) },
		func() sim.Fault { return at(0, pause("a"), 2*s) },
		func() sim.Fault { return at(0, crash("srv", s)) },
		func() sim.Fault { return at(0, hostCrash("srv", s)) },
		func() sim.Fault { return at(0, crash("b", s)) },
		func() sim.Fault { return at(0, hostCrash("b", s)) },
		func() sim.Fault { return at(0, cut("c", "srv"), 2*s) },
		func() sim.Fault { return at(0, cutOne("srv", "*"), 2*s) },
		func() sim.Fault { return at(0, stall("a", "srv"), s) },
		func() sim.Fault { return at(0, clock("a", s, 10_000), s) },
		func() sim.Fault { return at(0, breakLink("*", "srv", r.IntN(2) == 0, sim.Loss(r.IntN(3)))) },
	}
	for range 8 {
		f := actions[r.IntN(len(actions))]()
		f.Trigger.At = time.Duration(r.Int64N(int64(20 * s)))
		e.Inject(f)
	}
	return e, e.Run()
}

func TestDigestIsThatOfTheSeed(t *testing.T) {
	seen := make(map[uint64]uint64)
	for seed := range uint64(30) {
		e, _ := turmoil(t, seed, false, nil)
		again, _ := turmoil(t, seed, false, nil)
		require.Equal(t, e.Trace.Digest(), again.Trace.Digest())
		seen[e.Trace.Digest()] = seed
	}
	require.Len(t, seen, 30, "seeds differ")
}

func TestDigestDoesNotDependOnWhatIsKept(t *testing.T) {
	for seed := range uint64(10) {
		kept, ending := turmoil(t, seed, true, nil)
		digested, same := turmoil(t, seed, false, nil)
		require.Equal(t, ending, same)
		require.Equal(t, kept.Trace.Digest(), digested.Trace.Digest())
		require.NotEmpty(t, kept.Trace.Events())
		require.Empty(t, digested.Trace.Events())
	}
}

func TestReusedSpareChangesNothing(t *testing.T) {
	spare := &sim.Spare{}
	defer spare.Close()
	for seed := range uint64(10) {
		alone, ending := turmoil(t, seed, false, nil)
		for range 2 {
			reused, same := turmoil(t, seed, false, spare)
			require.Equal(t, ending, same)
			require.Equal(t, alone.Trace.Digest(), reused.Trace.Digest())
			require.Equal(t, alone.Steps(), reused.Steps())
			turmoil(t, seed+100, false, spare)
		}
	}
	require.Less(t, spare.Idle(), 10, "coroutines are reused")
}

func TestSpareKeepsNothingOfARunWhenTheNextHasBegun(t *testing.T) {
	spare := &sim.Spare{}
	defer spare.Close()
	ended := func() weak.Pointer[sim.Engine] {
		e, _ := turmoil(t, 1, false, spare)
		return weak.Make(e)
	}()
	next := sim.New(sim.Config{}, spare)
	runtime.GC()
	require.Nil(t, ended.Value())
	runtime.KeepAlive(next)
}

func TestClosedSpareLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	spare := &sim.Spare{}
	for seed := range uint64(5) {
		turmoil(t, seed, false, spare)
	}
	require.Greater(t, runtime.NumGoroutine(), before)
	spare.Close()
	require.LessOrEqual(t, runtime.NumGoroutine(), before, "fewer if goroutines of other tests end meanwhile")
}

// wire follows what is sent and what arrives on one connection.
type wire struct {
	sent, executed, replied, delivered []string
}

// TestReceivedMessagesAreAPrefixOfThoseSent holds the rules of TCP under every fault that the network knows: on each
// connection what the server executes is a prefix of what the client has sent, and what the client receives is a
// prefix of what the server has replied: nothing is lost in the middle, doubled or reordered. Without faults, all of
// it arrives.
func TestReceivedMessagesAreAPrefixOfThoseSent(t *testing.T) {
	triggers := []string{
		"before a send m*", "after a send m*", "before srv receive m*", "after srv receive m*", "before srv execute m*",
		"after srv execute m*", "before srv reply m*", "after srv reply m*", "before a receive m*", "after a receive m*",
	}
	losses := []sim.Loss{sim.LoseNothing, sim.LoseRequest, sim.LoseReply}
	actions := func(t *rapid.T) (sim.Action, time.Duration) {
		lasts := time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * ms
		rst, lose := rapid.Bool().Draw(t, "rst"), rapid.SampledFrom(losses).Draw(t, "lose")
		node := rapid.SampledFrom([]string{"a", "b", "srv"}).Draw(t, "node")
		switch rapid.IntRange(0, 9).Draw(t, "action") {
		case 0, 1:
			return pause(node), lasts
		case 2:
			return crash(node, lasts), 0
		case 3:
			return hostCrash(node, lasts), 0
		case 4:
			return cut("*", node), lasts
		case 5:
			return cutOne(node, "*"), lasts
		case 6:
			return stall(node, "*"), lasts
		case 7:
			return breakThis(rst, lose), 0
		case 8:
			return breakLink("*", node, rst, lose), 0
		default:
			return delay(lasts), 0
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorldWith(nil, sim.Config{Seed: rapid.Uint64().Draw(t, "seed"), Latency: sim.LAN()}, nil)
		wires := make(map[*sim.Conn]*wire)
		w.srv = w.AddServer("recorder", &recorder{wires})
		faults := rapid.IntRange(0, 6).Draw(t, "faults")
		for range faults {
			trigger := rapid.SampledFrom(triggers).Draw(t, "trigger")
			action, lasts := actions(t)
			if action.Node == "srv" {
				action.Node = "recorder"
			}
			f := on(trigger, action, lasts)
			if f.Trigger.Step.Node == "srv" {
				f.Trigger.Step.Node = "recorder"
			}
			f.Trigger.Nth = rapid.IntRange(1, 12).Draw(t, "nth")
			if f.Trigger.When == sim.After && rapid.Bool().Draw(t, "later") {
				f.Trigger.Plus = time.Duration(rapid.IntRange(1, 20).Draw(t, "plus")) * ms
			}
			w.Inject(f)
		}
		for _, name := range []string{"a", "b"} {
			w.AddClient(name, func(task *sim.Task) { chatter(w, wires, task) })
		}
		ending := w.Run()
		require.Nil(t, ending.Panic)
		require.True(t, ending.Quiescent)
		require.Zero(t, w.OnTheirWay())
		for _, x := range wires {
			requirePrefix(t, x.sent, x.executed)
			requirePrefix(t, x.replied, x.delivered)
			if faults == 0 {
				require.Len(t, x.executed, 10)
				require.Len(t, x.delivered, 10)
			}
		}
	})
}

func requirePrefix(t require.TestingT, whole, prefix []string) {
	require.LessOrEqual(t, len(prefix), len(whole))
	require.Equal(t, strings.Join(whole[:len(prefix)], ","), strings.Join(prefix, ","))
}

// chatter sends on a few connections, waits at times, and closes them in the end.
func chatter(w *world, wires map[*sim.Conn]*wire, task *sim.Task) {
	for range 3 {
		tap := &tapped{}
		conn, err := task.Dial(w.srv, tap, s)
		if err != nil {
			task.Sleep(s / 10)
			continue
		}
		x := &wire{}
		tap.wire = x
		wires[conn] = x
		for i := range 10 {
			m := word([]string{"m1", "m2", "m3"}[i%3] + " " + string(rune('0'+i)))
			x.sent = append(x.sent, m.String()) // first: a fault may end this task while it sends
			if conn.Send(task, m) != nil {
				x.sent = x.sent[:len(x.sent)-1]
				break
			}
			if i%4 == 3 {
				task.Sleep(3 * ms)
			}
		}
		task.Sleep(s)
		conn.Close()
	}
}

type tapped struct{ wire *wire }

func (t *tapped) Deliver(p sim.Payload) { t.wire.delivered = append(t.wire.delivered, p.String()) }
func (t *tapped) Closed()               {}

type recorder struct{ wires map[*sim.Conn]*wire }

func (r *recorder) Execute(c *sim.Conn, p sim.Payload) sim.Payload {
	x := r.wires[c]
	x.executed = append(x.executed, p.String())
	answer := p.(word) + " ok"
	x.replied = append(x.replied, answer.String())
	return answer
}
func (r *recorder) Crash(bool, string) {}
func (r *recorder) Restart()           {}
