package locktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// tally counts what became of the schedules that were played for one promise.
type tally struct {
	runs      int
	steps     int // of all of them together
	dangers   int // in which the promise was at risk
	undecided int
	reason    string // of the first that were not decided
	found     *Finding
}

// String says how hard it was tried.
func (c *tally) String() string {
	if c.runs == 0 {
		return "not asked"
	}
	if c.found != nil {
		return fmt.Sprintf("broken in schedule %d", c.runs)
	}
	text := fmt.Sprintf("kept in %d schedules, at risk in %d", c.runs, c.dangers)
	if c.dangers == 0 {
		text += ": nothing that it is to survive ever happened, so this says nothing"
	}
	if c.undecided > 0 {
		text += fmt.Sprintf("; %d were cut short: %s", c.undecided, c.reason)
	}
	return text
}

// own up to it if nothing was learnt: that the promise is kept would be saying too much.
func (c *tally) own(t interface{ Skip(reasons ...any) }) {
	if c.dangers == 0 {
		t.Skip(c)
	}
}

// mostUndecided is after how many runs that were cut short no more are played: each of them takes long.
const mostUndecided = 5

// given reports whether nothing can be learnt from more runs.
func (c *tally) given() bool { return c.undecided >= mostUndecided }

// breach is a run in which a promise was broken, or the lock's code failed.
type breach struct {
	promise   *pledge
	violation search.Violation // without a property's kind if the code failed
	text      string
	schedule  int   // the how manieth of those for the promise it is
	failed    error // what the lock's code did instead of ending
}

// try draws one schedule for a promise and plays it; nil if the promise is kept.
func (p *pledge) try(r *player, s *subject, src search.Source, c *tally) *breach {
	return p.play(r, s, p.draw(src), c)
}

// play plays a scenario in all of its cases; nil if the promise is kept.
func (p *pledge) play(r *player, s *subject, scenario *scenarios.Scenario, c *tally) *breach {
	t := trial{promise: p, seed: scenario.Seed, options: s.played()}
	c.runs++
	stuck := r.do(1, "a schedule for "+string(p.Name), func(r *harness.Runner) {
		search.Play(r, scenario, t.options, t.judge)
	})
	if stuck != nil {
		v := search.Violation{Case: scenario.Cases()[0], Seed: scenario.Seed, Property: p.Property, Options: t.options}
		return &breach{promise: p, violation: v, text: stuck.Error(), schedule: c.runs, failed: stuck}
	}
	if t.found != nil && t.found.failed == nil && !p.mayBreak(r, &t.found.violation) {
		t.found = nil
	}
	c.add(&t)
	return t.found
}

// trial is what comes of a scenario that is played in all of its cases.
type trial struct {
	promise *pledge
	seed    uint64
	options harness.Options

	found     *breach
	steps     int
	danger    bool
	undecided int
	reason    string
}

// judge looks at one case, and reports whether to go on.
func (t *trial) judge(way scenarios.Case, result *harness.Result, err error) bool {
	p := t.promise
	t.steps += result.Steps
	v := search.Violation{Case: way, Seed: t.seed, Property: p.Property, Options: t.options}
	if err != nil {
		t.found = &breach{promise: p, violation: v, text: failure(err, &way), failed: err}
		return false
	}
	t.danger = t.danger || result.Report.Dangers[p.Property] > 0
	switch result.Report.Verdicts[p.Property] {
	case checker.Violated:
		if first := p.Forgives.First(p.Property, result.History, &result.Report); first != nil {
			v.Kind = first.Kind
			t.found = &breach{promise: p, violation: v, text: first.Text}
		}
	case checker.Undecided:
		t.undecided++
		t.reason = result.Report.Reasons[p.Property]
	default:
	}
	return t.found == nil
}

// failure says what the lock's code did instead of ending, and where it panicked.
func failure(err error, way *scenarios.Case) string {
	var thrown *sim.Panic
	if !errors.As(err, &thrown) {
		return err.Error()
	}
	text := strings.Join(append([]string{thrown.Error()}, thrown.Calls()...), "\n  ")
	repeats := func(c scenarios.Client) bool { return c.Unlock > 0 && slices.Contains(c.Names(), thrown.Node) }
	if strings.Contains(thrown.Stack, ").Release(") && slices.ContainsFunc(way.Scenario.Clients, repeats) {
		text += "\n  This application calls Release once more after an error (unlock-again), as applications may."
	}
	return text
}

// add counts a trial.
func (c *tally) add(t *trial) {
	c.steps += t.steps
	if t.danger {
		c.dangers++
	}
	if c.undecided += t.undecided; t.undecided > 0 {
		c.reason = t.reason
	}
	if t.found != nil {
		t.found.schedule = c.runs
	}
}
