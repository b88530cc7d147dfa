// Package strategies compares ways to search: how many runs each of them needs until a violation that is known to be
// there is found. Nothing of the product is in here; package search has what the comparison is in favour of.
//
// Call [Compare] for a row of a [Table]. There are two: of all strategies for the limits of what locks promise ([Limits]),
// and of how package search's wide menus do with what the named stories show ([Hunts]). The rows that they lack, such as
// have been deleted to be made again, are played by
//
//	UPDATE=1 LONG=1 go test ./internal/search/strategies -run TestTables -timeout 2h
package strategies

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Quarry is what is searched for: something on the menu violates the property.
type Quarry struct {
	Name     string
	Note     string // for a reader
	Menu     search.Menu
	Property checker.Property
	_        struct{}
}

// Strategy is a way to search.
type Strategy struct {
	Name  string
	first func(h *hunter, series uint64, most int) int
	_     struct{}
}

// Strategies lists those that are compared, the baseline first.
func Strategies() []Strategy {
	return []Strategy{
		{Name: search.StepKeyed.String(), first: drawn(search.StepKeyed)},
		{Name: search.Swarm.String(), first: drawn(search.Swarm)},
		{Name: search.Uniform.String(), first: drawn(search.Uniform)},
		{Name: "guided", first: guided},
	}
}

// First returns how many runs a series needs until the first violation, and more than it may need if there is none
// among this many. Series of different numbers have nothing in common.
func (s *Strategy) First(r *harness.Runner, q *Quarry, series uint64, most int) int {
	lock, ok := locks.Catalogue().Find(q.Menu.Lock)
	if !ok {
		panic("strategies: there is no lock " + q.Menu.Lock)
	}
	return s.first(&hunter{runner: r, lock: &lock, quarry: q}, series, most)
}

// hunter plays one scenario after another.
type hunter struct {
	runner *harness.Runner
	lock   *locks.Algorithm
	quarry *Quarry
}

// play plays a scenario in all of its cases, shows each one's history, and reports whether one violates the property.
func (h *hunter) play(s *scenarios.Scenario, show func(*history.History)) bool {
	found := false
	search.Play(h.runner, s, harness.Options{Instead: h.lock}, func(_ scenarios.Case, result *harness.Result, err error) bool {
		if err != nil {
			panic("strategies: " + err.Error())
		}
		if show != nil {
			show(result.History)
		}
		found = result.Report.Verdicts[h.quarry.Property] == checker.Violated
		return !found
	})
	return found
}

// number is the source of the n-th draw of a series.
func number(series uint64, n int) search.Source { return search.Seeded(series<<32 | uint64(n)) }

// drawn searches by fresh draws alone.
func drawn(strategy search.Strategy) func(*hunter, uint64, int) int {
	return func(h *hunter, series uint64, most int) int {
		menu := h.quarry.Menu
		menu.Strategy = strategy
		for n := range most {
			if h.play(search.Generate(number(series, n), menu), nil) {
				return n + 1
			}
		}
		return most + 1
	}
}
