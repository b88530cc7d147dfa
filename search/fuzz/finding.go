package fuzz

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/search/minimal"
)

// Finding is what violations of one form have in common: one cause, and its smallest example.
type Finding struct {
	Property       checker.Property
	Style          history.Style
	Fencing        history.Fencing
	Hits           int    // cases of runs in which it was met
	First          uint64 // the first run in which it was
	Counterexample *minimal.Counterexample
	_              struct{}
}

// Findings plays the first run of each cause again, makes its violation minimal, and puts causes together whose minimal
// forms are the same, or consist of another's and something that only happened to help. They come property by property,
// those with the fewest faults first.
func (h *Hunt) Findings(ctx context.Context, jobs int, t *Tally) ([]Finding, error) {
	causes := t.inOrder()
	type reduced struct {
		counterexample *minimal.Counterexample
		err            error
	}
	var plays iter.Seq[func(*harness.Runner) reduced] = func(yield func(func(*harness.Runner) reduced) bool) {
		for _, cause := range causes {
			if !yield(func(r *harness.Runner) (out reduced) {
				out.counterexample, out.err = h.reduce(r, cause, t.Causes[cause].First)
				return out
			}) {
				return
			}
		}
	}
	var list []Finding
	known, next := make(map[form]int), 0
	err := search.InOrder(ctx, jobs, plays, func(x reduced) error {
		if x.err != nil {
			return x.err
		}
		cause := causes[next]
		next++
		hits := t.Causes[cause]
		f := form{cause.Property, cause.Style, cause.Fencing, x.counterexample.Form()}
		if i, ok := known[f]; ok {
			list[i].Hits += hits.Runs
			return nil
		}
		known[f] = len(list)
		list = append(list, Finding{
			Property: cause.Property, Style: cause.Style, Fencing: cause.Fencing,
			Hits: hits.Runs, First: hits.First, Counterexample: x.counterexample,
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return simplest(list), nil
}

// simplest puts findings in order, and those that extend a simpler one to that.
func simplest(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Property, b.Property), cmp.Compare(a.Style, b.Style), cmp.Compare(a.Fencing, b.Fencing),
			cmp.Compare(a.faults(), b.faults()), cmp.Compare(a.First, b.First),
		)
	})
	var list []Finding
	for _, f := range all {
		i := slices.IndexFunc(list, func(known Finding) bool {
			return known.Property == f.Property && f.Counterexample.Extends(known.Counterexample)
		})
		if i < 0 {
			list = append(list, f)
			continue
		}
		list[i].Hits, list[i].First = list[i].Hits+f.Hits, min(list[i].First, f.First)
	}
	return list
}

// faults is how much goes wrong in the smallest example.
func (f *Finding) faults() int {
	return len(f.Counterexample.Scenario.Faults) + len(f.Counterexample.Scenario.Clocks)
}

// form is what violations of one finding share.
type form struct {
	property checker.Property
	style    history.Style
	fencing  history.Fencing
	text     string
}

// reduce makes the violation minimal by which a run met a cause.
func (h *Hunt) reduce(r *harness.Runner, cause Cause, n uint64) (*minimal.Counterexample, error) {
	var v *search.Violation
	search.Play(r, h.Draw(n), h.lock, func(c scenarios.Case, result *harness.Result, err error) bool {
		if c.Style != cause.Style || c.Fencing != cause.Fencing || err != nil {
			return true
		}
		if first := search.FirstOf(cause.Property, &result.Report); first != nil && first.Kind == cause.Kind {
			found := h.violation(c, first)
			v = &found
		}
		return false
	})
	if v == nil {
		return nil, fmt.Errorf("run %d does not violate %s again, as it did: %s", n, cause.Property, cause.Kind)
	}
	return minimal.Reduce(r, *v, minimal.Options{Runs: reductionRuns})
}

// reductionRuns bounds how many runs are played to make one violation small: nearly all take fewer, and a hunt is to end.
const reductionRuns = 3_000
