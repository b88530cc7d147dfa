package sim

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// Epoch is what a wall clock without offset shows when a run begins: 2020-01-01 00:00:00 UTC, in nanoseconds since
// 1970.
const Epoch int64 = 1_577_836_800_000_000_000

// fastest is the highest rate of a clock: a thousand times true time.
const fastest = 1000 * million

// Clock is the pair of clocks of one node. Between changes both run at a rate of their own; steps change the wall
// clock alone, unless they are said to change both. Only the node's own code reads them, and neither is true time.
//
// Invariant: reading(t) = reading(since) + floor((part + (t - since) * (1e6 + rate)) / 1e6). All of it is integers,
// and what the floor cuts off is kept in part, so that a change of the clock loses nothing. A reading that would not
// fit stays at the largest one.
type Clock struct {
	engine     *Engine
	since      trace.Instant // true time of the last change
	mono, wall int64         // readings at that moment
	part       uint64        // by how many millionths of a nanosecond both had passed them
	rate       int64         // how much faster than true time they run, in parts per million
	own        int64         // the rate without faults
	faulty     []*int64      // rates that faults impose, the last of which counts
	timers     []*Timer      // armed ones, to be re-timed when the clock changes
}

// Monotonic returns the monotonic clock's reading in nanoseconds.
func (c *Clock) Monotonic() int64 {
	elapsed, _ := c.elapsed()
	return after(c.mono, elapsed)
}

// Wall returns the wall clock's reading in nanoseconds since 1970.
func (c *Clock) Wall() int64 {
	elapsed, _ := c.elapsed()
	return after(c.wall, elapsed)
}

// elapsed returns how far both clocks have come since the last change, in nanoseconds and millionths of one.
func (c *Clock) elapsed() (ns, part uint64) {
	d := uint64(c.engine.now - c.since)
	if c.rate == 0 {
		return d, c.part
	}
	hi, lo := bits.Mul64(d, uint64(million+c.rate))
	lo, carry := bits.Add64(lo, c.part, 0)
	hi += carry
	if hi >= million {
		return math.MaxUint64, 0
	}
	return bits.Div64(hi, lo, million)
}

// When returns the first moment of true time at which a clock shows at least the reading, as far as can be foreseen;
// now if it already does, Never if it will not within the range of time.
func (c *Clock) When(wall bool, reading int64) trace.Instant {
	base, now := c.mono, c.Monotonic()
	if wall {
		base, now = c.wall, c.Wall()
	}
	if reading <= now {
		return c.engine.now
	}
	ahead := uint64(reading) - uint64(base) // exact even where the difference exceeds an int64
	if c.rate != 0 {
		ahead = c.needs(ahead)
	}
	if ahead > uint64(math.MaxInt64-int64(c.since)) {
		return trace.Never
	}
	return c.since + trace.Instant(ahead)
}

// needs returns in how much true time after since the clocks come that far: ceil((ahead * 1e6 - part) / (1e6 + rate)),
// or the largest number if that does not fit.
func (c *Clock) needs(ahead uint64) uint64 {
	rate := uint64(million + c.rate)
	hi, lo := bits.Mul64(ahead, million)
	lo, borrow := bits.Sub64(lo, c.part, 0)
	hi -= borrow
	lo, carry := bits.Add64(lo, rate-1, 0)
	hi += carry
	if hi >= rate {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, rate)
	return q
}

// Adjust steps the clock and sets its own rate; timers on it are re-timed. A positive step moves it forward.
func (c *Clock) Adjust(step time.Duration, rate int64, of ClockOf) {
	mustRun(rate)
	c.own = rate
	c.change(step, of)
}

func mustRun(rate int64) {
	if rate <= -million || rate > fastest {
		panic(fmt.Sprintf("sim: the rate of a clock is above -1,000,000 ppm and at most %d ppm, not %d", fastest, rate))
	}
}

// disturb steps the clock and imposes a rate on it, unless that is 0. It returns what mends both. Of several imposed
// rates the latest counts as long as it lasts.
func (c *Clock) disturb(step time.Duration, rate int64, of ClockOf) (mend func()) {
	mustRun(rate)
	imposed := &rate
	if rate != 0 {
		c.faulty = append(c.faulty, imposed)
	}
	c.change(step, of)
	return func() {
		c.faulty = slices.DeleteFunc(c.faulty, func(r *int64) bool { return r == imposed })
		c.change(-step, of)
	}
}

// change begins a new line of the invariant.
func (c *Clock) change(step time.Duration, of ClockOf) {
	elapsed, part := c.elapsed()
	c.mono, c.wall = after(c.mono, elapsed), plus(after(c.wall, elapsed), int64(step))
	if of == BothClocks {
		c.mono = plus(c.mono, int64(step))
	}
	c.since, c.part, c.rate = c.engine.now, part, c.own
	if n := len(c.faulty); n > 0 {
		c.rate = *c.faulty[n-1]
	}
	for _, t := range c.timers {
		t.retime()
	}
}

// Rate returns how much faster than true time the clock runs, in parts per million.
func (c *Clock) Rate() int64 { return c.rate }

// after returns the reading that far ahead, or the largest one.
func after(reading int64, ahead uint64) int64 {
	if ahead > uint64(math.MaxInt64)-uint64(reading) { // exact even where the difference exceeds an int64
		return math.MaxInt64
	}
	return int64(uint64(reading) + ahead)
}

// plus adds without wrapping around.
func plus(a, b int64) int64 {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	}
	return sum
}
