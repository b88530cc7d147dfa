package minimal

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// compared plays the scenario with the reference lock.
func (r *reducer) compared(c *Counterexample) Blame {
	lock := c.played()
	renewed := lock.Renews || lock.Extends && r.now.Lock.Renew > 0
	stale, gaveUp := slices.Contains(c.form.causes, belated), slices.Contains(c.form.causes, givesUp)
	name := locks.ReferenceOf(&lock, renewed || gaveUp) // one that keeps what it holds
	if text := r.misstates(); text != "" {
		return Blame{Party: ThisLock, Text: text}
	}
	states := r.states(deadline)
	if (stale || states) && name == "set-nx-lua" && r.now.Servers.Replicas == 0 {
		name = "redlock" // on one server it does the same, states a deadline, and looks at the clock when the answer has come
	}
	if name == "k8s-lease" && !lock.Lingers && (timed(c.Property) || c.Property == checker.Leak) {
		name = "k8s-release-on-cancel" // which gives back what it held
	}
	switch {
	case !stale && !gaveUp && (c.OutOfTime() || c.Property == checker.Resource && r.writesLate()) && lock.Lease && !renewed && lock.Authority != locks.Majority && r.lastsALease() && !states && !r.isNeverGranted():
		return Blame{Party: AnyLock, Text: "a " + cmp.Or(c.form.holds, "lease") + " ended while its holder continued, and locks of this kind state no deadline"}
	case name == "":
		return Blame{Text: "the catalogue has no reference lock of this kind"}
	case name == lock.Name:
		return Blame{Party: AnyLock, Reference: name, Text: "it is the reference lock for these servers"}
	}
	reference, ok := locks.Catalogue().Find(name)
	if !ok {
		return Blame{Text: "the catalogue has no lock " + name}
	}
	t := &twin{judge: judge{runner: r.runner, sought: r.sought, most: Options{Context: r.most.Context, Forgives: r.most.Forgives}}, of: c.form, already: r.seen.result.Report.Verdicts}
	t.inUse = timed(c.Property) && r.isInUse()
	if ids := r.seen.violation.Acquisitions; lock.Program != nil && len(ids) > 0 {
		t.behind = r.seen.result.History.Acquisition(ids[0]).Client
	}
	if ids := r.seen.violation.Acquisitions; c.Property == checker.ReleaseSafety && len(ids) > 1 {
		t.released = r.seen.result.History.Acquisition(ids[1]).Client
	}
	if lock.Authority == locks.Majority && r.seen.violation.Broken == checker.Server {
		t.apart = r.withoutKey()
	}
	t.sought.Options = harness.Options{Instead: &reference}
	s := r.inPlaceOf(&reference, states || lock.Authority == locks.Majority)
	switch {
	case !renewed:
		s.Lock.Renew = 0
	case s.Lock.Renew == 0:
		s.Lock.Renew = r.renewsAfter()
	}
	kept, where := t.compare(s, r.seen.result.History), "in the same scenario"
	for _, to := range nearer {
		if kept == 0 && !t.shares && t.instead == "" && to.change(s, r.seen.result.History) {
			kept, where = t.compare(s, r.seen.result.History), to.where
		}
	}
	r.runs += t.runs
	switch {
	case t.shares && t.deaf && c.Property == checker.SilentLoss && r.states(tells):
		return Untold(name)
	case t.shares && reference.Deadline == locks.NoClock && r.heedsDeadline():
		return Blame{Reference: name, Text: name + " violates it " + where + ", too, but states no deadline that its holders could heed"}
	case t.shares:
		return Blame{Party: AnyLock, Reference: name, Text: name + " violates it " + where + ", too", Deaf: t.deaf}
	case kept == 0 && t.instead != "":
		return Blame{Reference: name, Text: name + " violates " + t.instead + " " + where + " instead"}
	case kept == 0:
		return Blame{Reference: name, Text: name + " never came into the same situation"}
	}
	text := fmt.Sprintf("%s keeps the property %s (runs compared: %d)", name, where, kept)
	return Blame{Party: ThisLock, Reference: name, Text: text}
}

// misstates says what a lease tells its holder that is not so; "" if nothing is known to be.
func (r *reducer) misstates() string {
	switch {
	case r.tellsNothing():
		return "it states a notice of loss, and gives none for a lease and longer"
	case r.statesTooMuch():
		return statedLater
	}
	return r.statesUnits()
}

const statedLater = "it states a deadline that is later than the end of what it was granted"

// heedsDeadline reports whether a participant stops at the deadline that its lock states.
func (r *reducer) heedsDeadline() bool {
	return slices.ContainsFunc(r.seen.participants(), func(a *history.Acquisition) bool { return a.HasDeadline && a.Style == history.Careful })
}

// tellsNothing reports whether a participant that heeds notices of loss, which its lock states, was given none, a lease after it had lost
// the lock and all faults were over.
func (r *reducer) tellsNothing() bool {
	h, v := r.seen.result.History, r.seen.violation
	by := v.At.Add(-r.now.Lock.TTL)
	acts := func(f history.Fault) bool { return f.Fired && by < f.End && !f.Sets }
	return !slices.ContainsFunc(h.Faults, acts) && slices.ContainsFunc(v.Acquisitions, func(id history.ID) bool {
		a := h.Acquisition(id)
		b, ok := a.Belief()
		return ok && a.CanLearn && a.Style != history.Careless && b.From <= v.At && v.At <= b.To && 0 <= grantedUntil(h, id) && grantedUntil(h, id) <= by
	})
}

// statesTooMuch reports whether a participant that heeds deadlines was stated one after its grant's end, though all clocks are right.
func (r *reducer) statesTooMuch() bool {
	h, v := r.seen.result.History, r.seen.violation
	wrong := func(f sim.Fault) bool { return f.Action.Kind == sim.SetClock }
	if v.Broken == checker.Server || len(r.now.Clocks) > 0 || slices.ContainsFunc(r.now.Faults, wrong) {
		return false
	}
	return slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
		a := h.Acquisition(g.Acquisition)
		return a != nil && slices.Contains(v.Acquisitions, a.ID) && a.Style == history.Careful && a.HasDeadline &&
			g.Ended == history.ByDeadline && g.To == grantedUntil(h, a.ID) && g.To <= v.At && v.At < a.Deadline
	})
}

// statesUnits says what is wrong of the deadline of a participant that heeds deadlines, if a server ended its entry before that, and early by no
// more than servers of the kind may, though all clocks are right; "" if nothing is known to be.
func (r *reducer) statesUnits() (text string) {
	h, v, early := r.seen.result.History, r.seen.violation, r.now.Servers.Facts().Early
	wrong := func(f sim.Fault) bool { return f.Action.Kind == sim.SetClock }
	if early == 0 || len(r.now.Clocks) > 0 || slices.ContainsFunc(r.now.Faults, wrong) {
		return ""
	}
	for i := range h.Copies {
		c := &h.Copies[i]
		a, until := h.Acquisition(c.Acquisition), grantedUntil(h, c.Acquisition)
		switch {
		case a == nil || !slices.Contains(v.Acquisitions, a.ID) || a.Style != history.Careful || !a.HasDeadline:
		case c.Gone != history.Expired || c.To > v.At || v.At >= a.Deadline || until.Sub(c.To) > early:
		case a.Deadline > until:
			return statedLater
		default:
			text = "it states a deadline that does not allow for the units in which its server counts a time to live"
		}
	}
	return text
}

// isNeverGranted reports whether a participant believes to hold what it was never granted.
func (r *reducer) isNeverGranted() bool {
	return slices.ContainsFunc(r.seen.violation.Acquisitions, func(id history.ID) bool {
		_, believes := r.seen.result.History.Acquisition(id).Belief()
		return believes && grantedUntil(r.seen.result.History, id) < 0
	})
}

// withoutKey is the link between the first participant and the servers on which it had no key.
func (r *reducer) withoutKey() (l sim.Link) {
	list := r.seen.participants()
	if len(list) == 0 {
		return l
	}
	first := list[0]
	for _, name := range r.now.Servers.Names() {
		has := func(k history.Copy) bool { return k.Acquisition == first.ID && k.Node == name }
		if !slices.ContainsFunc(r.seen.result.History.Copies, has) {
			l.From, l.To = []string{first.Client}, append(l.To, name)
		}
	}
	return l
}

// isHeldThroughout reports whether one client has held the lock, and believed so, for as long as nobody else was let in.
func (r *reducer) isHeldThroughout() bool {
	return r.isInUse() && !slices.ContainsFunc(r.now.Faults, func(f sim.Fault) bool { return f.Action.Kind != sim.Crash })
}

// isInUse reports whether, at the moment of the violation, a client that believes to hold the lock has held it all the while: one whose
// hold has ended, and that has put its key back, keeps others from what is theirs.
func (r *reducer) isInUse() bool {
	h, at := r.seen.result.History, r.seen.violation.At
	return slices.ContainsFunc(h.Beliefs(), func(b history.Belief) bool {
		until := b.From
		for _, c := range h.Copies { // a renewal may put a new one in the place of the last
			if c.Acquisition == b.Acquisition.ID && c.From <= until {
				until = max(until, c.To)
			}
		}
		return b.From <= at && at < b.To && at < until
	})
}

// inPlaceOf returns the scenario as it is played with the reference lock. Its clients are only as careful as the lock
// lets them be: no client can heed a deadline where locks of this kind state none.
func (r *reducer) inPlaceOf(reference *locks.Algorithm, deadline bool) *scenarios.Scenario {
	s := parameter.Clone(r.now)
	s.Lock.Algorithm, s.Lock.Library = reference.Name, ""
	connected := false
	for i := range s.Clients {
		s.Clients[i].Lock.Algorithm, s.Clients[i].Lock.Renew = "", 0
		connected = unset(&s.Clients[i].Connected) || connected
	}
	if connected { // which locks of the catalogue cannot be: they open their connections when they first need them
		comeInOrder(s, r.seen.result.History)
	}
	learns := r.states(func(a history.Acquisition) bool { return a.CanLearn })
	able := func(style history.Style) history.Style {
		switch {
		case style == history.Careful && deadline, style == history.Careless:
			return style
		case learns:
			return history.Attentive
		}
		return history.Careless
	}
	s.Styles = []history.Style{able(s.Styles[0])}
	for i := range s.Clients {
		if style := s.Clients[i].Style; style != nil {
			own := able(*style)
			s.Clients[i].Style = &own
		}
	}
	return s
}

// renewsAfter is how long after an acquisition the accused lock sends its first renewal, so that the reference lock renews as
// often; 0 if it sends none.
func (r *reducer) renewsAfter() time.Duration {
	plan, err := harness.Compile(r.now.Cases()[0], r.sought.Options)
	if err != nil {
		return 0
	}
	result, err := r.runner.Run(plan, r.now.Seed, true)
	if err != nil {
		return 0
	}
	r.runs++
	least, acquired := time.Duration(0), map[string]trace.Instant{}
	for _, e := range result.Events {
		since, holds := acquired[e.Node]
		switch {
		case e.Does == trace.Acquired:
			acquired[e.Node] = e.At
		case e.Does == trace.Send && e.Alt == trace.ToRenew && holds:
			if after := e.At.Sub(since); least == 0 || after < least {
				least = after
			}
			delete(acquired, e.Node)
		}
	}
	return min(least, r.now.Lock.TTL*9/10).Truncate(time.Millisecond)
}

// lastsALease reports whether no grant ended before the scenario's lease was over. A lock that asks for less than it was
// told to is not excused by what happens to every lease.
func (r *reducer) lastsALease() bool {
	ttl := r.now.Lock.TTL
	return !slices.ContainsFunc(r.seen.result.History.Grants, func(g history.Grant) bool {
		return g.Ended == history.ByDeadline && g.To.Sub(g.From) < ttl-ttl/100
	})
}
