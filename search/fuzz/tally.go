package fuzz

import (
	"cmp"
	"maps"
	"slices"

	"github.com/locksim/locksim/checker"
)

// Hits is how often a cause was met: in how many runs, and first in which.
type Hits struct {
	Runs  int
	First uint64
}

// Share says in how many runs a property was judged, and in how many of them it was at risk.
type Share struct{ Judged, AtRisk int }

// Tally is what came of a number of runs. Its size depends on how many causes there are, not on how many runs.
type Tally struct {
	Runs           int
	Violated       int    // runs in which any property that counts was violated
	Undecided      int    // runs of which not all can be said: cut short, or the lock's code panicked
	FirstUndecided uint64 // the first of them
	Properties     [checker.PropertyCount]Share
	Causes         map[Cause]Hits
	_              struct{}
}

// Add counts the runs of another tally.
func (t *Tally) Add(u *Tally) {
	if u.Undecided > 0 {
		t.noteUndecided(u.Undecided, u.FirstUndecided)
	}
	t.Runs += u.Runs
	t.Violated += u.Violated
	for p, share := range u.Properties {
		t.Properties[p].Judged += share.Judged
		t.Properties[p].AtRisk += share.AtRisk
	}
	for cause, hits := range u.Causes {
		t.hit(cause, hits)
	}
}

// Judged reports whether there was anything to judge any property by.
func (t *Tally) Judged() bool {
	return slices.ContainsFunc(t.Properties[:], func(s Share) bool { return s.Judged > 0 })
}

func (t *Tally) noteUndecided(runs int, first uint64) {
	if t.Undecided == 0 || first < t.FirstUndecided {
		t.FirstUndecided = first
	}
	t.Undecided += runs
}

func (t *Tally) hit(cause Cause, hits Hits) {
	if t.Causes == nil {
		t.Causes = make(map[Cause]Hits)
	}
	sum, known := t.Causes[cause]
	if !known || hits.First < sum.First {
		sum.First = hits.First
	}
	sum.Runs += hits.Runs
	t.Causes[cause] = sum
}

// inOrder lists the causes in the order of their first runs, and within a run in the order in which its cases are
// played and judged.
func (t *Tally) inOrder() []Cause {
	return slices.SortedFunc(maps.Keys(t.Causes), func(a, b Cause) int {
		return cmp.Or(
			cmp.Compare(t.Causes[a].First, t.Causes[b].First), cmp.Compare(a.Style, b.Style),
			cmp.Compare(a.Fencing, b.Fencing), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Core, b.Core),
		)
	})
}
