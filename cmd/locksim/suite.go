package main

import (
	"errors"

	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/reports"
)

// suiteReporter counts, and tells a build server at the end.
type suiteReporter struct {
	suite reports.Suite
	batch *batch
	write func(*reports.Suite) error
}

func (r *suiteReporter) add(_ int, run reports.Run) error {
	r.suite.Add(run)
	return nil
}

func (r *suiteReporter) close(cut int) error {
	r.suite.Planned = cut
	var runner harness.Runner
	defer runner.Close()
	err := r.suite.Complete(func(run reports.Run) (reports.Run, error) { return r.batch.again(&runner, run) })
	if err != nil {
		return err
	}
	return r.write(&r.suite)
}

func (r *suiteReporter) status() reports.Status { return r.suite.Status() }
func (r *suiteReporter) keeps() bool            { return false }

// again plays a run of a batch again, and keeps its events: of a program, whose runs may differ, until one is not as expected again.
func (p *batch) again(runner *harness.Runner, run reports.Run) (reports.Run, error) {
	for i := range p.jobs {
		if p.jobs[i].Plan.Case != run.Case || p.files[i] != run.File {
			continue
		}
		for n := 1; ; n++ {
			result, err := runner.Run(p.jobs[i].Plan, run.Seed, true)
			if err != nil {
				return run, err
			}
			played := account.Of(p.jobs[i].Plan, result)
			played.File = run.File
			status, _ := played.Status()
			if status != reports.AsExpected || !run.Program || n == search.Repeats {
				return played, nil
			}
		}
	}
	return run, errors.New("a run belongs to no job: " + run.Case.Scenario.Name)
}
