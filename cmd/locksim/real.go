package main

import (
	"fmt"
	"os"
	"time"

	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/replay"
	"github.com/locksim/locksim/reports"
)

// onRealServers plays the jobs on real servers, one after another, once for each of their seeds.
func (c *call) onRealServers(p *batch, add func(job int, run reports.Run) error) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	takes := time.Duration(0)
	for _, job := range p.jobs { // before any of them is played
		if err := replay.Refuse(job.Plan); err != nil {
			return fmt.Errorf("%s on real servers: %w", reports.Visible(job.Plan.Case.Scenario.Name), err)
		}
		takes += time.Duration(job.Seeds.Count) * job.Plan.Case.Scenario.End()
	}
	c.complain(fmt.Sprintf("%s: the program itself, its runtime and its libraries, on real servers of this machine and by its clocks, so that runs "+
		"take as long as they say: all of them at most %s. The resource is locksim's.", p.jobs[0].Plan.Algorithm.Name, takes.Round(time.Second)))
	for i, job := range p.jobs {
		for n := range job.Seeds.Count {
			c.files.staged.Store(true)
			once, err := replay.PlayOnce(c.ctx, job.Plan, []string{self})
			c.files.staged.Store(false)
			if err != nil {
				return err
			}
			run := account.Of(job.Plan, once.Result)
			run.Seed += uint64(n)
			run.Real, run.Late = once.Servers, once.Late
			if err := add(i, run); err != nil {
				return err
			}
		}
	}
	return nil
}
