package sim_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const million = 1_000_000

// exact is a clock in millionths of a nanosecond and without bounds.
type exact struct {
	since      trace.Instant
	mono, wall *big.Int
	rate       int64
}

func newExact() *exact {
	return &exact{mono: new(big.Int), wall: new(big.Int).Mul(big.NewInt(sim.Epoch), big.NewInt(million))}
}

func (x *exact) change(now trace.Instant, step time.Duration, rate int64, of sim.ClockOf) {
	passed := new(big.Int).Mul(big.NewInt(int64(now-x.since)), big.NewInt(million+x.rate))
	jump := new(big.Int).Mul(big.NewInt(int64(step)), big.NewInt(million))
	x.mono.Add(x.mono, passed)
	x.wall.Add(x.wall, passed).Add(x.wall, jump)
	if of == sim.BothClocks {
		x.mono.Add(x.mono, jump)
	}
	x.since, x.rate = now, rate
}

// reads returns floor(reading) at a moment, or the end of the range if it lies beyond it.
func (x *exact) reads(wall bool, now trace.Instant) int64 {
	base := x.mono
	if wall {
		base = x.wall
	}
	v := new(big.Int).Mul(big.NewInt(int64(now-x.since)), big.NewInt(million+x.rate))
	v.Add(v, base).Div(v, big.NewInt(million)) // Div of a positive divisor rounds down
	switch {
	case v.IsInt64():
		return v.Int64()
	case v.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

func rates() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-900_000, 10*million),
		rapid.Int64Range(-50, 50), rapid.SampledFrom([]int64{-999_999, 1000 * million}))
}

func clockKinds() *rapid.Generator[sim.ClockOf] {
	return rapid.SampledFrom([]sim.ClockOf{sim.WallOnly, sim.BothClocks})
}

// checkClock compares readings and forecasts with the exact clock.
func checkClock(t *rapid.T, n *sim.Node, x *exact, now trace.Instant) {
	for _, wall := range []bool{false, true} {
		reading := n.Monotonic()
		if wall {
			reading = n.Wall()
		}
		require.Equal(t, x.reads(wall, now), reading, "wall %t", wall)

		target := rapid.OneOf(
			rapid.Int64(),
			rapid.Int64Range(max(reading, math.MinInt64+9)-9, min(reading, math.MaxInt64-99)+99),
		).Draw(t, "target")
		when := n.When(wall, target)
		require.GreaterOrEqual(t, when, now)
		if when == trace.Never {
			require.Less(t, x.reads(wall, trace.Never-1), target, "it does come")
			continue
		}
		require.GreaterOrEqual(t, x.reads(wall, when), target, "too early")
		if when > now {
			require.Less(t, x.reads(wall, when-1), target, "not the first moment")
		}
	}
}

func TestClocksFollowTheExactFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := sim.New(sim.Config{Until: trace.Never}, nil)
		keeper(e)
		n, x := e.AddServer("n", &echo{}), newExact()
		gaps := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, math.MaxInt64/64))
		var change func()
		left := rapid.IntRange(0, 12).Draw(t, "changes")
		change = func() {
			checkClock(t, n, x, e.Now())
			if left--; left < 0 {
				return
			}
			step := time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-1000, 1000),
				rapid.Int64Range(-math.MaxInt64/64, math.MaxInt64/64)).Draw(t, "step"))
			rate, of := rates().Draw(t, "rate"), clockKinds().Draw(t, "of")
			before := x.reads(false, e.Now())
			if before == math.MaxInt64 || x.reads(true, e.Now()) == math.MaxInt64 {
				return // what lies beyond the range is not followed exactly
			}
			n.Adjust(step, rate, of)
			x.change(e.Now(), step, rate, of)
			checkClock(t, n, x, e.Now())
			e.After(time.Duration(gaps.Draw(t, "gap")), change)
		}
		e.After(0, change)
		e.Run()
	})
}

func TestClockStopsAtTheEndOfItsRange(t *testing.T) {
	e := sim.New(sim.Config{Until: trace.Never}, nil)
	keeper(e)
	n := e.AddServer("n", &echo{})
	n.Adjust(math.MaxInt64, 10*million, sim.BothClocks)
	require.Equal(t, int64(math.MaxInt64), n.Wall())
	e.After(time.Duration(trace.Never-1), func() {
		require.Equal(t, int64(math.MaxInt64), n.Monotonic())
		n.Adjust(math.MinInt64, 0, sim.BothClocks)
		require.Equal(t, int64(-1), n.Monotonic())
	})
	e.Run()
	require.Equal(t, trace.Never-1, e.Now())
}

func TestClockMustRunForward(t *testing.T) {
	n := newWorld(t).srv
	require.Panics(t, func() { n.Adjust(0, -million, sim.WallOnly) })
	require.NotPanics(t, func() { n.Adjust(0, -million+1, sim.WallOnly) })
	require.Panics(t, func() { n.Adjust(0, math.MaxInt64, sim.WallOnly) })
}

func TestWallClockBeginsAtTheEpochAndMonotonicClockAtZero(t *testing.T) {
	n := newWorld(t).srv
	require.Equal(t, sim.Epoch, n.Wall())
	require.Equal(t, "2020-01-01T00:00:00Z", time.Unix(0, n.Wall()).UTC().Format(time.RFC3339))
	require.Zero(t, n.Monotonic())
}

// bell notes when it rings.
type bell struct {
	w    *world
	name string
}

func (b bell) Ring() { b.w.note("%s", b.name) }

// timer arms a timer of the server for a reading of one of its clocks, given from now.
func (w *world) timer(name string, wall bool, d time.Duration) *sim.Timer {
	timer := w.srv.NewTimer(bell{w, name})
	reading := w.srv.Monotonic()
	if wall {
		reading = w.srv.Wall()
	}
	timer.Arm(wall, reading+int64(d))
	return timer
}

func TestStepOfTheWallClockMovesWallTimersOnly(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.timer("mono", false, 10*s)
	w.timer("wall", true, 10*s)
	w.timer("wall soon", true, 5*s)
	w.faults(at(2*s, clock("srv", 4*s, 0)))
	w.expect("2s wall soon", "6s wall", "10s mono")
}

func TestStepBackPutsWallTimersOff(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.timer("wall", true, 10*s)
	w.faults(at(9*s, clock("srv", -time.Minute, 0)))
	w.expect("1m10s wall")
}

func TestStepOfBothClocksMovesAllTimers(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.timer("mono", false, 10*s)
	w.timer("wall", true, 10*s)
	both := clock("srv", 4*s, 0)
	both.Of = sim.BothClocks
	w.faults(at(2*s, both))
	w.expect("6s mono", "6s wall")
}

func TestChangeOfRateRetimesAllTimers(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.timer("mono", false, 10*s)
	w.timer("wall", true, 10*s)
	w.faults(at(2*s, clock("srv", 0, million)))
	w.expect("6s mono", "6s wall")
}

func TestFaultOfTheClockHeals(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.timer("mono", false, 10*s)
	w.timer("wall", true, 30*s)
	w.faults(at(2*s, clock("srv", 10*s, million), 3*s)) // 6 s pass during 3 s
	w.expect("7s mono", "27s wall")
}

func TestOverlappingFaultsOfTheClockHealInAnyOrder(t *testing.T) {
	for _, c := range []struct{ first, second time.Duration }{{10 * s, 10 * s}, {20 * s, 5 * s}} {
		w := newWorld(t)
		keeper(w.Engine)
		w.srv.Adjust(0, 7, sim.WallOnly)
		w.faults(at(1*s, clock("srv", 0, 100), c.first), at(2*s, clock("srv", 0, 200), c.second))
		var rates []int64
		for _, moment := range []time.Duration{0, s + 1, 2*s + 1, 2*s + c.second + 1, time.Minute} {
			w.After(moment, func() { rates = append(rates, w.srv.Rate()) })
		}
		w.play()
		want := []int64{7, 100, 200, 7, 7}
		if c.first > c.second {
			want[3] = 100
		}
		require.Equal(t, want, rates)
	}
}

func TestTimerThatIsNotMovedKeepsItsPlaceAmongEqualDeadlines(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	w.timer("first", false, 10*s)
	w.After(10*s, func() { w.note("second") })
	w.faults(at(s, clock("srv", time.Hour, 0)))
	w.expect("10s first", "10s second")
}

func TestStoppedTimerDoesNotRing(t *testing.T) {
	w := newWorld(t)
	keeper(w.Engine)
	stopped, again := w.timer("stopped", false, s), w.timer("again", false, s)
	w.After(ms, func() {
		require.True(t, stopped.Armed())
		stopped.Stop()
		require.False(t, stopped.Armed())
		again.Arm(true, w.srv.Wall()+int64(3*s))
		require.Equal(t, trace.Instant(3*s+ms), again.At())
		require.Equal(t, sim.Epoch+int64(3*s+ms), again.Reading())
	})
	w.expect("3.001s again")
}

// TestTimersRingOnceWhenTheirClockShowsTheirReading compares timers under many changes of their clock with a clock
// that is looked at every nanosecond.
func TestTimersRingOnceWhenTheirClockShowsTheirReading(t *testing.T) {
	type alarm struct {
		wall   bool
		target int64 // from the clock's beginning
		armed  trace.Instant
	}
	type change struct {
		at   trace.Instant
		step time.Duration
		rate int64
		of   sim.ClockOf
	}
	const end = 400
	instants := rapid.Map(rapid.Int64Range(0, end), func(i int64) trace.Instant { return trace.Instant(i) })
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) change {
			return change{instants.Draw(t, "at"), time.Duration(rapid.Int64Range(-100, 100).Draw(t, "step")),
				rapid.Int64Range(-900_000, 10*million).Draw(t, "rate"), clockKinds().Draw(t, "of")}
		}), 0, 6).Draw(t, "changes")
		alarms := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) alarm {
			return alarm{rapid.Bool().Draw(t, "wall"), rapid.Int64Range(-20, 600).Draw(t, "target"), instants.Draw(t, "armed")}
		}), 1, 6).Draw(t, "alarms")

		e := sim.New(sim.Config{Until: end}, nil)
		keeper(e)
		n := e.AddServer("n", &echo{})
		for _, c := range changes {
			e.After(time.Duration(c.at), func() { n.Adjust(c.step, c.rate, c.of) })
		}
		got := make([]string, len(alarms))
		for i, a := range alarms {
			timer := n.NewTimer(ringer(func() { got[i] += fmt.Sprint(" ", int64(e.Now())) }))
			e.After(time.Duration(a.armed), func() { timer.Arm(a.wall, target(a.wall, a.target)) })
		}
		e.Run()

		want := make([]string, len(alarms))
		for i, x := 0, newExact(); i <= end; i++ {
			now := trace.Instant(i)
			for _, c := range changes {
				if c.at == now {
					x.change(now, c.step, c.rate, c.of)
				}
			}
			for i, a := range alarms {
				if a.armed <= now && want[i] == "" && x.reads(a.wall, now) >= target(a.wall, a.target) {
					want[i] = fmt.Sprint(" ", int64(now))
				}
			}
		}
		require.Equal(t, want, got)
	})
}

// TestTimersThatAreArmedAgainRingInOrder has few moments and many changes, so that much happens at once: timers that
// ring at the same moment ring in the order in which they were armed.
func TestTimersThatAreArmedAgainRingInOrder(t *testing.T) {
	type armed struct {
		timer int
		at    trace.Instant
	}
	rapid.Check(t, func(t *rapid.T) {
		e := sim.New(sim.Config{Until: trace.Never}, nil)
		keeper(e)
		n := e.AddServer("n", &echo{})
		var pending []armed // in the order of arming
		timers := make([]*sim.Timer, 4)
		for i := range timers {
			timers[i] = n.NewTimer(ringer(func() {
				first := 0
				for j, p := range pending {
					if p.at < pending[first].at {
						first = j
					}
				}
				require.NotEmpty(t, pending)
				require.Equal(t, armed{i, e.Now()}, pending[first])
				pending = slices.Delete(pending, first, first+1)
			}))
		}
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			i := rapid.IntRange(0, len(timers)-1).Draw(t, "timer")
			d := rapid.Int64Range(-1, 6).Draw(t, "in") // -1: it is stopped
			e.After(time.Duration(rapid.Int64Range(0, 10).Draw(t, "at")), func() {
				pending = slices.DeleteFunc(pending, func(p armed) bool { return p.timer == i })
				if d < 0 {
					timers[i].Stop()
					return
				}
				timers[i].Arm(false, n.Monotonic()+d)
				pending = append(pending, armed{i, e.Now() + trace.Instant(d)})
			})
		}
		require.True(t, e.Run().Quiescent)
		require.Empty(t, pending)
	})
}

func target(wall bool, reading int64) int64 {
	if wall {
		return sim.Epoch + reading
	}
	return reading
}

type ringer func()

func (f ringer) Ring() { f() }
