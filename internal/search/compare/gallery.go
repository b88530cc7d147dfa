package compare

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
)

// hung is what came of the examples of one lock.
type hung struct {
	list []*Counterexample
	of   map[*Cell]int // the index of each cell's example
	err  error
}

// exemplify finds an example for each red cell.
func (c *comparer) exemplify() error {
	var plays iter.Seq[func(*harness.Runner) hung] = func(yield func(func(*harness.Runner) hung) bool) {
		for i := range c.plan.Locks {
			if !yield(func(r *harness.Runner) hung { return c.examplesOf(r, i) }) {
				return
			}
		}
	}
	done := 0
	return search.InOrder(c.ctx, c.plan.Jobs, plays, func(h hung) error {
		done++
		c.told("making violations minimal", done, len(c.plan.Locks))
		if h.err != nil {
			return h.err
		}
		c.hang(h)
		return nil
	})
}

// examplesOf finds the examples of one lock. What the resource suffers is seen first: it nearly always shows two holders,
// too, and two holders do not always harm the resource.
func (c *comparer) examplesOf(r *harness.Runner, lock int) hung {
	out := hung{of: map[*Cell]int{}}
	g := &gallery{ctx: c.ctx, runner: r, lock: &c.plan.Locks[lock]}
	for k := range c.columns {
		red := c.red(lock, k)
		slices.SortStableFunc(red, func(a, b *Cell) int { return onBelief(a) - onBelief(b) })
		t := &c.tables[c.playedIn(lock, k)]
		for _, cell := range red {
			if c.ctx.Err() != nil {
				return out
			}
			v, _ := t.Violation(t.find(cell.Lock, propertyOf(cell), modeOf(cell)))
			example, err := g.add(c.columns[k].id(), v)
			if c.ctx.Err() != nil {
				return out
			}
			if errors.Is(err, minimal.ErrVaries) {
				continue // its command plays the schedule
			}
			if err != nil {
				out.err = err
				return out
			}
			out.of[cell] = example
		}
	}
	for _, e := range g.list {
		if out.err = g.complete(e); out.err != nil {
			return out
		}
	}
	out.list = g.list
	return out
}

// red lists the cells of a lock in a column in which something is violated.
func (c *comparer) red(lock, col int) []*Cell {
	cells := c.out.Comparison.Cells
	if c.columns[col].guarded {
		cells = c.out.Comparison.Guarded
	}
	var list []*Cell
	for i := range cells {
		x := &cells[i]
		if x.Lock == c.plan.Locks[lock].Name && x.Faults == c.columns[col].name && x.Outcome == Violated {
			list = append(list, x)
		}
	}
	return list
}

// onBelief is 0 for what the resource suffers, and 1 for what else is violated.
func onBelief(c *Cell) int {
	if propertyOf(c) == checker.Resource {
		return 0
	}
	return 1
}

func propertyOf(c *Cell) checker.Property {
	p, _ := checker.ParseProperty(c.Property)
	return p
}

func modeOf(c *Cell) history.Fencing {
	mode, _ := history.ParseFencing(c.Fencing)
	return mode
}

// hang enters a lock's examples in its cells.
func (c *comparer) hang(h hung) {
	for cell, k := range h.of {
		e := h.list[k]
		cell.Example = &Example{
			Name: e.Scenario.Name, Cause: e.Cause(), Digest: e.digest(cell), Needs: e.Boundaries(), Faultless: e.faultless,
		}
		if c.plan.Locks[c.lockOf(cell.Lock)].Varies() { // so that no run of it has a digest that another one has
			cell.Example.Digest = ""
		}
		cell.Command = c.command(cell)
		if e.OutOfTime() {
			c.late[cell] = true
		}
	}
	for _, e := range h.list {
		c.out.Examples = append(c.out.Examples, *e)
	}
}

// digest is that of the example's run in a cell's mode.
func (e *Counterexample) digest(c *Cell) string {
	i := slices.IndexFunc(e.uses, func(u use) bool { return u.property == propertyOf(c) && u.mode == modeOf(c) })
	return fmt.Sprintf("%#x", e.uses[i].digest)
}

// ExampleFolder is where examples are, in the folder of a comparison.
const ExampleFolder = "examples"

// command plays the example of a cell.
func (c *comparer) command(cell *Cell) string {
	lock, behind := cell.Lock, ""
	if c.plan.Locks[c.lockOf(cell.Lock)].Varies() {
		lock, behind = "", " -- "+lock
	}
	if c.plan.Folder == "" || cell.Example == nil {
		return strings.Replace(fmt.Sprintf("locksim compare %s --faults %s --fencing %s --style %s --property %s --from %d --runs 1 "+
			"--rates-only --save compared%s", lock, cell.Faults, cell.Fencing, c.plan.Style, cell.Property, *cell.First, behind), "  ", " ", 1)
	}
	file := path.Join(c.plan.Folder, ExampleFolder, cell.Example.Name+".yaml")
	return fmt.Sprintf("locksim run %s --fencing %s%s", file, cell.Fencing, behind)
}
