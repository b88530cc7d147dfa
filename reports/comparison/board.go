package comparison

import (
	"slices"

	"github.com/locksim/locksim/internal/search/compare"
)

// board finds the cells of a comparison.
type board struct {
	*compare.Comparison
	properties []string // damage first, then as cells name them
	cells      map[place]int
}

// place is where a cell stands.
type place struct{ lock, faults, fencing, property string }

func newBoard(c *compare.Comparison) *board {
	b := &board{Comparison: c, cells: make(map[place]int, len(c.Cells))}
	for i := range c.Cells {
		cell := &c.Cells[i]
		b.cells[place{cell.Lock, cell.Faults, cell.Fencing, cell.Property}] = i
		if !slices.Contains(b.properties, cell.Property) {
			b.properties = append(b.properties, cell.Property)
		}
	}
	if i := slices.Index(b.properties, resource); i > 0 {
		b.properties = slices.Insert(slices.Delete(b.properties, i, i+1), 0, resource)
	}
	return b
}

// at returns the cell of a place; nil if it has not been measured.
func (b *board) at(lock, faults, fencing, property string) *compare.Cell {
	if i, ok := b.cells[place{lock, faults, fencing, property}]; ok {
		return &b.Cells[i]
	}
	return nil
}

// index tells cells apart.
func (b *board) index(c *compare.Cell) int {
	return b.cells[place{c.Lock, c.Faults, c.Fencing, c.Property}]
}

// servers is the kind of servers of a lock; "" of one that is not known.
func (b *board) servers(lock string) string {
	for i := range b.Locks {
		if b.Locks[i].Name == lock {
			return b.Locks[i].Servers
		}
	}
	return ""
}

// kinds lists the kinds of servers, in the order in which locks name them.
func (b *board) kinds() []string {
	var kinds []string
	for i := range b.Locks {
		if k := b.Locks[i].Servers; !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// survived reports whether a cell was in danger, often or not, and not violated, as far as was seen.
func survived(c *compare.Cell) bool {
	return c.Outcome == compare.Held || c.Outcome == compare.Seldom || c.Outcome == compare.NotSeen
}

// judged reports whether a cell's rate means anything.
func judged(c *compare.Cell) bool {
	return c != nil && (c.Outcome == compare.Violated || survived(c) || c.Outcome == compare.Vacuous)
}

// tally sums up what became of a lock under all conditions, in one fencing mode and by one property.
type tally struct {
	violated, held, unseen, vacuous, unclear, impossible int
	danger                                               int // runs in which it was in danger, under whatever condition
	// worst is the cell that is violated most often; if none is, the least well known of those that were in danger.
	worst *compare.Cell
	why   string // of the first impossible one
}

// played is under how many conditions there was anything to measure.
func (t *tally) played() int { return t.violated + t.held + t.unseen + t.vacuous + t.unclear }

// outcome is what it comes to.
func (t *tally) outcome() compare.Outcome {
	switch {
	case t.violated > 0:
		return compare.Violated
	case t.unclear > 0:
		return compare.Undecided
	case t.unseen > 0:
		return compare.NotSeen
	case t.held > 0 && t.danger < compare.EnoughDanger:
		return compare.Seldom
	case t.held > 0:
		return compare.Held
	case t.vacuous > 0:
		return compare.Vacuous
	}
	return compare.Impossible
}

func (b *board) tally(lock, fencing, property string) tally {
	var t tally
	for _, faults := range b.Faults {
		c := b.at(lock, faults, fencing, property)
		if c == nil {
			continue
		}
		t.danger += c.InDanger
		switch c.Outcome {
		case compare.Violated:
			t.violated++
		case compare.Held, compare.Seldom:
			t.held++
		case compare.NotSeen:
			t.unseen++
		case compare.Vacuous:
			t.vacuous++
		case compare.Impossible:
			t.impossible++
			if t.why == "" {
				t.why = c.Why
			}
		default:
			t.unclear++
		}
		if worse(c, t.worst) {
			t.worst = c
		}
	}
	return t
}

// worse reports whether a cell says more about the worst of a lock than another does.
func worse(c, than *compare.Cell) bool {
	switch {
	case c.Outcome != compare.Violated && !survived(c):
		return false
	case than == nil:
		return true
	case survived(c) != survived(than):
		return survived(than)
	case survived(c):
		return c.Most > than.Most
	}
	return c.Rate > than.Rate
}
