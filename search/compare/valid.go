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
	for i := range c.Heats {
		if h := &c.Heats[i]; !h.square(h.Violated) || !h.square(h.InDanger) {
			return fmt.Errorf("the heat map %q has not a field for each row and column", h.Name)
		}
	}
	return nil
}

func (x *Cell) valid() error {
	where := fmt.Sprintf("the cell of %s under %s, fencing %s, %s", x.Lock, x.Faults, x.Fencing, x.Property)
	outcomes := []Outcome{Violated, Held, Vacuous, NotJudged, Undecided, Impossible}
	_, mode := history.ParseFencing(x.Fencing)
	_, property := checker.ParseProperty(x.Property)
	switch {
	case !slices.Contains(outcomes, x.Outcome):
		return fmt.Errorf("%s: there is no outcome %q", where, x.Outcome)
	case !mode:
		return fmt.Errorf("%s: there is no such fencing mode", where)
	case !property:
		return fmt.Errorf("%s: there is no such property", where)
	case min(x.Runs, x.Violated, x.InDanger, x.Undecided) < 0 || max(x.Violated, x.InDanger, x.Undecided) > x.Runs:
		return fmt.Errorf("%s: of %d runs %d were violated, %d in danger and %d undecided, which cannot be", where, x.Runs,
			x.Violated, x.InDanger, x.Undecided)
	}
	return nil
}

// square reports whether a heat map has a number for each of its fields.
func (h *Heat) square(fields [][]int) bool {
	return len(fields) == len(h.Rows) && !slices.ContainsFunc(fields, func(row []int) bool { return len(row) != len(h.Columns) })
}
