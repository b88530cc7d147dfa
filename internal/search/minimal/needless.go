package minimal

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Needless returns the names of faults, and of nodes whose clocks are wrong, that have nothing to do with what a run violates: without
// all of them the same clients violate the same at about the same time, and none of them could take the place of one that is needed.
func Needless(r *harness.Runner, plan *harness.Plan, seed uint64, result *harness.Result, o Options) []string {
	if len(result.Report.Violations) == 0 {
		return nil
	}
	x := &result.Report.Violations[0]
	v := search.Violation{Case: plan.Case, Seed: seed, Property: x.Property, Kind: x.Kind, Options: harness.Options{Instead: &plan.Algorithm}}
	j := &judge{runner: r, sought: v, most: o}
	s := single(&v)
	s.Bounds.Steps = min(s.Bounds.Steps, longest*max(result.Steps, 1))
	all := disturbances(s, result.History)
	suffice := func(names []string) bool {
		if j.spent() {
			return false
		}
		seen := j.run(only(s, all, names))
		return seen != nil && alike(s.Lock.TTL, result, seen)
	}
	needed := slices.Clone(all)
	for _, name := range all {
		if rest := except(needed, name); suffice(rest) {
			needed = rest
		}
	}
	return slices.DeleteFunc(all, func(name string) bool {
		return slices.Contains(needed, name) || slices.ContainsFunc(needed, func(other string) bool {
			return suffice(append(except(needed, other), name)) || j.spent()
		})
	})
}

// disturbances names the nodes whose clocks are wrong, and the faults that have happened. It leaves out those that are the reason for
// another one: one begins with them, or somebody made another server the master after them.
func disturbances(s *scenarios.Scenario, h *history.History) (names []string) {
	for i := range s.Clocks {
		names = append(names, s.Clocks[i].Node)
	}
	for _, f := range h.Faults {
		reason := slices.ContainsFunc(s.Faults, func(o sim.Fault) bool {
			k := slices.IndexFunc(h.Faults, func(p history.Fault) bool { return p.Name == o.Name })
			return hangsOn(&o.Trigger, f.Name) || o.Action.Kind == sim.Promote && o.Name != f.Name && k >= 0 && f.Begin <= h.Faults[k].Begin
		})
		if f.Fired && !reason {
			names = append(names, f.Name)
		}
	}
	return names
}

// only is a scenario with some of its disturbances.
func only(s *scenarios.Scenario, all, names []string) *scenarios.Scenario {
	s = parameter.Clone(s)
	s.Clocks = slices.DeleteFunc(s.Clocks, func(c scenarios.Clock) bool { return !slices.Contains(names, c.Node) })
	for i := len(s.Faults) - 1; i >= 0; i-- {
		if f := &s.Faults[i]; slices.Contains(all, f.Name) && !slices.Contains(names, f.Name) {
			dropFaults(s, i, i+1)
		}
	}
	return s
}

func except(names []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == one })
}

// alike reports whether two runs violate the same first: the same clients each property, in the same kind of way, and at about the same
// time.
func alike(ttl time.Duration, a, b *harness.Result) bool {
	about := min(max(ttl/100, time.Millisecond), 100*time.Millisecond)
	for p := range checker.PropertyCount {
		x, y := search.FirstOf(p, &a.Report), search.FirstOf(p, &b.Report)
		if x == nil && y == nil {
			continue
		}
		if x == nil || y == nil || x.Kind != y.Kind || y.At.Sub(x.At).Abs() > about || !slices.Equal(clientsOf(a.History, x), clientsOf(b.History, y)) {
			return false
		}
	}
	return true
}

// clientsOf names the clients that take part in a violation.
func clientsOf(h *history.History, x *checker.Violation) (names []string) {
	for _, id := range x.Acquisitions {
		if a := h.Acquisition(id); a != nil {
			names = append(names, a.Client)
		}
	}
	return names
}
