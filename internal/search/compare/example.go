package compare

import (
	"context"
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Counterexample is a minimal scenario that shows what one or more cells of a lock count: in each of its fencing modes it
// violates what it expects to be violated there.
type Counterexample struct {
	*minimal.Counterexample
	uses      []use
	column    string // in which it was found
	faultless bool
}

// use is one way in which an example is used.
type use struct {
	property checker.Property
	mode     history.Fencing
	digest   uint64
}

// reductionRuns bounds how many runs are played to make one violation small.
const reductionRuns = 1_000

// gallery is the examples of one lock.
type gallery struct {
	ctx    context.Context
	runner *harness.Runner
	lock   *locks.Algorithm
	list   []*Counterexample
}

func (g *gallery) options() harness.Options {
	return harness.Options{Locks: locks.Catalogue().With(*g.lock)}
}

// add finds an example for a violation that a column has shown, or makes one. It returns its index.
func (g *gallery) add(column string, v search.Violation) (int, error) {
	bare, faultless := g.bare(v)
	if faultless {
		v = bare
	}
	for i, e := range g.list {
		if e.faultless == faultless && (faultless || e.column == column) && g.shows(e, &v) {
			return i, nil
		}
	}
	v.Options = g.options() // the scenario names the lock
	cx, err := minimal.Reduce(g.runner, v, minimal.Options{Runs: reductionRuns, Steps: minimal.UsualSteps, Allowed: keeping(v.Case.Scenario), Context: g.ctx})
	if err == nil && cx.Again != nil {
		if _, err = cx.Repeat(g.runner); err == nil && cx.Again.Shown == 0 {
			err = minimal.ErrVaries
		}
	}
	if err != nil {
		return 0, fmt.Errorf("%s under %s: %w", g.lock.Name, column, err)
	}
	for i, e := range g.list {
		if e.Digest == cx.Digest && e.Property == cx.Property { // the same, by another way
			return i, nil
		}
	}
	cx.Scenario.Name = g.name(column, &v)
	g.list = append(g.list, &Counterexample{
		Counterexample: cx, column: column, faultless: faultless,
		uses: []use{{property: v.Property, mode: v.Case.Fencing, digest: cx.Digest}},
	})
	return len(g.list) - 1, nil
}

// name is what nobody else is called in the gallery.
func (g *gallery) name(column string, v *search.Violation) string {
	name := minimal.NameOf(g.lock.Name) + "-" + column
	for _, word := range []string{v.Property.String(), v.Case.Fencing.String()} {
		if longer := name + "-" + word; word != history.Unfenced.String() && len(longer) <= longestName {
			name = longer
		}
	}
	unique := name
	for n := 2; slices.ContainsFunc(g.list, func(e *Counterexample) bool { return e.Scenario.Name == unique }); n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	return unique
}

// longestName leaves room for a number in what a scenario may be called.
const longestName = 60

// bare is a violation's scenario without faults, and whether that violates the property as well.
func (g *gallery) bare(v search.Violation) (search.Violation, bool) {
	s := *v.Case.Scenario
	s.Faults, s.Clocks = nil, nil
	v.Case.Scenario = &s
	result := g.play(v.Case)
	if result == nil {
		return v, false
	}
	first := search.FirstOf(v.Property, &result.Report)
	if first != nil {
		v.Kind = first.Kind
	}
	return v, first != nil
}

// shows reports whether an example violates the property of a violation in its mode and in the same way, and notes that it
// is used for that.
func (g *gallery) shows(e *Counterexample, v *search.Violation) bool {
	if e.Scenario.Resource.Guarded != v.Case.Scenario.Resource.Guarded {
		return false
	}
	result := g.play(scenarios.Case{Scenario: e.Scenario, Style: v.Case.Style, Fencing: v.Case.Fencing})
	if result == nil || slices.ContainsFunc(result.History.Faults, func(f history.Fault) bool { return !f.Fired }) {
		return false
	}
	if first := search.FirstOf(v.Property, &result.Report); first == nil || first.Kind != v.Kind {
		return false
	}
	u := use{property: v.Property, mode: v.Case.Fencing, digest: result.Digest}
	if !slices.Contains(e.uses, u) {
		e.uses = append(e.uses, u)
	}
	return true
}

// play plays a case with its scenario's own seed; nil if the lock's code panics.
func (g *gallery) play(c scenarios.Case) *harness.Result {
	plan, err := harness.Compile(c, g.options())
	if err != nil {
		panic(fmt.Sprintf("compare: an example should compile, but %v", err))
	}
	result, err := g.runner.Run(plan, c.Scenario.Seed, false)
	if err != nil {
		return nil
	}
	return &result
}

// keeping allows what is still of the column that a scenario was drawn for: no longer work, no other faults, and some of
// those that there were.
func keeping(drawn *scenarios.Scenario) func(*scenarios.Scenario) bool {
	within := minimal.Within(drawn)
	var kinds []sim.ActionKind
	for i := range drawn.Faults {
		kinds = append(kinds, drawn.Faults[i].Action.Kind)
	}
	some := len(drawn.Faults)+len(drawn.Clocks) > 0
	return func(s *scenarios.Scenario) bool {
		other := func(f sim.Fault) bool { return !slices.Contains(kinds, f.Action.Kind) }
		return within(s) && !slices.ContainsFunc(s.Faults, other) && some == (len(s.Faults)+len(s.Clocks) > 0)
	}
}

// complete has the scenario say what it is an example of: all modes in which it is used, and what is violated there. What
// else its runs violate may be violated.
func (g *gallery) complete(e *Counterexample) error {
	s := *e.Scenario
	s.Resource.Fencing, s.Expect = nil, nil
	slices.SortStableFunc(e.uses, func(a, b use) int { return int(a.mode) - int(b.mode) })
	for _, u := range e.uses {
		mode := u.mode
		s.Expect = append(s.Expect, scenarios.Expectation{Property: u.property, Fencing: &mode, Verdict: checker.Violated})
		if !slices.Contains(s.Resource.Fencing, mode) {
			s.Resource.Fencing = append(s.Resource.Fencing, mode)
		}
	}
	for _, each := range s.Cases() {
		if result := g.play(each); result != nil {
			s.Expect = each.Waiving(&result.Report)
		}
	}
	read, err := s.Again()
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	e.Scenario, e.Case = read, read.Cases()[0]
	return nil
}

// Shown is the property that the example shows in the first of its modes.
func (e *Counterexample) Shown() checker.Property { return e.uses[0].property }

// Boundaries says how much of what goes wrong is needed, a sentence for each boundary.
func (e *Counterexample) Boundaries() []string {
	kept := e.Property.String() + " holds"
	if e.Property == checker.Resource {
		kept = "the resource is not harmed"
	}
	list := make([]string, len(e.Needs))
	for i, n := range e.Needs {
		list[i] = n.Sentence(kept)
	}
	return list
}
