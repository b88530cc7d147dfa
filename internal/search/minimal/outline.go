package minimal

import (
	"slices"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
)

// Outline is what a few runs tell of a violation: its form without the faults that it does not need, which nearly
// always is that of its minimal scenario.
type Outline struct {
	Form  string
	Known int // the index of a known counterexample that has this form, or explains it; -1 if none does
	Runs  int // played to find it
	_     struct{}
}

// Sketch outlines a violation, as far as it takes to see whether one of some known counterexamples explains it. The
// error says that the violation cannot be repeated, or that the context was done.
func Sketch(r *harness.Runner, v search.Violation, known []*Counterexample, o Options) (*Outline, error) {
	red, err := newReducer(r, v, o)
	if err != nil {
		return nil, err
	}
	f := red.thinned()
	find := func(explains func(known *form) bool) int {
		return slices.IndexFunc(known, func(c *Counterexample) bool {
			return c.form.String() == f.String() || explains(&c.form)
		})
	}
	at := find(func(known *form) bool { return known.isStory() && f.extends(known) })
	if at < 0 {
		red.fewerFaults()
		f = formOf(&red.sought, red.now, red.seen)
		at = find(func(known *form) bool { return f.extends(known) })
	}
	return &Outline{Form: f.String(), Known: at, Runs: red.runs}, red.ended()
}
