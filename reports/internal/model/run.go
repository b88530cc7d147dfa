// Package model is a run as reports look at it. A [Run] is what was played and found; a [View] is the part of it that a
// picture shows, with what can be worked out from its history and its trace: who believed when, who led, which message is a
// reply to which, which fault held it up. It says nothing in sentences.
package model

import (
	"iter"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Run is one run of one case of a scenario, and what was found of it.
type Run struct {
	Case     scenarios.Case
	File     string        // the file that the scenario was read from; "" if it is a named one
	Beside   string        // what was changed in it, to be drawn beside the runs before it; "": nothing
	Lock     string        // the lock's name; the scenario's, unless another was put in its place
	Program  bool          // the lock is that of a program of the operating system, which no seed makes do the same again
	Real     string        // the real servers that it was played on, with their version; "" if they were simulated
	Late     time.Duration // then, by how much something came late that was to happen at a moment
	Seed     uint64
	Digest   uint64
	Steps    int
	Messages int
	Virtual  trace.Instant // when the run ended, in virtual time
	History  *history.History
	Events   []trace.Event // nil unless the trace was kept
	Report   checker.Report
	// Needs says in sentences how much of what happened is needed for what the run violates, as far as that is known.
	Needs []string
	// Causes are the conditions without which the run does not violate a property, as far as it was played without them.
	// An explanation gives no other conditions as reasons.
	Causes []checker.Cause
	// Needless are the faults, and the nodes with wrong clocks, without which the run violates the same at the same time, as far as it
	// was played without them: explanations leave them out.
	Needless []string
	// Margins say by how much properties held: of each property the smallest changes of the scenario's lengths that violate it, the
	// smallest in relation to its length first.
	Margins []Margin
	// Fate says when the gravest violation could no longer be prevented by chance; nil if that is not known.
	Fate *Fate
	// Log says of a history from logs what takes the place of a scenario's settings; nil of a run.
	Log *Log
}

// Log is what there is to say of logs from which a history is known.
type Log struct {
	Heading []string // the lock, the clients, where moment 0 is
	Assumes []string // clauses of one sentence
	Command []string // the words of the command that judges them again
	Before  []uint64 // of each register the version that was there before, which the history calls 0
}

// InDoubt reports whether it is not known if two believed at once.
func (r *Run) InDoubt() bool {
	return r.Log != nil && r.Report.Verdicts[checker.MutualExclusion] == checker.Undecided
}

// Fate says of a violation when nothing that is drawn at random could prevent it any more, and what would have.
type Fate struct {
	Property checker.Property
	// Start says that runs with other seeds violate the property too, Played of them. Otherwise all futures from From on do; Played is 0
	// if that is To, the moment of the violation itself.
	Start    bool
	From, To trace.Instant
	Played   int
	// Before is a moment before From, -1 if it is the beginning. Of Others futures from there Kept do not violate the property.
	Before       trace.Instant
	Others, Kept int
	// Defences are changes with which the property holds; Tried says that no others that were to be tried are missing.
	Defences []Defence
	Tried    bool
}

// Defence is a change of the scenario with which a property holds in all of some runs that is violated without it.
type Defence struct {
	What string        // "attentive clients", "a lease"
	Size time.Duration // of a lease, or the time between renewals; else 0
	Runs int
	// Averts says that the property is not even exposed with it.
	Averts bool
}

// Margin is a change of one length of the scenario that violates a property which held without it.
type Margin struct {
	Property checker.Property
	What     string        // "pause of a", "lease"
	From, To time.Duration // what it is, or 0 if it is drawn, and the closest to that with which the property is violated
	Kept     time.Duration // the farthest towards To with which it still holds
	Story    string        // how it comes to that; "" if it is not told
	// Over is not 0 if there is no such change: lengths were changed by up to so much.
	Over time.Duration
}

// By is the size of the change.
func (m *Margin) By() time.Duration { return max(m.To-m.From, m.From-m.To) }

// IsNear reports whether the change is at most a tenth of what is changed: then the run is a near miss.
func (m *Margin) IsNear() bool { return m.Over == 0 && 10*m.By() <= m.From }

// Margin is the smallest change that violates a property that held, or says that there is none; nil if nothing is known.
func (r *Run) Margin(p checker.Property) *Margin {
	for i := range r.Margins {
		if r.Margins[i].Property == p {
			return &r.Margins[i]
		}
	}
	return nil
}

// NearMiss reports whether a property held in a run, but only just: the run would violate it if one length were up to a tenth
// longer or shorter.
func (r *Run) NearMiss(p checker.Property) bool {
	m := r.Margin(p)
	return m != nil && m.IsNear()
}

// Status sums up how the verdicts of a run compare with what its scenario expects.
type Status uint8

// The statuses, in order of weight.
const (
	AsExpected   Status = iota
	Inconclusive        // a verdict is unknown, whatever was expected, or vacuous where something else was
	Unexpected          // a verdict differs, a measured value is out of its bounds, or a fault never happened
)

// BySchedule cuts a list of runs into those that follow one another and differ in the fencing mode alone, and those that are to stand
// beside them.
func BySchedule(runs []Run) iter.Seq[[]Run] {
	return func(yield func([]Run) bool) {
		for len(runs) > 0 {
			n := 1
			for n < len(runs) && sameSchedule(&runs[0], &runs[n]) {
				n++
			}
			if !yield(runs[:n:n]) {
				return
			}
			runs = runs[n:]
		}
	}
}

func sameSchedule(a, b *Run) bool {
	return b.Beside != "" || a.Case.Scenario == b.Case.Scenario && a.File == b.File && a.Case.Variant == b.Case.Variant && a.Case.Style == b.Case.Style &&
		a.Lock == b.Lock && a.Seed == b.Seed
}

// About is the run as one that violates no other property than one of its properties, and that once.
func (r *Run) About(p checker.Property) Run {
	about := *r
	about.Report.Violations = nil
	for _, x := range r.Report.Violations {
		if x.Property == p {
			about.Report.Violations = []checker.Violation{x}
			break
		}
	}
	return about
}
