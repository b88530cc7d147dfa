package fuzz

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/search/minimal"
	"github.com/locksim/locksim/trace"
)

// Cause is what hits have in common that are likely to be one finding.
type Cause struct {
	Property checker.Property
	Kind     string // of the violation
	Style    history.Style
	Fencing  history.Fencing
	Core     uint64 // the digest of what minimal.Core says; 0 if it takes none of the faults that were drawn
}

// causes says what the violations of some properties in one case come from.
func (h *Hunt) causes(
	r *harness.Runner, c scenarios.Case, result *harness.Result, broken []checker.Property,
) []Cause {
	// Most violations that are met need no fault. To find that out takes one run for all of them.
	bare := h.withoutFaults(r, c, result)
	var list []Cause
	for _, p := range broken {
		v := h.violation(c, search.FirstOf(p, &result.Report))
		cause := Cause{Property: p, Kind: v.Kind, Style: c.Style, Fencing: c.Fencing}
		if first := search.FirstOf(p, bare); first == nil || first.Kind != v.Kind {
			var core trace.Digest
			core.String(minimal.Core(r, v))
			cause.Core = core.Sum()
		}
		list = append(list, cause)
	}
	return list
}

func (h *Hunt) violation(c scenarios.Case, v *checker.Violation) search.Violation {
	return search.Violation{Case: c, Seed: c.Scenario.Seed, Property: v.Property, Kind: v.Kind, Lock: h.lock}
}

// withoutFaults reports of the run that a case would have been without the faults and the clocks that were drawn for
// it.
func (h *Hunt) withoutFaults(r *harness.Runner, c scenarios.Case, result *harness.Result) *checker.Report {
	given := h.Config.Base
	if given == nil {
		given = &scenarios.Scenario{}
	}
	happened := func(f history.Fault) bool { return f.Fired }
	faults, clocks := len(given.Faults), len(given.Clocks)
	if len(c.Scenario.Clocks) == clocks && !slices.ContainsFunc(result.History.Faults[faults:], happened) {
		return &result.Report // it was just that run
	}
	s := *c.Scenario
	s.Faults, s.Clocks = s.Faults[:faults], s.Clocks[:clocks]
	c.Scenario = &s
	plan, err := harness.Compile(c, h.lock)
	if err != nil {
		panic("a scenario should compile without its faults, but " + err.Error())
	}
	bare, err := r.Run(plan, s.Seed, false)
	if err != nil {
		return &checker.Report{} // the lock's code panics
	}
	return &bare.Report
}
