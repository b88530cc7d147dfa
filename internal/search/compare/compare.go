package compare

import (
	"context"
	"errors"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parts"
	"github.com/locksim/locksim/locks"
)

// Plan says what is compared.
type Plan struct {
	Locks      []locks.Algorithm
	Faults     []string           // columns, of ColumnNames
	Fencing    []history.Fencing  // modes; beliefs are judged in the first of them
	Style      history.Style      // of the clients
	Properties []checker.Property // the resource is judged in each mode, all others in the first one
	Draws      search.Seeds       // by whose numbers schedules are drawn
	Confidence int                // of the intervals, in percent
	Folder     string             // where the caller is going to save the examples; "" if nowhere
	RatesOnly  bool               // no costs, and no advice, which needs the costs
	Jobs       int                // runs at once; what is measured does not depend on it
	Parts      *parts.Parts       // which of the schedules are played here; nil: all
	_          struct{}
}

// Progress is told what is being done, and of it how many of how many runs or pieces have been.
type Progress func(doing string, done, of int)

// Result is what came of a plan.
type Result struct {
	Comparison *Comparison
	// Examples are the minimal scenarios that cells name, to be saved. Stories are left to the caller.
	Examples []Counterexample
}

// Compare measures what a plan asks for. If it leaves parts of that to others, there is no result. If the context is done before that, what was measured until then is returned with
// the context's error. Other errors say that a program cannot even set its lock up.
func Compare(ctx context.Context, p Plan, told Progress) (*Result, error) {
	c := &comparer{ctx: ctx, plan: p, told: told, columns: chosenColumns(p.Faults), late: map[*Cell]bool{}}
	if told == nil {
		c.told = func(string, int, int) {}
	}
	if err := c.begin(); err != nil {
		return nil, err
	}
	steps := []func() error{c.measure, c.cost, c.exemplify}
	if p.RatesOnly {
		steps = []func() error{c.measure, c.exemplify}
	}
	if p.Parts.Partial() {
		return nil, c.measure()
	}
	var err error
	for i := 0; i < len(steps) && err == nil; i++ {
		err = steps[i]()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	c.out.Comparison.Interrupted = err != nil
	if c.need(); err == nil && !p.RatesOnly { // half a measurement is no ground for advice
		c.advise()
	}
	return &c.out, err
}

// comparer is a comparison in the making.
type comparer struct {
	ctx     context.Context
	plan    Plan
	told    Progress
	columns []column
	facts   []facts    // of the locks
	spared  [][]string // by column and lock: why it is not played; "" if it is
	tables  []table    // of the columns
	out     Result
	index   map[place]int      // of the cells
	weak    map[string]float64 // how often locks were violated
	late    map[*Cell]bool     // cells whose example shows a holder that continues past its lease, and nothing else
}

// lockOf returns the index of a lock of the plan.
func (c *comparer) lockOf(name string) int {
	return slices.IndexFunc(c.plan.Locks, func(l locks.Algorithm) bool { return l.Name == name })
}
