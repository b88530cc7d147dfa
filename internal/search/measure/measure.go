// Package measure plays a fixed number of runs and says how often a property was violated, with an exact interval. Call
// [Measure] with a [Plan]; what it returns is a [Table] of cells, which can be compared. What is played is scenarios that are
// drawn for locks, or one scenario with as many seeds, in some settings of its fields.
//
// All locks whose fault models are alike are played on the same schedules, in all styles and fencing modes: draw number n is one
// deployment with its clients, their times, and faults. What a cell says is a function of its lock, condition, style, mode
// and property, and of the numbers of its draws: not of what else is measured beside it.
package measure

import (
	"context"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parts"
	"github.com/locksim/locksim/locks"
)

// Plan says what is measured: each lock under each condition, in each style and each fencing mode that it has a token for,
// by each property.
type Plan struct {
	Locks      []locks.Algorithm
	Conditions []Condition
	Styles     []history.Style   // careless
	Fencing    []history.Fencing // unfenced
	Settings   []Setting         // played instead of what is drawn under the conditions, if there are any
	Properties []checker.Property
	Draws      search.Seeds // by whose numbers scenarios are drawn; of settings, the seeds
	Jobs       int          // runs at once; what is measured does not depend on it
	Parts      *parts.Parts // which of the work is done here, and what is known of the rest; nil: all, and nothing
	_          struct{}
}

// Condition is a choice of faults, and of how locks are deployed and used meanwhile.
type Condition struct {
	Name string
	// Model is what may happen to one lock. Lock, styles and fencing modes of the fault model are left to the plan.
	Model func(*locks.Algorithm) search.FaultModel
	// Spares says why nothing of the condition can happen to a lock, which is then not played; "" if it can. A nil function
	// spares none.
	Spares func(*locks.Algorithm) string
}

// Setting is a scenario in which some fields are set, in the cases in which it is played.
type Setting struct {
	Values []string // of the fields
	Plans  []*harness.Plan
}

// Measure plays a plan, several runs at once. Each, which may be nil, is told how many runs have been played, and in how
// many of them anything was violated. When the context is done, what was played until then is returned with the error.
func Measure(ctx context.Context, p Plan, each func(runs, violated int)) (*Table, error) {
	t := newTable(p)
	runs, violated := 0, 0
	err := search.InOrder(ctx, p.Jobs, t.stretches(), func(s stretch) error {
		if s.err != nil {
			return s.err
		}
		if err := p.Parts.Add(s.part, s.text); err != nil {
			return err
		}
		t.take(&s)
		runs += s.runs
		violated += s.violated
		if each != nil {
			each(runs, violated)
		}
		return nil
	})
	return t, err
}

// Varies reports whether a lock of the plan is that of a program whose runs are slow and may differ (see
// [locks.Algorithm.Varies]).
func (p *Plan) Varies() bool {
	return slices.ContainsFunc(p.Locks, func(l locks.Algorithm) bool { return l.Varies() }) ||
		slices.ContainsFunc(p.Settings, func(s Setting) bool {
			return slices.ContainsFunc(s.Plans, func(plan *harness.Plan) bool { return plan.Algorithm.Varies() })
		})
}

// Empty reports whether a plan measures nothing: its locks have no token, and its fencing modes need one.
func (p *Plan) Empty() bool { return len(newTable(*p).Cells) == 0 }

// Runs is how many runs it takes to play a plan.
func (p *Plan) Runs() int {
	runs := 0
	for _, r := range newTable(*p).rows {
		runs += r.cells / len(p.Properties) * p.Draws.Count
	}
	return runs
}
