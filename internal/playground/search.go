package playground

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/explore"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
)

// most is how many seeds one request plays at most, so that a page can stop soon.
const most = 1000

// seeds plays consecutive seeds of the first case.
func (e *Engine) seeds(q *Request) (*Answer, error) {
	s, err := read(q)
	if err != nil {
		return nil, err
	}
	first, err := strconv.ParseUint(q.First, 0, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no seed", q.First)
	}
	cases, _ := chosen(s, q)
	plan, err := harness.Compile(cases[0], harness.Options{})
	if err != nil {
		return nil, err
	}
	letters := make([]byte, 0, most)
	for i := range uint64(min(q.Count, most)) {
		r, err := e.runner.Run(plan, first+i, false)
		if err != nil {
			return nil, err
		}
		letters = append(letters, letterOf(&r.Report))
	}
	return &Answer{Seeds: string(letters)}, nil
}

func letterOf(r *checker.Report) byte {
	letter := byte('h')
	for p := range checker.PropertyCount {
		if r.Verdicts[p] == checker.Violated {
			return 'v'
		}
		if r.Verdicts[p] == checker.Undecided {
			letter = '?'
		}
	}
	return letter
}

// smallerRuns bounds the work of making a scenario smaller.
const smallerRuns = 3000

// smaller makes the violation of the first case minimal.
func (e *Engine) smaller(q *Request) (*Answer, error) {
	s, err := read(q)
	if err != nil {
		return nil, err
	}
	cases, _ := chosen(s, q)
	plan, err := harness.Compile(cases[0], harness.Options{})
	if err != nil {
		return nil, err
	}
	r, err := e.runner.Run(plan, cases[0].Scenario.Seed, false)
	if err != nil {
		return nil, err
	}
	x := account.Gravest(&r.Report)
	if x == nil {
		return nil, errors.New("nothing is violated, so that there is nothing to make smaller")
	}
	v := search.Violation{Case: cases[0], Seed: r.Seed, Property: x.Property, Kind: x.Kind}
	cx, err := minimal.Reduce(&e.runner, v, minimal.Options{Runs: smallerRuns, Allowed: e.counting()})
	if err != nil {
		return nil, err
	}
	return e.found(cx, cases[0])
}

// counting allows every scenario, and tells how many were tried.
func (e *Engine) counting() func(*scenarios.Scenario) bool {
	tried := 0
	return func(*scenarios.Scenario) bool {
		tried++
		e.tell(tried)
		return true
	}
}

func (e *Engine) tell(runs int) {
	if e.Progress != nil {
		e.Progress(runs)
	}
}

// found is the text of a counterexample of a case, with all fencing modes that the scenario has. What is expected of the one that was
// searched is not expected of the others, and nothing that any of them does is unexpected.
func (e *Engine) found(cx *minimal.Counterexample, of scenarios.Case) (*Answer, error) {
	s, modes := *cx.Scenario, of.Scenario.Resource.Fencing
	s.Resource.Fencing, s.Expect = modes, nil
	for _, x := range cx.Scenario.Expect {
		if x.Any || len(modes) < 2 {
			s.Expect = append(s.Expect, x)
			continue
		}
		for _, mode := range modes {
			x := x
			if x.Fencing = &mode; mode != of.Fencing {
				x.Verdict, x.Any = 0, true
			}
			s.Expect = append(s.Expect, x)
		}
	}
	for _, mode := range modes {
		c := scenarios.Case{Scenario: &s, Style: cx.Case.Style, Fencing: mode}
		run, err := e.run(c)
		if err != nil {
			return nil, err
		}
		s.Expect = c.Waiving(&run.Report)
	}
	with := *cx
	with.Scenario = &s
	return &Answer{Text: string(minimal.File(&with))}, nil
}

// find plays each fault of a fault model at each step of the first case, until something is violated.
func (e *Engine) find(q *Request) (*Answer, error) {
	s, err := read(q)
	if err != nil {
		return nil, err
	}
	cases, _ := chosen(s, q)
	r, err := explore.Explore(context.Background(), cases[0], explore.Options{Most: 1, StopAtFirst: true, Jobs: 1, Progress: func(r *explore.Result) { e.tell(r.Played()) }})
	if err != nil {
		return nil, err
	}
	if len(r.Findings) == 0 {
		says := fmt.Sprintf("Nothing was violated in %d schedules with one more fault, at the steps of this run.", r.Played())
		if n := r.Undecided(); n > 0 {
			says += fmt.Sprintf(" Of %d more it is unknown.", n)
		}
		if len(r.Acted) == 0 {
			says = "None of the faults that were tried found anything to act on: they show nothing."
		}
		return &Answer{Says: says}, nil
	}
	return e.found(r.Findings[0].Counterexample, cases[0])
}
