// Package minimal makes a violation as small as it can: it takes out of the scenario whatever the violation does not
// need, makes what is left weaker, earlier, shorter and rounder, and finds by bisection how much of it is needed.
//
// Call [Reduce] for a violation. [Counterexample.Form] is equal for violations of one cause.
package minimal

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/sim"
)

// Counterexample is a minimal scenario that violates a property, and what else is known of it.
type Counterexample struct {
	search.Violation                     // of the minimal scenario: one style, one fencing mode, and the property expected to be violated
	Scenario         *scenarios.Scenario // the same as Violation.Case.Scenario
	Digest           uint64              // of its run
	Text             string              // how the property is violated
	Needs            []Need              // how much of what is left is needed
	Runs             int                 // played to find it
	_                struct{}
}

// Need is the boundary of one number of the scenario, found by bisection: with Least the property is violated, with
// Held it is not.
type Need struct {
	What        string // "pause of a", "rate of redis-1's clock"
	Least, Held string // "9.9s", "5025ppm"
	_           struct{}
}

// Options bounds the work.
type Options struct {
	Runs int // at most; 0: as many as it takes
	_    struct{}
}

// Reduce makes a violation minimal. The error says that the violation cannot be repeated.
func Reduce(r *harness.Runner, v search.Violation, o Options) (*Counterexample, error) {
	s := *v.Case.Scenario
	s.Styles, s.Resource.Fencing = []history.Style{v.Case.Style}, []history.Fencing{v.Case.Fencing}
	s.Variants, s.Seed = nil, v.Seed
	s.Expect = scenarios.Expect{{Property: v.Property, Verdict: checker.Violated}}
	text, digest, ok := again(r, &v, &s)
	if !ok {
		return nil, fmt.Errorf("%s is not violated again", v.Property)
	}
	runs := 1
	for i := 0; i < len(s.Faults); {
		less := s
		less.Faults = slices.Delete(slices.Clone(s.Faults), i, i+1)
		runs++
		if t, d, ok := again(r, &v, &less); ok {
			s, text, digest = less, t, d
		} else {
			i++
		}
	}
	v.Case.Scenario = &s
	return &Counterexample{Violation: v, Scenario: &s, Digest: digest, Text: text, Runs: runs}, nil
}

// again plays a scenario and reports whether it shows the same violation.
func again(r *harness.Runner, v *search.Violation, s *scenarios.Scenario) (text string, digest uint64, ok bool) {
	plan, err := harness.Compile(s.Cases()[0], v.Lock)
	if err != nil {
		return "", 0, false
	}
	result, err := r.Run(plan, s.Seed, false)
	if err != nil {
		return "", 0, false
	}
	for _, x := range result.Report.Violations {
		if x.Property == v.Property && x.Kind == v.Kind {
			return x.Text, result.Digest, true
		}
	}
	return "", 0, false
}

// Form is what is left of a counterexample when numbers and names are taken away: violations of one cause have one form.
func (c *Counterexample) Form() string { return shape(c.Scenario.Faults) }

// Core returns a form of a violation that costs a few runs only, for finding out whether it is likely to be one that is
// known: violations with one core have one form.
func Core(r *harness.Runner, v search.Violation) string {
	c, err := Reduce(r, v, Options{Runs: 8})
	if err != nil {
		return ""
	}
	return shape(c.Scenario.Faults)
}

func shape(faults []sim.Fault) string {
	text := ""
	for _, f := range faults {
		text += f.Action.Kind.String() + " " + f.Trigger.Step.Does.String() + "; "
	}
	return text
}
