package harness

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// How many seeds [Check] plays each case with; fewer of a program, whose runs take fifty times as long.
const checkSeeds, checkProgramSeeds = 20, 3

// Check lists what is wrong with a scenario beyond its format: a lock that cannot be played so, fencing modes for tokens
// that no lock of the scenario issues, and faults that happened in none of some seeds: their trigger is misspelt, or the
// node that they act on was down. Other errors are those of [Runner.Run].
func Check(r *Runner, s *scenarios.Scenario) (scenarios.Errors, error) {
	c := checking{runner: r, tokens: map[history.Fencing]bool{}, watched: map[*scenarios.Scenario]*watched{}}
	cases := s.Cases()
	for _, each := range cases {
		plan, err := Compile(each, nil)
		var problem *scenarios.Error
		switch {
		case errors.As(err, &problem):
			c.problems = append(c.problems, problem)
			continue
		case err != nil:
			return nil, err
		}
		c.tokens[each.Fencing] = c.tokens[each.Fencing] || plan.Algorithm.Token || judged(each)
		if err := c.play(plan); err != nil {
			return nil, err
		}
	}
	if len(c.problems) == 0 {
		c.refuseModes(s)
	}
	for _, each := range cases {
		if w := c.watched[each.Scenario]; w != nil {
			c.refuseIdle(each.Scenario, w)
			delete(c.watched, each.Scenario)
		}
	}
	return c.problems, nil
}

// judged reports whether a case says what it expects of the resource, if only that it is not judged.
func judged(c scenarios.Case) bool {
	_, ok := c.Expected(checker.Resource)
	return ok
}

type checking struct {
	runner   *Runner
	problems scenarios.Errors
	tokens   map[history.Fencing]bool // modes that compare something in one case at least
	watched  map[*scenarios.Scenario]*watched
}

// watched is what was seen of a scenario's faults.
type watched struct {
	runs  int
	fired []bool          // by fault
	begin []trace.Instant // of those that happened, in the last run
	whats [][]string      // what the steps were about that each fault's trigger could mean
}

// play plays a case and notes which of its faults happened.
func (c *checking) play(p *Plan) error {
	s := p.Case.Scenario
	w := c.watched[s]
	if w == nil {
		w = &watched{fired: make([]bool, len(s.Faults)), begin: make([]trace.Instant, len(s.Faults)), whats: make([][]string, len(s.Faults))}
		c.watched[s] = w
	}
	seeds := uint64(checkSeeds)
	if p.Algorithm.Program != nil {
		seeds = checkProgramSeeds
	}
	for n := range seeds {
		if !slices.Contains(w.fired, false) {
			return nil
		}
		result, err := c.runner.Run(p, s.Seed+n, true)
		if err != nil {
			return err
		}
		w.note(p, &result)
	}
	return nil
}

// note looks at one run. A fault that is no report of the engine's holds from the start: clients that draw alike.
func (w *watched) note(p *Plan, r *Result) {
	w.runs++
	for i := range p.faults {
		f := &p.faults[i]
		k := slices.IndexFunc(r.History.Faults, func(x history.Fault) bool { return x.Name == f.Name })
		if k < 0 {
			w.fired[i] = true
		} else if w.fired[i] = w.fired[i] || r.History.Faults[k].Fired; w.fired[i] {
			w.begin[i] = r.History.Faults[k].Begin
		}
		if f.Trigger.When == sim.At || w.fired[i] {
			continue
		}
		step := f.Trigger.Step
		step.What = ""
		for _, node := range []*string{&step.Node, &step.Peer} {
			if sim.IsRole(*node) {
				*node = ""
			}
		}
		for k := range r.Events {
			if e := &r.Events[k].Step; step.Matches(e, nil) {
				w.whats[i] = append(w.whats[i], e.What, e.Alt)
			}
		}
		slices.Sort(w.whats[i])
		w.whats[i] = slices.Compact(w.whats[i])
	}
}

// refuseModes refuses fencing modes for which there is nothing to compare in any variant.
func (c *checking) refuseModes(s *scenarios.Scenario) {
	for i, mode := range s.Resource.Fencing {
		if usable, played := c.tokens[mode]; played && !usable && mode.NeedsToken() {
			c.problems = append(c.problems, s.Errorf(fmt.Sprintf("resource.fencing[%d]", i),
				"%s compares fencing tokens, and the lock issues none; want a lock that does, or a mode that needs none", mode))
		}
	}
}

// refuseIdle refuses faults that happened in no run.
func (c *checking) refuseIdle(s *scenarios.Scenario, w *watched) {
	for i, fired := range w.fired {
		if fired {
			continue
		}
		f := &s.Faults[i]
		at := fmt.Sprintf("faults[%d]", i)
		why := w.downBy(s, i)
		if f.Trigger.When != sim.At {
			at += "." + f.Trigger.When.String()
			if what := w.misspelt(i, f.Trigger.Step.What); what != "" {
				at, why = at+".what", what
			}
		}
		c.problems = append(c.problems, s.Errorf(at, "the fault happened in none of %d runs%s", w.runs, why))
	}
}

// downBy says which fault had ended the process that another one acts on; "" if none had.
func (w *watched) downBy(s *scenarios.Scenario, i int) string {
	for k := range s.Faults {
		on := s.Faults[k].Action.Node
		if k == i || !w.fired[k] || s.Faults[k].Action.Kind != sim.Crash || on == "" {
			continue
		}
		f := &s.Faults[i]
		if on == f.Action.Node || f.Trigger.When != sim.At && on == f.Trigger.Step.Node {
			return fmt.Sprintf(": %s is down from %s on (%s)", on, w.begin[k], cmp.Or(s.Faults[k].Name, fmt.Sprintf("fault-%d", k+1)))
		}
	}
	return ""
}

// misspelt says that there is no step of that kind about what a trigger names; "" if there is.
func (w *watched) misspelt(i int, what string) string {
	if what == "" || len(w.whats[i]) == 0 {
		return ""
	}
	known := slices.DeleteFunc(w.whats[i], func(name string) bool { return name == "" })
	if slices.ContainsFunc(known, func(name string) bool { return sim.Glob(what, name) }) {
		return ""
	}
	text := fmt.Sprintf(": no such step is about %q", what)
	if len(known) > 0 {
		text += "; want " + strings.Join(known, ", ")
	}
	if near := scenarios.Nearest(what, known); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}
