package locktest

import (
	"fmt"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
)

// tally counts what became of the schedules that were played for one promise.
type tally struct {
	runs      int
	dangers   int // in which the promise was at risk
	undecided int
	reason    string // of the first that were not decided
}

// String says how hard it was tried.
func (c *tally) String() string {
	text := fmt.Sprintf("kept in %d schedules, at risk in %d", c.runs, c.dangers)
	if c.dangers == 0 {
		text += ": nothing that it is to survive ever happened, so this says nothing"
	}
	if c.undecided > 0 {
		text += fmt.Sprintf("; %d were cut short: %s", c.undecided, c.reason)
	}
	return text
}

// mostUndecided is after how many runs that were cut short no more are played: each of them takes long.
const mostUndecided = 5

// given reports whether nothing can be learnt from more runs.
func (c *tally) given() bool { return c.undecided >= mostUndecided }

// breach is a run in which a promise was broken, or the lock's code failed.
type breach struct {
	promise   *promise
	violation search.Violation // without a property's kind if the code failed
	text      string
	schedule  int   // the how manieth of those for the promise it is
	failed    error // what the lock's code did instead of ending
}

// try draws one schedule for a promise and plays it; nil if the promise is kept.
func (p *promise) try(r *harness.Runner, s *subject, src search.Source, c *tally) *breach {
	return p.play(r, s, p.draw(src), c)
}

// play plays a scenario in all of its cases; nil if the promise is kept.
func (p *promise) play(r *harness.Runner, s *subject, scenario *scenarios.Scenario, c *tally) *breach {
	var found *breach
	c.runs++
	danger := false
	search.Play(r, scenario, &s.algorithm, func(way scenarios.Case, result *harness.Result, err error) bool {
		v := search.Violation{Case: way, Seed: scenario.Seed, Property: p.property, Lock: &s.algorithm}
		if err != nil {
			found = &breach{promise: p, violation: v, text: err.Error(), failed: err}
			return false
		}
		danger = danger || result.Report.Dangers[p.property] > 0
		switch result.Report.Verdicts[p.property] {
		case checker.Violated:
			first := search.FirstOf(p.property, &result.Report)
			v.Kind = first.Kind
			found = &breach{promise: p, violation: v, text: first.Text}
		case checker.Undecided:
			c.undecided++
			c.reason = result.Report.Reasons[p.property]
		default:
		}
		return found == nil
	})
	if danger {
		c.dangers++
	}
	if found != nil {
		found.schedule = c.runs
	}
	return found
}
