package search

import (
	"errors"
	"fmt"
	"math"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// Violation is a run that violates a property: what a search finds, and what package minimal makes small.
type Violation struct {
	Case     scenarios.Case
	Seed     uint64
	Property checker.Property
	Kind     string          // "double holder", "lost update", "torn section", …
	Options  harness.Options // with which it is played
}

// Play plays a scenario in every case that it is to be played in, with its own seed, until each returns false or a run is
// interrupted (see [harness.Runner.TakeCut]). The error that each is given says that the lock's code panicked or would not
// end, or that programs cannot set theirs up. A panic, which is the simulator's own mistake, passes on with the scenario
// that shows it.
//
// A run that its end cuts off is played again with a later end, which is then the scenario's: what is drawn says nothing of
// how long servers take to recover (a replica that waits for a master's answer gives up after 60 s, repl-timeout).
func Play(r *harness.Runner, s *scenarios.Scenario, o harness.Options,
	each func(c scenarios.Case, result *harness.Result, err error) bool,
) {
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("search: %v\nwhile playing\n%s", p, s.YAML()))
		}
	}()
	for _, c := range s.Cases() {
		result, err := playCase(r, c, o)
		if until := &c.Scenario.Until; err == nil && result.History.Cut != "" && *until <= math.MaxInt64/later {
			*until *= later
			result, err = playCase(r, c, o)
		}
		if errors.Is(err, harness.ErrInterrupted) {
			return
		}
		if !each(c, &result, err) {
			return
		}
	}
}

// later is how many times as late the end is of a run that is played again.
const later = 10

func playCase(r *harness.Runner, c scenarios.Case, o harness.Options) (harness.Result, error) {
	plan, err := harness.Compile(c, o)
	if err != nil {
		panic(fmt.Sprintf("a scenario should compile, but %v", err))
	}
	return r.Run(plan, c.Scenario.Seed, false)
}

// FirstOf returns the first violation of a property in a report; nil if there is none.
func FirstOf(p checker.Property, r *checker.Report) *checker.Violation {
	return Excuse(nil).First(p, nil, r)
}

// Excuse reports whether a violation in a history is none of what is sought, or of what was promised; nil excuses none.
type Excuse func(*history.History, *checker.Violation) bool

// First returns the first violation of a property that is not excused; nil if there is none.
func (e Excuse) First(p checker.Property, h *history.History, r *checker.Report) *checker.Violation {
	for i := range r.Violations {
		if v := &r.Violations[i]; v.Property == p && (e == nil || !e(h, v)) {
			return v
		}
	}
	return nil
}
