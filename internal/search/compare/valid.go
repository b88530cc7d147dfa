package compare

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// Valid says what is wrong with a comparison that was read from a file: what no measurement comes to.
func (c *Comparison) Valid() error {
	if c.Schema != Schema {
		return fmt.Errorf("its form is %q, and not %q", c.Schema, Schema)
	}
	known := map[string]bool{}
	for i := range c.Locks {
		known[c.Locks[i].Name] = true
	}
	for _, cells := range [][]Cell{c.Cells, c.Guarded} {
		for i := range cells {
			if err := cells[i].valid(); err != nil {
				return err
			}
			if !known[cells[i].Lock] {
				return fmt.Errorf("a cell is of the lock %q, which is not among its locks", cells[i].Lock)
			}
		}
	}
	return nil
}

func (c *Cell) valid() error {
	where := fmt.Sprintf("the cell of %s under %s, fencing %s, %s", c.Lock, c.Faults, c.Fencing, c.Property)
	outcomes := []Outcome{Violated, Held, Seldom, NotSeen, Vacuous, NotJudged, Undecided, Impossible}
	_, mode := history.ParseFencing(c.Fencing)
	_, property := checker.ParseProperty(c.Property)
	switch {
	case !slices.Contains(outcomes, c.Outcome):
		return fmt.Errorf("%s: there is no outcome %q", where, c.Outcome)
	case !mode:
		return fmt.Errorf("%s: there is no such fencing mode", where)
	case !property:
		return fmt.Errorf("%s: there is no such property", where)
	case min(c.Runs, c.Violated, c.InDanger, c.Undecided) < 0 || max(c.Violated, c.InDanger, c.Undecided) > c.Runs:
		return fmt.Errorf("%s: of %d runs %d were violated, %d exposed and %d undecided, which cannot be", where, c.Runs,
			c.Violated, c.InDanger, c.Undecided)
	}
	return nil
}
