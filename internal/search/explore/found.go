package explore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/sim"
)

// Finding is a cause of violations.
type Finding struct {
	*minimal.Counterexample
	Hits  int // runs that were violated by it
	First int // the number of the first of them; the base is 0
	_     struct{}
}

// cause is what violations of probably one form have in common.
type cause struct {
	property     checker.Property
	kind, sketch string
}

// hit is a violation that a run shows.
type hit struct {
	cause
	violation search.Violation
}

// sighting is the first violation of a cause, and how often there were others.
type sighting struct {
	hit
	hits, first int
	placement   int // in its branch
}

// judge notes how a run violates the properties that count: one hit for each property and kind.
func (x *explorer) judge(r *harness.Runner, run *harness.Result, faults []sim.Fault, o *outcome) {
	for _, p := range x.options.Properties {
		verdict := run.Report.Verdicts[p]
		o.judged[p] = verdict != checker.NotJudged
		o.atRisk[p] = verdict == checker.Violated || run.Report.Dangers[p] > 0
		o.undecided = o.undecided || verdict == checker.Undecided
	}
	for i := range run.Report.Violations {
		v := &run.Report.Violations[i]
		known := func(h hit) bool { return h.property == v.Property && h.kind == v.Kind }
		if !slices.Contains(x.options.Properties, v.Property) || slices.ContainsFunc(o.hits, known) {
			continue
		}
		found := x.violation(faults, v.Property, v.Kind)
		o.hits = append(o.hits, hit{cause{v.Property, v.Kind, sketch(x.core(r, run, found))}, found})
	}
}

// core is that of a violation: of a program whose runs are slow as it was placed, without further runs.
func (x *explorer) core(r *harness.Runner, run *harness.Result, v search.Violation) string {
	if !x.varies {
		return minimal.Core(r, v)
	}
	base := x.base.Scenario
	hit := minimal.Hit{Violations: []search.Violation{v}, Result: run, Faults: len(base.Faults), Clocks: len(base.Clocks), AsDrawn: true}
	return hit.Cores(r)[0]
}

// sketch is the part of a core that its form has, too. The rest, at which step each fault acts, tells apart what is of
// one cause: here every step has had its turn.
func sketch(core string) string {
	const parts = 5
	list := strings.SplitN(core, "; ", parts+1)
	return strings.Join(list[:min(parts, len(list))], "; ")
}

// violation is one that a schedule shows.
func (x *explorer) violation(faults []sim.Fault, p checker.Property, kind string) search.Violation {
	return search.Violation{Case: x.with(faults), Seed: x.base.Scenario.Seed, Property: p, Kind: kind, Options: x.options.Play}
}

// sight enters violations.
func (x *explorer) sight(s sighting) {
	if at, ok := x.known[s.cause]; ok {
		x.sightings[at].hits += s.hits
		return
	}
	x.known[s.cause] = len(x.sightings)
	x.sightings = append(x.sightings, s)
}

// mostVaried is how many causes of a program, whose runs are slow, are made minimal besides the first of each property and kind.
const mostVaried = 8

// shorten leaves out causes for which there is no time: those that come after others of their property and kind.
func (x *explorer) shorten() {
	if !x.varies {
		return
	}
	type way struct {
		property checker.Property
		kind     string
	}
	known, more := make(map[way]bool), 0
	all := len(x.sightings)
	x.sightings = slices.DeleteFunc(x.sightings, func(s sighting) bool {
		w := way{s.property, s.kind}
		if !known[w] {
			known[w] = true
			return false
		}
		more++
		return more > mostVaried
	})
	x.result.Left += all - len(x.sightings)
}

// reduce makes what was sighted minimal, and groups it by form; what only this lock does comes first. When the context is done what has been sighted is left as
// far as it has come.
func (x *explorer) reduce(ctx context.Context) error {
	type reduced struct {
		*sighting
		counterexample *minimal.Counterexample
		err            error
	}
	x.shorten()
	plays := func(yield func(func(*harness.Runner) reduced) bool) {
		for i := range x.sightings {
			s := &x.sightings[i]
			if !yield(func(r *harness.Runner) reduced {
				r.Stop = func() bool { return x.result.Interrupted || ctx.Err() != nil }
				c, err := minimal.Reduce(r, s.violation, minimal.Options{Context: ctx, Allowed: minimal.SameLocks(x.base.Scenario)})
				r.TakeCut() // the error says it
				return reduced{s, c, err}
			}) {
				return
			}
		}
	}
	known := make(map[cause]int)
	err := search.InOrder(context.WithoutCancel(ctx), x.options.Jobs, plays, func(s reduced) error {
		switch {
		case errors.Is(s.err, harness.ErrInterrupted):
			return nil
		case errors.Is(s.err, minimal.ErrVaries):
			x.result.Left++
			return nil
		}
		if s.err != nil {
			return s.err
		}
		form := cause{s.property, s.kind, s.counterexample.Form()}
		at, ok := known[form]
		if !ok {
			at = len(x.result.Findings)
			known[form] = at
			x.result.Findings = append(x.result.Findings, Finding{Counterexample: s.counterexample, First: s.first})
		}
		x.result.Findings[at].Hits += s.hits
		return nil
	})
	slices.SortStableFunc(x.result.Findings, func(a, b Finding) int { return cmp.Compare(a.Blame.Rank(), b.Blame.Rank()) })
	return err
}
