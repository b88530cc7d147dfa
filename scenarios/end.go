package scenarios

import (
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// leastEnd is when a run ends at the latest that has next to nothing to do.
const leastEnd = time.Minute

// End returns when a run of the scenario ends at the latest: its until, or else a moment by which all that it asks for
// can have happened one thing after the other, on the slowest of its clocks. A run that has nothing left to do ends earlier.
func (s *Scenario) End() time.Duration {
	if s.Until > 0 {
		return s.Until
	}
	lease := s.Lease()
	if s.Lock.LockDelay != nil {
		lease += *s.Lock.LockDelay
	}
	silence := s.Servers.KeepAlive + s.Servers.IdleTimeout
	var start, wait, sum total
	for i := range s.Clients {
		c := &s.Clients[i]
		start = max(start, total(0).plus(c.Start))
		if c.Wait != forever {
			wait = max(wait, total(0).plus(c.Again).plus(c.Wait))
		}
		sum = sum.plus(c.takes(len(s.TakenBy(c)), s.Servers.IdleTimeout))
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		if f.Action.Kind == sim.Cut {
			sum = sum.plus(min(f.For, sim.MaxBackoff)) // then TCP sends again what was lost
		}
		sum = sum.plus(f.Trigger.At).plus(f.Trigger.Plus).plus(f.For).plus(adds(&f.Action)).plus(lease).plus(silence)
	}
	for range 4 {
		sum = sum.plus(lease)
	}
	sum = sum.plus(silence).plus(time.Duration(start)).plus(time.Duration(wait)).plus(s.Progress).plus(s.Progress).plus(s.Places())
	return max(leastEnd, s.Slowed(time.Duration(sum)))
}

// Slowed returns how long something takes at most on clocks that are slow, are set back or show another time than others, if it takes d
// on a correct one: what one of them has written as a time another one waits for.
func (s *Scenario) Slowed(d time.Duration) time.Duration {
	ahead, behind := time.Duration(0), time.Duration(0)
	for _, c := range s.Clocks {
		ahead, behind = max(ahead, c.Offset), min(behind, c.Offset)
	}
	sum := total(d).plus(ahead).plus(-behind)
	for i := range s.Faults {
		a := &s.Faults[i].Action
		sum = sum.plus(max(a.Step, -a.Step))
	}
	return s.OnSlowest(time.Duration(sum))
}

// OnSlowest returns how long something takes on the slowest clock that takes d on a correct one.
func (s *Scenario) OnSlowest(d time.Duration) time.Duration {
	slowest := int64(0)
	for _, c := range s.Clocks {
		slowest = min(slowest, c.Rate)
	}
	for i := range s.Faults {
		slowest = min(slowest, s.Faults[i].Action.Rate)
	}
	return time.Duration(total(d).scaled(million, max(million+slowest, 1)))
}

// Places returns for how long clients that die while they wait for a fair lock may keep those behind them from it, if all but one do, and
// again after each restart: each of them for the lock's own time, or for as long as it would have waited.
func (s *Scenario) Places() time.Duration {
	var each total
	for _, name := range s.Algorithms() {
		if a, _ := locks.Catalogue().Find(name); a.Places > 0 {
			each = max(each, total(s.Lease()).times(a.Places))
		}
	}
	if each == 0 || len(s.Faults) == 0 {
		return 0
	}
	dead := -1
	for i := range s.Faults {
		if s.Faults[i].Action.Restart > 0 {
			dead++
		}
	}
	for i := range s.Clients {
		c := &s.Clients[i]
		if c.Wait != forever {
			each = max(each, total(c.Wait))
		}
		dead += max(c.Count, 1) * max(c.Tasks, 1)
	}
	return time.Duration(each.times(dead))
}

// total is a sum of durations that stops at the longest that a scenario may name.
type total time.Duration

func (t total) plus(d time.Duration) total {
	return total(min(time.Duration(t)+min(max(d, 0), maxDuration), maxDuration))
}

// times returns n times as much.
func (t total) times(n int) total {
	if t == 0 || n <= 0 {
		return 0
	}
	if int64(n) > int64(maxDuration)/int64(t) {
		return total(maxDuration)
	}
	return t * total(n)
}

// scaled returns as much as takes so long on a slower clock.
func (t total) scaled(by, rate int64) total {
	if int64(t)/rate >= int64(maxDuration)/by {
		return total(maxDuration)
	}
	return total(min(int64(t)/rate*by+int64(t)%rate*by/rate, int64(maxDuration)))
}

// takes returns how long all sections of a client take, one after the other, each with so many locks. Work that is to last forever
// is over for others when servers end its idle connection.
func (c *Client) takes(locks int, idle time.Duration) time.Duration {
	one := total(0).plus(c.Think).plus(time.Duration(total(0).plus(c.Between).times(locks - 1)))
	if c.Hangs {
		one = one.plus(idle)
	} else {
		one = one.plus(c.Work)
		if c.Write != nil {
			one = one.plus(max(*c.Write-c.Work, 0))
		}
	}
	return time.Duration(one.times(max(c.Count, 1)).times(max(c.Tasks, 1)).times(max(c.Sections, 1)))
}

// adds returns how long what an action does by itself may last.
func adds(a *sim.Action) time.Duration {
	return time.Duration(total(0).plus(a.Restart).plus(a.By).plus(a.Demote))
}
