package harness

import (
	"errors"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Bounds of a run's memory, in addition to those of the scenario: far above the use of any scenario here, and low
// enough for a run to stay below about two gigabytes. A run that reaches one ends, and its verdicts are unknown.
const (
	mostPending     = 2_000_000
	mostConnections = 1_000_000
	mostInFlight    = 1_000_000
	mostTrace       = 5_000_000
	mostStored      = 2_000_000
	mostRecords     = 1_000_000 // of the history, together
)

func limitsOf(s *scenarios.Scenario) sim.Limits {
	return sim.Limits{
		Steps: s.Bounds.Steps, Messages: s.Bounds.Messages, Pending: mostPending, Connections: mostConnections,
		InFlight: mostInFlight, Trace: mostTrace, Stored: mostStored,
	}
}

// ErrInterrupted says that [Runner].Stop ended a run.
var ErrInterrupted = errors.New("interrupted")

// patience is how many events a run may have before it can be interrupted. Short runs come to their end, so that what an
// interrupt leaves to be done, in short runs, is done as if there were none.
const patience = 20_000

// mustEnd returns why the run is to end now; "" if it is to go on.
func (w *world) mustEnd() string {
	if w.journal.Records() > mostRecords {
		return "history records"
	}
	if w.engine.Steps() >= patience && w.stopped() {
		return "interrupt"
	}
	return ""
}

// stopped reports whether the run is interrupted.
func (w *world) stopped() bool {
	w.interrupted = w.interrupted || w.stop != nil && w.stop()
	return w.interrupted
}
