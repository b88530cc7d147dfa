package main

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/reports"
)

// Limits of the search for boundaries, which must not take noticeable time. They are in steps of the engine, so that the
// result does not depend on the speed of the machine.
const (
	boundarySteps = 250_000
	boundaryRuns  = 500
	// leastRuns is about the number of runs that one boundary takes.
	leastRuns = 120
)

// boundary finds the smallest durations and rates with which runs violate a property.
type boundary struct {
	runner harness.Runner
	play   harness.Options
}

// fill adds boundaries to the first run of each schedule with a violation, and causes to each run.
func (b *boundary) fill(runs []reports.Run) {
	defer b.runner.Close()
	for i := range runs {
		r := &runs[i]
		if plan, err := harness.Compile(r.Case, b.play); err == nil {
			r.Causes = causes(&b.runner, plan, r)
		}
		x := gravest(&r.Report)
		if x == nil || i > 0 && sameSchedule(&runs[i-1], r) && gravest(&runs[i-1].Report) != nil {
			continue
		}
		r.Needs = b.needs(r, x)
	}
}

// causes finds the causes of a run's violation by running it without each of them, unless that would take long.
func causes(r *harness.Runner, plan *harness.Plan, run *reports.Run) []checker.Cause {
	most := boundarySteps / max(run.Steps, 1)
	if most == 0 {
		return nil
	}
	return minimal.Causes(r, plan, run.Seed, &run.Report, minimal.Options{Runs: most})
}

// sameSchedule reports whether two runs differ only in the fencing mode. A variant is a scenario of its own.
func sameSchedule(a, b *reports.Run) bool {
	return a.Case.Scenario == b.Case.Scenario && a.Case.Style == b.Case.Style && a.Seed == b.Seed
}

func (b *boundary) needs(r *reports.Run, x *checker.Violation) []string {
	most := min(boundarySteps/max(r.Steps, 1), boundaryRuns)
	if most < leastRuns {
		return nil
	}
	v := search.Violation{Case: r.Case, Seed: r.Seed, Property: x.Property, Kind: x.Kind, Options: b.play}
	var list []string
	for _, n := range minimal.Boundary(&b.runner, v, minimal.Options{Runs: most}) {
		list = append(list, n.Sentence(kept(x.Property)))
	}
	return list
}

// gravest is the first violation of the property that matters most: damage, or else the first one there is.
func gravest(r *checker.Report) *checker.Violation {
	if x := search.FirstOf(checker.Resource, r); x != nil {
		return x
	}
	for p := range checker.PropertyCount {
		if x := search.FirstOf(p, r); x != nil {
			return x
		}
	}
	return nil
}

// kept says that a property is not violated.
func kept(p checker.Property) string {
	return [checker.PropertyCount]string{
		checker.MutualExclusion:    "no two believe at once",
		checker.ExclusionAtService: "no two are granted it at once",
		checker.Resource:           "the resource stays safe",
		checker.FencingOrder:       "tokens grow with every grant",
		checker.ReleaseSafety:      "no release ends what is another's",
		checker.Progress:           "nobody waits too long",
		checker.Availability:       "nobody waits too long",
		checker.Survival:           "no program ends itself",
		checker.Leak:               "nothing is left behind that keeps others out",
		checker.SilentLoss:         "no holder loses the lock without a fault, or without being told",
		checker.RequestLoad:        "no client sends too many requests",
	}[p]
}
