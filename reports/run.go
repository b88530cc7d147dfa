// Package reports turns what was found into something to look at: text, JSON, and the data of pictures. It is pure: a
// report is a function of its input, written to an io.Writer; it reads no clock and no environment.
//
// Call [Text] for a reader, [JSON] or a [JSONWriter] for a program, [Schedules] for what pictures are drawn of, and a
// [Summary] for very many runs.
//
// Stability: documents keep their schemas; the Go API may change in any version.
package reports

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
