package fuzz

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/minimal"
)

// Finding is what violations of one form have in common, and their smallest example.
type Finding struct {
	Property       checker.Property
	Style          history.Style
	Fencing        history.Fencing
	Hits           int    // cases of runs in which it was met
	First          uint64 // the first run in which it was
	Counterexample *minimal.Counterexample
	_              struct{}
}

// add counts more hits.
func (f *Finding) add(hits Hits) {
	f.Hits, f.First = f.Hits+hits.Runs, min(f.First, hits.First)
}

// faults is how much goes wrong in the smallest example.
func (f *Finding) faults() int {
	return len(f.Counterexample.Scenario.Faults) + len(f.Counterexample.Scenario.Clocks)
}

// simplest puts findings in order, and those that extend another one to the first of the simplest that they extend.
func simplest(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Property, b.Property), cmp.Compare(a.Style, b.Style), cmp.Compare(a.Fencing, b.Fencing),
			cmp.Compare(a.faults(), b.faults()), cmp.Compare(a.First, b.First),
		)
	})
	extends := func(f, of *Finding) bool { return f == of || f.Counterexample.Extends(of.Counterexample) }
	var list []Finding
	for _, group := range grouped(all, extends) {
		sum := all[group[0]]
		for _, i := range group[1:] {
			sum.add(Hits{all[i].Hits, all[i].First})
		}
		list = append(list, sum)
	}
	return list
}

// grouped puts each finding to one of which it has all, the first of those that have all of no simpler one. It returns
// indices; those of the simple ones begin the groups.
func grouped(list []Finding, has func(f, of *Finding) bool) [][]int {
	simple := func(f *Finding) bool {
		for i := range list {
			if has(f, &list[i]) && !has(&list[i], f) {
				return false
			}
		}
		return true
	}
	var groups [][]int
	groupOf := func(f *Finding) int {
		return slices.IndexFunc(groups, func(group []int) bool { return has(f, &list[group[0]]) })
	}
	for i := range list {
		if f := &list[i]; simple(f) && groupOf(f) < 0 {
			groups = append(groups, []int{i})
		}
	}
	for i := range list {
		if at := groupOf(&list[i]); groups[at][0] != i {
			groups[at] = append(groups[at], i)
		}
	}
	return groups
}

// Causes groups findings, of whatever property, style and fencing mode, that have one cause, or the cause of a simpler
// one and more, and that show the same promise to be broken; what was not compared is put to what was. It returns their
// indices: first what only this lock does (see [minimal.Blame]), then the groups with the fewest faults, then those that
// were met more often; and likewise within a group, after those that have no more than its cause.
func (f *Found) Causes() [][]int {
	plainest := func(i, j int) int {
		a, b := &f.Findings[i], &f.Findings[j]
		return cmp.Or(cmp.Compare(a.faults(), b.faults()), cmp.Compare(b.Hits, a.Hits))
	}
	shares := func(f, of *Finding) bool {
		party := f.Counterexample.Blame.Party
		likewise := party == of.Counterexample.Blame.Party || party == minimal.Unclear
		return likewise && f.Counterexample.Shares(of.Counterexample)
	}
	rank := func(i int) int { return f.Findings[i].Counterexample.Blame.Rank() }
	groups := grouped(f.Findings, shares)
	for _, group := range groups {
		head := &f.Findings[group[0]]
		more := func(i int) int { return one(!shares(head, &f.Findings[i])) }
		unclear := func(i int) int { return one(f.Findings[i].Counterexample.Blame.Party == minimal.Unclear) }
		slices.SortStableFunc(group, func(i, j int) int {
			return cmp.Or(cmp.Compare(unclear(i), unclear(j)), cmp.Compare(more(i), more(j)), plainest(i, j))
		})
	}
	slices.SortStableFunc(groups, func(a, b []int) int {
		return cmp.Or(cmp.Compare(rank(a[0]), rank(b[0])), plainest(a[0], b[0]))
	})
	return groups
}
