// Package model is a run as reports look at it. A [Run] is what was played and found; a [View] is the part of it that a
// picture shows, with what can be worked out from its history and its trace: who believed when, who led, which message is a
// reply to which, which fault held it up. It says nothing in sentences.
package model

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Run is one run of one case of a scenario, and what was found of it.
type Run struct {
	Case     scenarios.Case
	File     string // the file that the scenario was read from; "" if it is a named one
	Lock     string // the lock's name; the scenario's, unless another was put in its place
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
}

// Status sums up how the verdicts of a run compare with what its scenario expects.
type Status uint8

// The statuses, in order of weight.
const (
	AsExpected   Status = iota
	Inconclusive        // a verdict is unknown, whatever was expected, or vacuous where something else was
	Unexpected          // a verdict differs, a measured value is out of its bounds, or a fault never happened
)

// SameSchedule reports whether two runs differ in how the resource is fenced alone.
func SameSchedule(a, b *Run) bool {
	return a.Case.Scenario == b.Case.Scenario && a.File == b.File && a.Case.Variant == b.Case.Variant && a.Case.Style == b.Case.Style &&
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
