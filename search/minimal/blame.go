package minimal

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Blame says whose promise a counterexample shows to be broken. It rests on runs: the minimal scenario is played with the
// reference lock ([locks.ReferenceOf]) in the place of the lock, and with more careful clients.
type Blame struct {
	Party     Party
	Reference string // the lock that was played in the place of the lock; "" if none was
	Text      string // what was seen, a clause for a reader
}

// Party is one of those whose promises a violation can break.
type Party uint8

// The parties.
const (
	// Unclear: the reference lock never came into the same situation, or there is none.
	Unclear Party = iota
	// ThisLock: the reference lock keeps the property in the same scenario.
	ThisLock
	// AnyLock: the reference lock violates the property in the same scenario, so any lock of this kind does.
	AnyLock
	// Server: so may the reference lock, since a server has broken its promise: it lost or ended early what it had granted.
	Server
	// Application: so may the reference lock, since the application has ignored the lease's stated deadline or a notice of
	// loss, or its way to the storage is disturbed.
	Application
)

var partyNames = []string{"unclear", "this-lock", "any-lock", "server", "application"}

// String returns the name that JSON documents use.
func (p Party) String() string { return partyNames[p] }

// Rank orders findings: what only this lock does comes first, what is not the lock's at all comes last.
func (b *Blame) Rank() int {
	return slices.Index([]Party{ThisLock, Unclear, AnyLock, Server, Application}, b.Party)
}

// Sentence says it in a line for a reader.
func (b *Blame) Sentence() string {
	return map[Party]string{
		Unclear: "not compared with a reference lock", ThisLock: "only this lock", AnyLock: "any lock of this kind",
		Server: "a server", Application: "the application",
	}[b.Party] + ": " + b.Text
}

// blame finds out whose promise the minimal scenario shows to be broken.
func (r *reducer) blame(c *Counterexample) Blame {
	if c.Property == checker.Survival {
		return Blame{Party: ThisLock, Text: "its own code ends the process"}
	}
	b := r.compared(c)
	switch {
	case r.ended() != nil:
		return Blame{Text: "the work was interrupted before that"}
	case b.Party == ThisLock:
	case r.seen.violation.Broken == checker.Server:
		b.Party, b.Text = Server, "it lost, evicted or ended early what it had granted"
	case r.ignoresDeadline():
		b.Party, b.Text = Application, "it continues past the stated deadline of its lease; clients that heed the deadline keep the property"
	case c.Property == checker.Resource && disturbsStorage(r.now):
		b.Party, b.Text = Application, "its way to the storage is disturbed, which no lock can see"
	case r.seen.violation.Broken == checker.Application:
		b.Party, b.Text = Application, "it continued after the deadline, or after a notice of loss, or its access was late on the way"
	}
	return b
}

// compared plays the scenario with the reference lock.
func (r *reducer) compared(c *Counterexample) Blame {
	lock := c.played()
	renewed := lock.Renews || lock.Extends && r.now.Lock.Renew > 0
	name := locks.ReferenceOf(&lock, renewed)
	if slices.Contains(c.form.causes, belated) && name == "set-nx-lua" && r.now.Servers.Replicas == 0 {
		name = "redlock" // on one server it does the same, and looks at the clock when the answer has come
	}
	switch {
	case c.OutOfTime() && lock.Lease && !renewed && r.lastsALease() && !r.states(func(a history.Acquisition) bool { return a.HasDeadline }):
		return Blame{Party: AnyLock, Text: "a lease ended while its holder continued, and leases of this kind state no deadline"}
	case name == "":
		return Blame{Text: "the catalogue has no lock of this kind that renews"}
	case name == lock.Name:
		return Blame{Party: AnyLock, Reference: name, Text: "it is the reference lock for these servers"}
	}
	reference, ok := locks.Find(name)
	if !ok {
		return Blame{Text: "the catalogue has no lock " + name}
	}
	t := &twin{judge: judge{runner: r.runner, sought: r.sought, ctx: r.ctx}, of: c.form}
	t.sought.Lock = &reference
	kept := t.compare(r.inPlaceOf(&reference), r.seen.result.History)
	r.runs += t.runs
	switch {
	case t.shares:
		return Blame{AnyLock, name, name + " violates it in the same scenario, too"}
	case kept == 0:
		return Blame{Unclear, name, name + " never came into the same situation"}
	}
	return Blame{ThisLock, name, fmt.Sprintf("%s keeps the property in the same scenario (%d of %d runs compared)", name, kept, t.runs)}
}

// inPlaceOf returns the scenario as it is played with the reference lock. Its clients are only as careful as the lock
// lets them be: where no deadline is stated nobody can heed one.
func (r *reducer) inPlaceOf(reference *locks.Algorithm) *scenarios.Scenario {
	s := clone(r.now)
	s.Lock.Algorithm, s.Lock.Library = reference.Name, ""
	deadline := r.states(func(a history.Acquisition) bool { return a.HasDeadline })
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

// lastsALease reports whether no grant ended before the scenario's lease was over. A lock that asks for less than it was
// told to is not excused by what happens to every lease.
func (r *reducer) lastsALease() bool {
	ttl := r.now.Lock.TTL
	return !slices.ContainsFunc(r.seen.result.History.Grants, func(g history.Grant) bool {
		return g.Ended == history.ByDeadline && g.To.Sub(g.From) < ttl-ttl/100
	})
}

// states reports whether the lock tells its holders something.
func (r *reducer) states(what func(history.Acquisition) bool) bool {
	return slices.ContainsFunc(r.seen.result.History.Acquisitions, what)
}

// twin plays scenarios with the reference lock in the place of the one that is accused.
type twin struct {
	judge
	of     form // of the counterexample
	shares bool // the reference lock violates the property for the same cause
}

// A minimal scenario's moments and numbers are only just right for the lock that it was made for: the next client asks a
// moment after the key is gone, a pause is as long as it takes. So that a reference lock is not said to keep what it
// keeps by a few milliseconds, it is played with several schedules, and with faults that last a little longer or come at
// the moments at which they came.
const comparedSeeds = 3

// compare returns in how many runs the reference lock kept the property, though every fault happened and the property was
// exposed. It stops at the first one in which it does not.
func (t *twin) compare(s *scenarios.Scenario, seen *history.History) (kept int) {
	ttl := s.Lock.TTL
	schedules := []func(*scenarios.Scenario){
		func(*scenarios.Scenario) {},
		pollOften,
		func(s *scenarios.Scenario) { pollOften(s); workFor(s, ttl/2) },
		func(s *scenarios.Scenario) { pollOften(s); workFor(s, ttl/100*95) },
	}
	faults := []func(*scenarios.Scenario){
		func(*scenarios.Scenario) {},
		func(s *scenarios.Scenario) { stretch(s, 100, 20*time.Millisecond) },
		func(s *scenarios.Scenario) { stretch(s, 10, 50*time.Millisecond) },
		func(s *scenarios.Scenario) { atTheirMoments(s, seen); stretch(s, 100, 20*time.Millisecond) },
	}
	for _, schedule := range schedules {
		for _, fault := range faults {
			for i := range uint64(comparedSeeds) {
				if t.shares || t.ended() != nil {
					return 0
				}
				changed := clone(s)
				schedule(changed)
				fault(changed)
				changed.Seed += i
				if t.keeps(changed) {
					kept++
				}
			}
		}
	}
	return kept
}

// keeps plays a scenario. It reports whether the run is evidence that the reference lock does not do the same.
func (t *twin) keeps(s *scenarios.Scenario) bool {
	seen := sighting{result: t.run(s)}
	if seen.result == nil {
		return false
	}
	report := &seen.result.Report
	for i := range report.Violations {
		v := &report.Violations[i]
		if v.Property != t.sought.Property || v.Property != checker.Resource && v.Kind != t.sought.Kind {
			continue
		}
		seen.violation = v
		if t.isSame(newCast(s, seen).causes()) {
			t.shares = true
			return false
		}
	}
	verdict := report.Verdicts[t.sought.Property]
	return seen.idle(s.Faults) == 0 && (verdict == checker.Held || verdict == checker.Violated)
}

// isSame reports whether a violation has a cause like that of the counterexample: where that is a mistake which a lock
// makes, the same mistake.
func (t *twin) isSame(causes []string) bool {
	return !slices.ContainsFunc(t.of.causes, func(cause string) bool {
		return slices.Contains(mistakes, cause) && !slices.Contains(causes, cause)
	})
}

// mistakes are the causes that speak of what a lock does, rather than of what happens to it.
var mistakes = []string{misrelease, belated, fewOutOfReach, unrecovered, orphan, splitVotes}

// pollOften has clients that poll for the lock ask again after a millisecond.
func pollOften(s *scenarios.Scenario) {
	for i := range s.Clients {
		s.Clients[i].Retry.Delay, s.Clients[i].Retry.Jitter = time.Millisecond, 0
	}
}

// workFor makes work last at least so long, if it is shorter than a lease.
func workFor(s *scenarios.Scenario, least time.Duration) {
	for i := range s.Clients {
		s.Clients[i].Work = max(s.Clients[i].Work, least)
	}
}

// stretch makes faults last longer and go further, by a part and some time; a clock's rate is wrong by a thousandth at
// least.
func stretch(s *scenarios.Scenario, part, more time.Duration) {
	const leastRate = 1_000
	longer := func(list ...*time.Duration) {
		for _, d := range list {
			switch {
			case *d > 0 && *d < locks.Forever/2:
				*d += *d/part + more
			case *d < 0:
				*d += *d/part - more
			}
		}
	}
	faster := func(rate *int64) {
		switch {
		case *rate > 0:
			*rate = max(leastRate, *rate+*rate/int64(part))
		case *rate < 0:
			*rate = min(-leastRate, *rate+*rate/int64(part))
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		longer(&f.For, &f.Action.By, &f.Action.Restart, &f.Action.Demote, &f.Action.Step)
		faster(&f.Action.Rate)
	}
	for i := range s.Clocks {
		longer(&s.Clocks[i].Offset)
		faster(&s.Clocks[i].Rate)
	}
}

// atTheirMoments has faults that do not concern a message act at the moments at which they acted.
func atTheirMoments(s *scenarios.Scenario, seen *history.History) {
	for i := range s.Faults {
		f := &s.Faults[i]
		for _, was := range seen.Faults {
			if was.Name == f.Name && was.Fired && !befallsMessage(f) {
				f.Trigger = sim.Trigger{When: sim.At, At: time.Duration(was.Begin)}
			}
		}
	}
}

// ignoresDeadline reports whether the violation is gone, with every fault as before, if clients heed the deadline that
// the lease states.
func (r *reducer) ignoresDeadline() bool {
	stated := r.states(func(a history.Acquisition) bool { return a.HasDeadline })
	if p := r.sought.Property; !stated || p != checker.MutualExclusion && p != checker.Resource {
		return false
	}
	s := clone(r.now)
	s.Styles = []history.Style{history.Careful}
	for i := range s.Clients {
		s.Clients[i].Style = nil
	}
	result := r.run(s)
	if result == nil {
		return false
	}
	seen := sighting{result: result}
	verdict := result.Report.Verdicts[r.sought.Property]
	return seen.idle(s.Faults) == 0 && (verdict == checker.Held || verdict == checker.Vacuous)
}

// disturbsStorage reports whether a fault holds up what travels between a client and the storage.
func disturbsStorage(s *scenarios.Scenario) bool {
	has := func(list []string) bool { return slices.Contains(list, scenarios.Storage) }
	return slices.ContainsFunc(s.Faults, func(f sim.Fault) bool {
		at := f.Trigger.Step
		return has(f.Action.Link.From) || has(f.Action.Link.To) || f.Action.Node == scenarios.Storage ||
			befallsMessage(&f) && (at.Peer == scenarios.Storage || at.Node == scenarios.Storage)
	})
}
