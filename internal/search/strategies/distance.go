package strategies

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// far is the distance of a history in which nothing comes near to a violation.
const far = 1.0

// Distance measures how near a history that does not violate a property came to doing so, from 0 to 1: mostly a time that
// was left, in leases.
func Distance(p checker.Property, h *history.History, s *scenarios.Scenario) float64 {
	m := &meter{h: h, lease: s.Lock.TTL}
	switch p {
	case checker.MutualExclusion:
		return m.nearest(m.beliefs())
	case checker.ExclusionAtService, checker.FencingOrder:
		return m.nearest(m.grants())
	case checker.Resource:
		return (m.nearest(m.beliefs()) + m.nearest(m.sections())) / 2
	case checker.ReleaseSafety:
		return m.release()
	default:
		return m.progress(s.Progress)
	}
}

type meter struct {
	h     *history.History
	lease time.Duration
}

// hold is a time in which somebody holds, in one of the senses of the word.
type hold struct {
	of       history.ID
	from, to trace.Instant
}

func (m *meter) beliefs() []hold {
	var list []hold
	for _, b := range m.h.Beliefs() {
		list = append(list, hold{b.Acquisition.ID, b.From, min(b.To, m.h.End)})
	}
	return list
}

func (m *meter) grants() []hold {
	var list []hold
	for i := range m.h.Grants {
		g := &m.h.Grants[i]
		list = append(list, hold{g.Acquisition, g.From, min(g.To, m.h.End)})
	}
	return list
}

// sections are from an acquisition's first access that was decided on to its last one.
func (m *meter) sections() []hold {
	var list []hold
	for i := range m.h.Accesses {
		a := &m.h.Accesses[i]
		if a.Applied == trace.Never {
			continue
		}
		k := slices.IndexFunc(list, func(x hold) bool { return x.of == a.Acquisition })
		if k < 0 {
			list = append(list, hold{a.Acquisition, a.Applied, a.Applied})
			continue
		}
		list[k].from, list[k].to = min(list[k].from, a.Applied), max(list[k].to, a.Applied)
	}
	return list
}

// nearest returns how near one of the holds came to overlapping the next one, by what was left of its lease, or between
// the two if the next one did not have to wait for its release. The fewer of its copies the servers still had, the
// nearer it was.
func (m *meter) nearest(holds []hold) float64 {
	slices.SortStableFunc(holds, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	best := far
	for i, x := range holds {
		left, released := m.leftOfLease(x)
		if i+1 < len(holds) && !released {
			left = min(left, m.leases(holds[i+1].from-x.to))
		}
		best = min(best, left*m.kept(x))
	}
	return best
}

// leases says how many leases a time is, from 0 to 1.
func (m *meter) leases(t trace.Instant) float64 {
	return min(max(float64(t)/float64(m.lease), 0), far)
}

// leftOfLease returns how much of its lease was left when a hold ended, and whether its release ended the grant.
func (m *meter) leftOfLease(x hold) (left float64, released bool) {
	left = far
	for i := range m.h.Grants {
		g := &m.h.Grants[i]
		if g.Acquisition != x.of {
			continue
		}
		released = g.Ended == history.ByUnlock
		left = m.leases(max(g.To, g.From.Add(m.lease)) - x.to)
	}
	return left, released
}

// kept returns the share of the copies of the lock's key, made for a hold, that had not been lost when it ended.
func (m *meter) kept(x hold) float64 {
	all, lost := 0, 0
	for i := range m.h.Copies {
		c := &m.h.Copies[i]
		if c.Acquisition != x.of {
			continue
		}
		all++
		if c.To < x.to && c.Gone != history.Kept && c.Gone != history.Deleted {
			lost++
		}
	}
	if all == 0 {
		return 1
	}
	return 1 - float64(lost)/float64(all+1)
}

// release returns how near a release came to being executed when the lock was another's.
func (m *meter) release() float64 {
	best := far
	for i := range m.h.Removals {
		r := &m.h.Removals[i]
		left, _ := m.leftOfLease(hold{of: r.By, to: r.At})
		if r.Stale {
			left /= 2
		}
		best = min(best, left)
	}
	return best
}

// progress returns how much was left of the time for which somebody may wait.
func (m *meter) progress(bound time.Duration) float64 {
	longest := trace.Instant(0)
	for i := range m.h.Waits {
		w := &m.h.Waits[i]
		longest = max(longest, min(w.To, m.h.End)-w.From)
	}
	return max(0, far-float64(longest)/float64(bound))
}
