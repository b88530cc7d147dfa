package account

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/future"
	"github.com/locksim/locksim/reports"
)

// Foretell adds to the first run of a schedule with a violation from when on nothing random would have prevented the Gravest one, and
// what would have, if that is wanted and does not take long.
func (s *Study) Foretell(r *reports.Run, x *checker.Violation) {
	if !s.Margins || x == nil || sameSchedule(&s.foretold, r) {
		return
	}
	s.foretold = *r
	plan, err := harness.Compile(r.Case, s.Play)
	if err != nil {
		return
	}
	s.runner.Stop = s.Stop
	defer func() { s.runner.Stop = nil }()
	was := &harness.Result{Seed: r.Seed, Steps: r.Steps, Report: r.Report, History: r.History}
	fate, ok := future.Of(&s.runner, plan, was, x)
	if !ok {
		return
	}
	r.Fate = &reports.Fate{
		Property: x.Property, Start: fate.From == future.Start, From: fate.From, To: x.At, Played: fate.Played,
		Before: fate.Before, Others: fate.Others, Kept: fate.Kept,
	}
	defences, ok := future.Defences(&s.runner, r.Case, was, x.Property, s.Play)
	r.Fate.Tried = ok
	for i := range defences {
		d := &defences[i]
		r.Fate.Defences = append(r.Fate.Defences, reports.Defence{What: d.What, Size: d.Size, Runs: d.Runs, Averts: d.Averts})
	}
}
