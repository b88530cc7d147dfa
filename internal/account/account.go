// Package account completes what is reported of a run by what further runs show: the causes of its violation, how much of the
// scenario it needs, by how much what held held, from when on nothing random would have prevented it, and what would have. Call
// [Of] for what one run shows by itself, and [Study.Fill] for the rest. All of it is a function of the runs.
package account

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/margin"
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
	// programRuns is how often a program is run to find the causes of one violation, or what it does not need: each run starts its
	// processes.
	programRuns = 20
)

// Of is what a run shows by itself.
func Of(p *harness.Plan, r harness.Result) reports.Run {
	return reports.Run{
		Case: p.Case, Lock: p.Algorithm.Name, Seed: r.Seed, Digest: r.Digest, Steps: r.Steps, Messages: r.Messages,
		Virtual: r.Virtual, History: r.History, Events: r.Events, Report: r.Report, Program: p.Algorithm.Varies(),
	}
}

// Study plays further runs to find the smallest durations and rates with which runs violate a property, and the smallest changes
// with which one that held is violated.
type Study struct {
	Play    harness.Options
	Margins bool        // they are wanted
	Stop    func() bool // reports whether the search for margins is to end; nil: never

	runner   harness.Runner
	before   reports.Run // whose margins were looked for last
	foretold reports.Run // whose fate was looked for last
}

// Close ends what runs have kept open.
func (s *Study) Close() { s.runner.Close() }

// Fill adds boundaries to the first run of each schedule with a violation, and causes and margins to each run.
func (s *Study) Fill(runs []reports.Run) {
	defer s.runner.Close()
	for i := range runs {
		r := &runs[i]
		if r.Real != "" {
			continue // simulations show nothing of it
		}
		s.Measure(r)
		if plan, err := harness.Compile(r.Case, s.Play); err == nil {
			s.explain(plan, r)
		}
		x := Gravest(&r.Report)
		if x == nil || r.Program || i > 0 && sameSchedule(&runs[i-1], r) && Gravest(&runs[i-1].Report) != nil {
			continue
		}
		r.Needs = s.needs(r, x)
		s.Foretell(r, x)
	}
}

// Measure adds to a run by how much properties held, if that is wanted and does not take long. In another fencing mode the same
// schedule differs in what becomes of the resource, so that nothing else is looked for again.
func (s *Study) Measure(r *reports.Run) {
	if !s.Margins {
		return
	}
	twin := sameSchedule(&s.before, r)
	var properties []checker.Property
	for p := range checker.PropertyCount {
		if r.Report.Verdicts[p] == checker.Held && (!twin || p == checker.Resource || s.before.Report.Verdicts[p] != checker.Held) {
			properties = append(properties, p)
		}
	}
	s.before = *r
	s.runner.Stop = s.Stop
	defer func() { s.runner.Stop = nil }()
	found, ok := margin.Of(&s.runner, r.Case, &harness.Result{Seed: r.Seed, Steps: r.Steps, Report: r.Report}, properties, s.Play)
	if !ok {
		return
	}
	for i := range found {
		m := &found[i]
		told := reports.Margin{Property: m.Property, What: m.What, From: m.From, To: m.To, Kept: m.Kept}
		if r.Margin(m.Property) == nil {
			told.Story = s.story(m, r)
		}
		r.Margins = append(r.Margins, told)
	}
	for _, p := range properties {
		if r.Margin(p) == nil {
			r.Margins = append(r.Margins, reports.Margin{Property: p, Over: margin.Most(r.Case.Scenario)})
		}
	}
}

// story tells how a property comes to be violated with a margin's change.
func (s *Study) story(m *margin.Margin, r *reports.Run) string {
	plan, err := harness.Compile(m.Case, s.Play)
	if err != nil {
		return ""
	}
	result, err := s.runner.Run(plan, r.Seed, true)
	if err != nil {
		return ""
	}
	violated := Of(plan, result)
	s.explain(plan, &violated)
	return reports.Story(&violated, m.Property)
}

// explain finds out what an explanation of a run is to give as reasons, and what it is to leave out.
func (s *Study) explain(plan *harness.Plan, r *reports.Run) {
	r.Causes = Causes(&s.runner, plan, r)
	if most := mostRuns(r); most > 0 {
		result := harness.Result{Seed: r.Seed, Steps: r.Steps, History: r.History, Report: r.Report}
		r.Needless = minimal.Needless(&s.runner, plan, r.Seed, &result, minimal.Options{Runs: most})
	}
}

// mostRuns is how often a run may be played again to explain it.
func mostRuns(run *reports.Run) int {
	most := boundarySteps / max(run.Steps, 1)
	if run.Program {
		most = min(most, programRuns)
	}
	return most
}

// Causes finds the causes of a run's violation by running it without each of them, unless that would take long.
func Causes(r *harness.Runner, plan *harness.Plan, run *reports.Run) []checker.Cause {
	most := mostRuns(run)
	if most == 0 {
		return nil
	}
	return minimal.Causes(r, plan, run.Seed, &run.Report, minimal.Options{Runs: most})
}

// sameSchedule reports whether two runs differ only in the fencing mode. A variant is a scenario of its own.
func sameSchedule(a, b *reports.Run) bool {
	return a.Case.Scenario == b.Case.Scenario && a.Case.Style == b.Case.Style && a.Seed == b.Seed
}

func (s *Study) needs(r *reports.Run, x *checker.Violation) []string {
	most := min(boundarySteps/max(r.Steps, 1), boundaryRuns)
	if most < leastRuns {
		return nil
	}
	v := search.Violation{Case: r.Case, Seed: r.Seed, Property: x.Property, Kind: x.Kind, Options: s.Play}
	var list []string
	for _, n := range minimal.Boundary(&s.runner, v, minimal.Options{Runs: most}) {
		list = append(list, n.Sentence(kept(x.Property)))
	}
	return list
}

// Gravest is the first violation of the property that matters most: damage, or else the first one there is.
func Gravest(r *checker.Report) *checker.Violation {
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
