package ingest

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Bounds of what is remembered of one lock.
const (
	checkedAtOnce  = 128  // acquisitions that are gathered before those that are over are checked and forgotten
	mostHolds      = 2048 // acquisitions of which none is over, or which last until the end of another one
	mostOccasions  = 32   // pauses and notes of a client
	mostAccessesOf = 1024 // of one acquisition
)

// hold is an acquisition, and what its client did with it.
type hold struct {
	a        history.Acquisition // its moments are those of the log
	accesses []history.Access
	key      string
	at       Position
	open     bool  // the log has not told of its end
	gone     bool  // it has been checked and forgotten; a late access brings it back
	of       *hold // of a resource that several locks guard: the acquisition of one of them; nil otherwise
}

// goes reports whether more may come of it.
func (h *hold) goes() bool { return h.open || h.of != nil && h.of.open }

// end is when it was over by the log's times, as far as is known.
func (h *hold) end() trace.Instant {
	last := max(h.a.Returned, h.a.Seen)
	if b, ok := h.a.Belief(); ok && b.To != trace.Never {
		last = max(last, b.To)
	}
	if h.a.Released != trace.Never {
		last = max(last, h.a.Released)
	}
	for i := range h.accesses {
		x := &h.accesses[i]
		last = max(last, x.Invoked)
		if x.Applied != trace.Never {
			last = max(last, x.Applied)
		}
		if x.Returned != trace.Never {
			last = max(last, x.Returned)
		}
	}
	return last
}

// lock is what is remembered of one lock.
type lock struct {
	name      string
	holds     []*hold // in the order of their lines
	current   map[string]*hold
	calls     map[string]call // of Lock that have not returned
	registers map[string]int
	floor     map[int]uint64 // the version of a register before those of the holds
	largest   *hold          // the largest token of what has been forgotten
	next      int            // when to look again whether enough is over
	unlock    time.Duration  // how long Unlock may take
	overfull  bool           // acquisitions were forgotten that were not over
	resource  bool           // it is no lock, but a resource that several guard
}

// call is a call of Lock.
type call struct {
	client string
	at     trace.Instant
	off    time.Duration // uncertainty of its time
}

func newLock(name string) *lock {
	return &lock{
		name: name, current: map[string]*hold{}, calls: map[string]call{}, registers: map[string]int{}, floor: map[int]uint64{},
	}
}

// take takes an event; it returns the acquisition that it belongs to, nil if none is known.
func (l *lock) take(e *Event) *hold {
	key := e.Client
	if e.ID != "" {
		key += "\x00" + e.ID
	}
	switch e.Kind {
	case Acquire:
		if _, waits := l.calls[key]; !waits {
			l.calls[key] = call{e.Client, e.At, e.Off}
		}
		return nil
	case Acquired:
		return l.begin(key, e, history.OK)
	case Failed:
		return l.begin(key, e, history.Failed)
	default: // of an acquisition that there is
	}
	h := l.current[key]
	if h == nil && (e.Kind == Holds || e.Kind == Renewed) { // the log begins after its acquisition
		h = l.begin(key, e, history.OK)
	}
	if h == nil {
		return nil
	}
	l.revive(h)
	h.take(l, e)
	return h
}

// share notes an access to a resource that several locks guard, by an acquisition of one of them.
func (l *lock) share(by *hold, e *Event) {
	key := e.Lock + "\x00" + by.key
	h := l.current[key]
	if h == nil || h.of != by {
		h = &hold{key: key, at: by.at, of: by, a: by.a}
		h.a.Lock = e.Lock
		l.holds, l.current[key] = append(l.holds, h), h
	}
	l.revive(h)
	h.a.Uncertainty = max(h.a.Uncertainty, e.Off)
	h.access(l, e)
}

// begin notes what a call of Lock came to.
func (l *lock) begin(key string, e *Event, outcome history.Outcome) *hold {
	h := &hold{key: key, at: e.Position, open: outcome == history.OK}
	h.a = history.Acquisition{
		Client: e.Client, Style: history.Attentive, CanLearn: true, Invoked: e.At, Unasked: true, Returned: e.At, Outcome: outcome, Value: e.ID,
		Token: e.Token, Uncertainty: e.Off, Seen: e.At, Latest: trace.Never,
		Noticed: trace.Never, Unlocked: trace.Never, Crashed: trace.Never, Ended: trace.Never, Released: trace.Never,
	}
	if called, ok := l.calls[key]; ok {
		h.a.Invoked, h.a.Unasked = called.at, false
		delete(l.calls, key)
	}
	if e.Until >= 0 {
		h.a.HasDeadline, h.a.Deadline = true, e.Until
	}
	if outcome == history.OK {
		if before := l.current[key]; before != nil && before.open {
			before.a.Unended, before.a.Latest, before.open = true, h.a.Invoked, false
		}
		l.current[key] = h
	}
	l.holds = append(l.holds, h)
	return h
}

// revive remembers an acquisition again.
func (l *lock) revive(h *hold) {
	if h.gone {
		h.gone = false
		h.accesses = nil
		l.holds = append([]*hold{h}, l.holds...)
	}
}

// take notes what the client of an acquisition did.
func (h *hold) take(l *lock, e *Event) {
	a := &h.a
	a.Uncertainty = max(a.Uncertainty, e.Off)
	switch e.Kind {
	case Renewed, Holds:
		if h.open {
			a.Seen = max(a.Seen, e.At)
		}
		if e.Until >= 0 {
			a.HasDeadline, a.Deadline = true, e.Until
		}
	case Lost:
		a.Noticed, h.open = min(a.Noticed, e.At), false
	case Release:
		a.Unlocked, h.open = min(a.Unlocked, e.At), false
	case Released:
		if a.Unlocked == trace.Never && h.open {
			a.Vague, a.Seen = true, max(a.Seen, e.At.Add(-l.unlock))
		}
		a.Unlocked, a.Released, h.open = min(a.Unlocked, e.At), e.At, false
		a.Release = [...]history.Outcome{Accepted: history.OK, Denied: history.Failed, Unknown: history.Unknown}[e.Outcome]
	case Crashed:
		a.Crashed, h.open = min(a.Crashed, e.At), false
	case Read, Check, Write, Refused:
		h.access(l, e)
	default: // take and the judge have noted them
	}
}

// access notes an access. A lock hears of one to a resource that it guards with others only that its client held it then.
func (h *hold) access(l *lock, e *Event) {
	x := history.Access{
		Client: e.Client, Op: [...]history.Op{Read: history.Read, Check: history.Check, Write: history.Write}[e.Kind], Register: l.register(e.Register),
		Invoked: e.At, Applied: e.At, Returned: e.At, Accepted: e.Outcome == Accepted, Token: e.Token, Version: e.Version,
	}
	if x.Token == 0 {
		x.Token = h.a.Token
	}
	switch {
	case e.Called >= 0:
		x.Invoked = e.Called
	case e.Outcome == Unknown:
	}
	if x.Returned = e.At; e.Answered >= 0 {
		x.Returned = e.Answered
	}
	if e.Outcome == Unknown {
		x.Applied, x.Accepted = trace.Never, false
		if e.Answered < 0 {
			x.Returned = trace.Never
		}
	}
	if h.open {
		h.a.Seen = max(h.a.Seen, x.Invoked)
	}
	if e.Resource != "" && !l.resource {
		return
	}
	if happens := x.Accepted && x.Op != history.Check; happens && !e.Counted {
		x.Version = history.NoVersion
	} else if _, known := l.floor[x.Register]; happens && !known {
		if l.floor[x.Register] = 0; x.Op == history.Read {
			l.floor[x.Register] = x.Version // what was there before the log began
		}
	}
	if len(h.accesses) == mostAccessesOf {
		h.accesses, l.overfull = h.accesses[1:], true
	}
	h.accesses = append(h.accesses, x)
}

// register numbers the registers of a lock.
func (l *lock) register(name string) int {
	n, ok := l.registers[name]
	if !ok {
		n = len(l.registers)
		l.registers[name] = n
	}
	return n
}

// over lists the acquisitions that nothing later can overlap any more: they ended before all that are not over began. Those of one
// client that overlap, as of a lock that it entered twice, stay together.
func (l *lock) over(now trace.Instant, widest time.Duration) []*hold {
	before := now
	for _, h := range l.holds {
		if h.goes() {
			before = min(before, h.a.Returned)
		}
	}
	var list, kept []*hold
	for _, h := range l.holds {
		if !h.goes() && h.end().Add(h.a.Uncertainty+widest) < before {
			list = append(list, h)
		} else {
			kept = append(kept, h)
		}
	}
	for again := true; again; {
		again = false
		first := map[string]trace.Instant{} // when the first of a client's that stay began
		for _, h := range kept {
			if at, ok := first[h.a.Client]; !ok || h.a.Returned < at {
				first[h.a.Client] = h.a.Returned
			}
		}
		list = slices.DeleteFunc(list, func(h *hold) bool {
			at, ok := first[h.a.Client]
			if ok = ok && at <= h.end(); ok {
				kept, again = append(kept, h), true
			}
			return ok
		})
	}
	return list
}

// forget removes acquisitions, and keeps what later ones need of them.
func (l *lock) forget(list []*hold) {
	newest := map[int]trace.Instant{}
	for _, h := range list {
		h.gone = true
		if h.a.Outcome == history.OK && h.a.Token > 0 && (l.largest == nil || h.a.Token > l.largest.a.Token) {
			l.largest = h
		}
		for i := range h.accesses {
			x := &h.accesses[i]
			if at, seen := newest[x.Register]; x.Accepted && x.Op == history.Write && x.Applied != trace.Never && (!seen || x.Applied >= at) {
				newest[x.Register], l.floor[x.Register] = x.Applied, x.Version
			}
		}
	}
	l.holds = slices.DeleteFunc(l.holds, func(h *hold) bool { return h.gone })
	for _, h := range list {
		if !h.goes() && l.current[h.key] == h {
			if h.a.Value != "" {
				delete(l.current, h.key)
			}
			h.accesses = nil
		}
	}
}
