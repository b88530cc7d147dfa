package fuzz

import (
	"cmp"
	"maps"
	"slices"

	"github.com/locksim/locksim/checker"
)

// Hits is how often a core was met: in how many runs, and first in which.
type Hits struct {
	Runs  int
	First uint64
}

// Share says in how many runs a property was judged, and in how many of them it was at risk.
type Share struct{ Judged, AtRisk int }

// Tally is what came of a number of runs. Its size depends on how many cores there are, not on how many runs.
type Tally struct {
	Runs           int
	Violated       int      // runs in which any property that counts was violated
	Undecided      int      // runs of which not all can be said: cut short, or the lock's code panicked
	FirstUndecided uint64   // the first of them
	Fatal          []uint64 // runs that have ended their processes, and were left out
	Properties     [checker.PropertyCount]Share
	Cores          map[Core]Hits
	_              struct{}
}

// Add counts the runs of another tally.
func (t *Tally) Add(u *Tally) {
	if u.Undecided > 0 {
		t.noteUndecided(u.Undecided, u.FirstUndecided)
	}
	t.Runs += u.Runs
	t.Fatal = append(t.Fatal, u.Fatal...)
	t.Violated += u.Violated
	for p, share := range u.Properties {
		t.Properties[p].Judged += share.Judged
		t.Properties[p].AtRisk += share.AtRisk
	}
	for core, hits := range u.Cores {
		t.hit(core, hits)
	}
}

// Of returns in how many cases of runs a property was violated, and in which run first.
func (t *Tally) Of(p checker.Property) Hits {
	sum := Hits{}
	for core, hits := range t.Cores {
		if core.Property != p {
			continue
		}
		if sum.Runs == 0 || hits.First < sum.First {
			sum.First = hits.First
		}
		sum.Runs += hits.Runs
	}
	return sum
}

// First returns the first run that violated a property; false if none did.
func (t *Tally) First() (first uint64, any bool) {
	for _, hits := range t.Cores {
		if !any || hits.First < first {
			first, any = hits.First, true
		}
	}
	return first, any
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

func (t *Tally) hit(core Core, hits Hits) {
	if t.Cores == nil {
		t.Cores = make(map[Core]Hits)
	}
	sum, known := t.Cores[core]
	if !known || hits.First < sum.First {
		sum.First = hits.First
	}
	sum.Runs += hits.Runs
	t.Cores[core] = sum
}

// inOrder lists the cores in the order of their first runs, and within a run in the order in which its cases are
// played and judged.
func (t *Tally) inOrder() []Core {
	return slices.SortedFunc(maps.Keys(t.Cores), func(a, b Core) int {
		return cmp.Or(
			cmp.Compare(t.Cores[a].First, t.Cores[b].First), cmp.Compare(a.Style, b.Style),
			cmp.Compare(a.Fencing, b.Fencing), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Sum, b.Sum),
		)
	})
}

// byRarity lists the cores in two rounds: first the most frequent one of each property, kind, style and fencing mode, in the
// order of how seldom such violations were met, then the others, those that were met least often first. Frequent ones
// are mostly what a lock of this making cannot help; its own defects are rare.
func (t *Tally) byRarity() [2][]Core {
	list := t.inOrder()
	sums, most := make(map[Core]int), make(map[Core]Core)
	group := func(c Core) Core {
		c.Sum = 0
		return c
	}
	for _, core := range list {
		g := group(core)
		if sums[g] == 0 || t.Cores[core].Runs > t.Cores[most[g]].Runs {
			most[g] = core
		}
		sums[g] += t.Cores[core].Runs
	}
	var firsts, others []Core
	for _, core := range list {
		if most[group(core)] == core {
			firsts = append(firsts, core)
			continue
		}
		others = append(others, core)
	}
	slices.SortStableFunc(firsts, func(a, b Core) int { return cmp.Compare(sums[group(a)], sums[group(b)]) })
	slices.SortStableFunc(others, func(a, b Core) int { return cmp.Compare(t.Cores[a].Runs, t.Cores[b].Runs) })
	return [2][]Core{firsts, others}
}
