package minimal

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// overrun makes work that is about as long as a lease or never ends twice as long as the lease.
func overrun(s *scenarios.Scenario) bool {
	about := s.Lock.TTL / 10 * 9
	return longer(s, func(c *scenarios.Client) bool { return c.Hangs || c.Work >= about })
}

// longer makes the work of some clients twice as long as the lease, if it is shorter.
func longer(s *scenarios.Scenario, which func(c *scenarios.Client) bool) bool {
	changed := false
	for i := range s.Clients {
		if c := &s.Clients[i]; which(c) && (c.Hangs || c.Work < 2*s.Lock.TTL) {
			c.Hangs, c.Work = false, 2*s.Lock.TTL
			changed = true
		}
	}
	return changed
}

// workInstead puts plain work in the place of a fault that does no more than to make a section long for another one. A
// fault that is alone is left: that somebody works for too long is another story.
func (r *reducer) workInstead() {
	all := func(*scenarios.Client) bool { return true }
	for i := 0; i < len(r.now.Faults) && len(r.now.Faults)+len(r.now.Clocks) > 1; {
		alone, ok := r.simpler(func(s *scenarios.Scenario) bool { s.Faults, s.Clocks = nil, nil; return longer(s, all) })
		if !ok {
			return
		}
		if _, enough := r.play(alone); enough ||
			!r.try(func(s *scenarios.Scenario) bool { dropFaults(s, i, i+1); return longer(s, all) }) {
			i++
		}
	}
}

// inTheirOrder has the client that acquired first in the story begin first.
func (r *reducer) inTheirOrder(s *scenarios.Scenario) bool {
	story := r.seen.participants()
	if len(story) == 0 {
		return false
	}
	first, changed := story[0].Client, false
	for i := range s.Clients {
		c := &s.Clients[i]
		at := max(c.Start, time.Millisecond)
		if c.Name == first {
			at = 0
		}
		changed = changed || c.Start != at
		c.Start = at
	}
	return changed
}

// tryLater makes a change and has the client that was second ask shortly before the first one has to make room.
func (r *reducer) tryLater(change edit) bool { return r.tryShortlyBefore(change, time.Millisecond) }

// tryShortlyBefore does so by some units of time before.
func (r *reducer) tryShortlyBefore(change edit, unit time.Duration) bool {
	story := r.seen.participants()
	if len(story) < 2 {
		return false
	}
	later := func(end, before time.Duration) edit {
		return func(s *scenarios.Scenario) bool {
			return change(s) && startAt(s, story[1].Client, (end-before).Truncate(unit))
		}
	}
	end, ok := r.endWith(change, story[0])
	if !ok {
		return false
	}
	// The first one may have waited for the second: without that it has to make room earlier.
	if end, ok = r.endWith(later(end, unit), story[0]); !ok {
		return false
	}
	for _, before := range []time.Duration{1, 2, 4, 7, 10, 14, 20, 28, 40} {
		if r.try(later(end, before*unit)) {
			return true
		}
	}
	return false
}

// endWith returns when somebody has to make room for the next one after a change.
func (r *reducer) endWith(change edit, of *history.Acquisition) (end time.Duration, ok bool) {
	s, ok := r.simpler(change)
	if !ok {
		return 0, false
	}
	seen, _ := r.play(s)
	if seen.result == nil {
		return 0, false
	}
	h := seen.result.History
	a := h.Acquisition(of.ID)
	for i := range h.Acquisitions { // it may have another number now
		if b := &h.Acquisitions[i]; (a == nil || a.Client != of.Client) && b.Client == of.Client {
			a = b
		}
	}
	if a == nil || a.Client != of.Client {
		return 0, false
	}
	at := r.endOf(h, a)
	return time.Duration(at), at != trace.Never
}

// endOf returns when an acquisition's belief ends, or its grant if that is what must not overlap; Never if it does not.
func (r *reducer) endOf(h *history.History, a *history.Acquisition) trace.Instant {
	if r.sought.Property == checker.ExclusionAtService {
		i := slices.IndexFunc(h.Grants, func(g history.Grant) bool { return g.Acquisition == a.ID })
		if i < 0 {
			return trace.Never
		}
		return h.Grants[i].To
	}
	b, ok := a.Belief()
	if !ok {
		return trace.Never
	}
	return b.To
}

// startAt has a client begin at a moment, to ask for the lock once.
func startAt(s *scenarios.Scenario, client string, at time.Duration) bool {
	for i := range s.Clients {
		if s.Clients[i].Name == client && at > 0 {
			s.Clients[i].Start, s.Clients[i].Sections, s.Clients[i].Think = at, 1, 0
			return true
		}
	}
	return false
}
