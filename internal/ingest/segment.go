package ingest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// segment is a part of what a log tells of one lock, as a history.
type segment struct {
	lock    *lock
	holds   []*hold // holds[i] is the acquisition i+1
	origin  trace.Instant
	history *history.History
	report  checker.Report
}

// newSegment makes a history of acquisitions, with moments since an origin. Its end is the last moment of these.
func newSegment(l *lock, holds []*hold, origin trace.Instant) *segment {
	s := &segment{lock: l, holds: holds, origin: origin}
	h := &history.History{Logged: true, Registers: max(len(l.registers), 1)}
	s.history = h
	written := map[[2]uint64]bool{}
	for _, hold := range holds {
		for i := range hold.accesses {
			if x := &hold.accesses[i]; x.Op == history.Write && x.Accepted {
				written[[2]uint64{uint64(x.Register), x.Version}] = true
			}
		}
	}
	for i, hold := range holds {
		a, open := hold.a, hold.goes()
		if hold.of != nil {
			a = hold.of.a
			a.Lock, a.Uncertainty = hold.a.Lock, max(a.Uncertainty, hold.a.Uncertainty)
		}
		a.ID = history.ID(i + 1)
		if open {
			a.Unended, a.Latest = true, s.latest(hold)
		}
		for _, at := range []*trace.Instant{&a.Invoked, &a.Returned, &a.Seen, &a.Latest, &a.Noticed, &a.Unlocked, &a.Crashed, &a.Released, &a.Deadline} {
			*at = since(*at, origin)
		}
		if !a.HasDeadline {
			a.Deadline = 0
		}
		h.HasTokens = h.HasTokens || a.Token > 0
		h.End = max(h.End, since(hold.end(), origin))
		if b, ok := a.Belief(); ok && b.To != trace.Never {
			h.End = max(h.End, b.To)
		}
		if !a.Unasked && a.Outcome == history.OK {
			h.Waits = append(h.Waits, history.Wait{Client: a.Client, From: a.Invoked, To: a.Returned, Ended: history.GotIt})
		}
		h.Acquisitions = append(h.Acquisitions, a)
		for _, x := range hold.accesses {
			x.Acquisition = a.ID
			x.Invoked, x.Applied, x.Returned = since(x.Invoked, origin), since(x.Applied, origin), since(x.Returned, origin)
			if floor := l.floor[x.Register]; x.Op == history.Read && x.Version == floor && !written[[2]uint64{uint64(x.Register), floor}] {
				x.Version = 0 // what was there before
			}
			h.Accesses = append(h.Accesses, x)
		}
	}
	slices.SortStableFunc(h.Accesses, func(a, b history.Access) int { return cmp.Compare(a.Invoked, b.Invoked) })
	return s
}

// onlyResource leaves of what was found what is of the resource: the locks are judged by themselves.
func (s *segment) onlyResource() {
	r := checker.Report{}
	r.Verdicts[checker.Resource], r.Reasons[checker.Resource] = s.report.Verdicts[checker.Resource], s.report.Reasons[checker.Resource]
	for i := range s.report.Violations {
		if v := &s.report.Violations[i]; v.Property == checker.Resource {
			r.Violations = append(r.Violations, *v)
		}
	}
	s.report = r
}

// asked reports whether a call of Lock that has not returned was made while another client held the lock for certain, whatever
// the clocks were: where all wait in vain until the log ends, no other line shows that anybody asked.
func (s *segment) asked() bool {
	for _, c := range s.lock.calls {
		at := since(c.at, s.origin)
		for i := range s.history.Acquisitions {
			a := &s.history.Acquisitions[i]
			b, ok := a.Belief()
			if !ok || a.Client == c.client {
				continue
			}
			to := b.To
			if a.Unended || a.Vague {
				to = a.Seen
			}
			if doubt := c.off + a.Uncertainty; a.Returned.Add(doubt) <= at && at.Add(doubt) < to {
				return true
			}
		}
	}
	return false
}

// since rebases a moment.
func since(at, origin trace.Instant) trace.Instant {
	if at == trace.Never {
		return at
	}
	return max(at-origin, 0)
}

// latest is by when an acquisition without an end was over. Whether its client still believed when the next one acquired the lock is
// one question; that it may have gone on after that adds nothing.
func (s *segment) latest(h *hold) trace.Instant {
	end := trace.Never
	for _, o := range s.holds {
		if o.a.Client != h.a.Client && o.a.Outcome == history.OK && o.a.Returned > h.a.Seen {
			end = min(end, o.a.Returned+1)
		}
	}
	if h.a.HasDeadline {
		end = min(end, max(h.a.Deadline, h.a.Seen))
	}
	return end
}

type staleness uint8

const (
	notStale staleness = iota
	possibly
	certainly
)

// stale says whether a write came after another client had acquired the lock later than its own did.
func (s *segment) stale(x *history.Access) staleness {
	own := s.history.Acquisition(x.Acquisition)
	found := notStale
	for i := range s.history.Acquisitions {
		a := &s.history.Acquisitions[i]
		if a.Client == own.Client || a.Outcome != history.OK || a.Returned <= own.Returned {
			continue
		}
		doubt := own.Uncertainty + a.Uncertainty
		switch after := x.Applied.Sub(a.Returned); {
		case after > doubt && a.Returned.Sub(own.Returned) > doubt:
			return certainly
		case after > -doubt:
			found = possibly
		}
	}
	if s.outOfOrder(x) {
		return certainly
	}
	return found
}

// outOfOrder reports whether the resource accepted a write with a smaller token than that of a write that it had accepted before, by its
// own versions.
func (s *segment) outOfOrder(x *history.Access) bool {
	return x.Token > 0 && x.Version != history.NoVersion && slices.ContainsFunc(s.history.Accesses, func(o history.Access) bool {
		return o.Op == history.Write && o.Accepted && o.Register == x.Register && o.Version != history.NoVersion && o.Version < x.Version && o.Token > x.Token
	})
}

// staleWrites looks for accepted writes of holders that another one had followed. With versions the resource's own order of tokens
// says so, and needs no clock.
func (s *segment) staleWrites(concerns func(...history.ID) bool) (certain, possible int) {
	for i := range s.history.Accesses {
		x := &s.history.Accesses[i]
		if x.Op != history.Write || !x.Accepted || !concerns(x.Acquisition) {
			continue
		}
		switch s.stale(x) {
		case certainly:
			certain++
		case possibly:
			possible++
		case notStale:
		}
	}
	if r := &s.report; certain+possible > 0 && r.Verdicts[checker.Resource] == checker.NotJudged {
		r.Verdicts[checker.Resource] = checker.Undecided
		word := "was"
		if certain == 0 {
			word = "may have been"
		}
		r.Reasons[checker.Resource] = "a write " + word + " accepted after another client had acquired the lock, and the log states no versions: whether an update was lost it does not show"
	}
	return certain, possible
}

// mostDrawn is how many acquisitions the picture of a case is made of.
const mostDrawn = 10

// caseOf makes a history of what surrounds a finding.
func (j *Judge) caseOf(s *segment, f Finding, ids []history.ID) *Case {
	from, to := trace.Never, trace.Instant(0)
	taking := map[*hold]bool{}
	for _, id := range ids {
		h := s.holds[id-1]
		taking[h] = true
		from, to = min(from, h.a.Returned), max(to, h.end())
	}
	room := mostDrawn - len(taking)
	var around []*hold
	for _, h := range s.holds {
		near := h.a.Outcome == history.OK && h.a.Returned <= to && h.end() >= from
		if taking[h] || near && room > 0 {
			if !taking[h] {
				room--
			}
			around = append(around, h)
		}
	}
	origin := trace.Instant(0)
	if from > 1e9 {
		origin = from - from%1e9
	}
	drawn := newSegment(s.lock, around, origin)
	drawn.report = j.check.Check(drawn.history, checker.Options{})
	j.resource(drawn)
	if !s.lock.resource {
		drawn.staleWrites(func(...history.ID) bool { return true })
	}
	c := &Case{Finding: f, Origin: origin, History: drawn.history, Report: drawn.report}
	for register := range c.History.Registers {
		c.Before = append(c.Before, s.lock.floor[register])
	}
	j.asidesOf(c, from, to)
	return c
}

// asidesOf adds the pauses and notes of the clients of a case.
func (j *Judge) asidesOf(c *Case, from, to trace.Instant) {
	h := c.History
	clients := map[string]bool{}
	for i := range h.Acquisitions {
		name := h.Acquisitions[i].Client
		if clients[name] {
			continue
		}
		clients[name] = true
		for _, a := range j.asides[name] {
			end := a.at.Add(a.span)
			if end < from || a.at > to {
				continue
			}
			at := since(a.at, c.Origin)
			if a.kind != Paused {
				h.Notes = append(h.Notes, history.Note{Node: name, At: at, Text: cmp.Or(a.text, "has a note without text")})
				continue
			}
			h.Faults = append(h.Faults, history.Fault{
				Name: fmt.Sprintf("pause %d", len(h.Faults)+1), Text: "pause " + name, Fired: true, Begin: at, End: since(end, c.Origin),
			})
			c.Pauses = append(c.Pauses, name)
			h.End = max(h.End, at)
		}
	}
}
