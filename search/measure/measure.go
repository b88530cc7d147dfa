// Package measure plays a fixed number of scenarios and says how often a property was violated, with an exact interval. Call
// [Measure] with a [Plan]; what it returns is a [Table] of cells, which can be compared.
//
// All locks whose menus are alike are played on the same schedules, in all styles and fencing modes: draw number n is one
// deployment with its clients, their times, and faults. What a cell says is a function of its lock, condition, style, mode
// and property, and of the numbers of its draws: not of what else is measured beside it.
package measure

import (
	"context"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/search"
)

// Plan says what is measured: each lock under each condition, in each style and each fencing mode that it has a token for,
// by each property.
type Plan struct {
	Locks      []locks.Algorithm
	Conditions []Condition
	Styles     []history.Style   // careless
	Fencing    []history.Fencing // unfenced
	Properties []checker.Property
	Draws      search.Seeds // by whose numbers scenarios are drawn
	Jobs       int          // runs at once; what is measured does not depend on it
	_          struct{}
}

// Condition is what may befall locks.
type Condition struct {
	Name string
	// Menu is what may befall one lock. Lock, styles and fencing modes of the menu are left to the plan.
	Menu func(*locks.Algorithm) search.Menu
}

// Under is the condition that faults of some kinds may happen, on servers as the lock is usually deployed; none at all if
// no kind is named.
func Under(kinds ...search.Kind) Condition {
	var names []string
	for _, k := range kinds {
		names = append(names, k.String())
	}
	c := Condition{Name: strings.Join(names, ",")}
	switch len(kinds) {
	case 0:
		c.Name = "none"
	case len(search.Kinds()):
		c.Name = "all"
	}
	c.Menu = func(lock *locks.Algorithm) search.Menu { return search.Wide(lock, kinds) }
	return c
}

// Measure plays a plan, several runs at once. Each, which may be nil, is told how many runs have been played, and in how
// many of them anything was violated. When the context is done, what was played until then is returned with the error.
func Measure(ctx context.Context, p Plan, each func(runs, violated int)) (*Table, error) {
	t := newTable(p)
	runs, violated := 0, 0
	err := search.InOrder(ctx, p.Jobs, t.stretches(), func(s stretch) error {
		t.take(&s)
		runs += s.runs
		violated += s.violated
		if each != nil {
			each(runs, violated)
		}
		return nil
	})
	return t, err
}

// Runs is how many runs it takes to play a plan.
func (p *Plan) Runs() int {
	runs := 0
	for _, r := range newTable(*p).rows {
		runs += len(r.styles) * len(r.fencing) * p.Draws.Count
	}
	return runs
}
