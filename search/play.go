package search

import (
	"errors"
	"fmt"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Violation is a run that violates a property: what a search finds, and what package minimal makes small.
type Violation struct {
	Case     scenarios.Case
	Seed     uint64
	Property checker.Property
	Kind     string           // "double holder", "lost update", "torn section", …
	Lock     *locks.Algorithm // in the place of the scenario's; nil: the scenario's own
}

// Play plays a scenario in every case that it is to be played in, with its own seed, until each returns false or a run is
// interrupted (see [harness.Runner.TakeCut]). The error that each is given says that the lock's code panicked or would not
// end, or that programs cannot set theirs up. A lock takes the place of the scenario's unless it is nil. A panic, which is
// the simulator's own mistake, passes on with the scenario that shows it.
func Play(r *harness.Runner, s *scenarios.Scenario, lock *locks.Algorithm,
	each func(c scenarios.Case, result *harness.Result, err error) bool,
) {
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("search: %v\nwhile playing\n%s", p, s.YAML()))
		}
	}()
	for _, c := range s.Cases() {
		plan, err := harness.Compile(c, lock)
		if err != nil {
			panic(fmt.Sprintf("a scenario should compile, but %v", err))
		}
		result, err := r.Run(plan, s.Seed, false)
		if errors.Is(err, harness.ErrInterrupted) {
			return
		}
		if !each(c, &result, err) {
			return
		}
	}
}

// FirstOf returns the first violation of a property in a report; nil if there is none.
func FirstOf(p checker.Property, r *checker.Report) *checker.Violation {
	for i := range r.Violations {
		if r.Violations[i].Property == p {
			return &r.Violations[i]
		}
	}
	return nil
}
