package live

import (
	"sync/atomic"
	"time"
)

// Clock is the deviation of a process's clocks from the machine's.
type Clock struct {
	Offset time.Duration // of the wall clock
	Rate   int64         // of both clocks, in parts per million: measured durations are longer by that
}

// clock is the same, while a process runs.
type clock struct {
	offset atomic.Int64
	rate   int64
}

func (c *clock) set(to Clock) {
	c.offset.Store(int64(to.Offset))
	c.rate = to.Rate
}

func (c *clock) step(by time.Duration) { c.offset.Add(int64(by)) }

const million = 1_000_000

// shown is what the clock shows of a time that has passed.
func (c *clock) shown(passed time.Duration) time.Duration {
	if c.rate == 0 {
		return passed
	}
	return time.Duration(float64(passed) * float64(million+c.rate) / million)
}

// passed is the time that passes while the clock shows so much.
func (c *clock) passed(shown time.Duration) time.Duration {
	if c.rate == 0 {
		return shown
	}
	return time.Duration(float64(shown) * million / float64(million+c.rate))
}

// TrueTime returns the true duration in which the process's clocks advance by shown.
func (p *Process) TrueTime(shown time.Duration) time.Duration { return p.clock.passed(shown) }
