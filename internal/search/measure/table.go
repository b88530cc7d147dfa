package measure

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Table is what was measured: a cell for each combination of the plan's, ordered by condition, lock, style, fencing mode
// and property.
type Table struct {
	Plan  Plan // with its defaults
	Cells []Cell
	rows  []row
	_     struct{}
}

// Cell is what was measured of one lock under one condition.
type Cell struct {
	Lock      string
	Condition string
	Style     history.Style
	Fencing   history.Fencing
	Property  checker.Property
	Schedules int // cells with the same number here were played on the same schedules
	// Impossible says why the condition cannot happen to the lock; "" if it can. Such a cell has no runs.
	Impossible string

	Counts
	First uint64 // the number of the first draw that violated the property, if any did
	Kind  string // how it did so

	violated, undecided draws // which draws did, and of which nothing is known
	_                   struct{}
}

// Counts is what came of a number of runs.
type Counts struct {
	Runs      int
	Violated  int
	Held      int // the property had been in danger
	Vacuous   int // the checker saw no danger
	Undecided int // nothing can be said: cut short, or a lock's code panicked
	NotJudged int // there was nothing to judge by
	InDanger  int // the property was at risk, or violated
}

// Rate is the share of runs in which the property was violated.
func (c *Counts) Rate() float64 { return share(c.Violated, c.Runs) }

// Danger is the share of runs in which the property was at risk, or violated.
func (c *Counts) Danger() float64 { return share(c.InDanger, c.Runs) }

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// Interval is where the probability of a violation lies, with some confidence: whatever became of runs of which nothing is
// known.
func (c *Counts) Interval(confidence float64) Range {
	return bounds(c.Violated, c.Violated+c.Undecided, c.Runs, confidence)
}

// row is what the plays of one lock under one condition contribute to: cells that follow one another.
type row struct {
	lock    *locks.Algorithm
	menu    search.Menu // of the draws
	styles  []history.Style
	fencing []history.Fencing
	first   int // index of its first cell
	cells   int
}

// newTable makes the rows of a plan, with cells in which nothing has been counted.
func newTable(p Plan) *Table {
	p.Styles, p.Fencing = orDefault(p.Styles, history.Careless), orDefault(p.Fencing, history.Unfenced)
	t := &Table{Plan: p}
	var menus []search.Menu // the index of one is what its schedules are called
	for _, condition := range p.Conditions {
		for i := range p.Locks {
			r := row{lock: &p.Locks[i], menu: neutral(condition.Menu(&p.Locks[i])), styles: p.Styles, first: len(t.Cells)}
			same := func(m search.Menu) bool { return reflect.DeepEqual(m, r.menu) }
			schedules := slices.IndexFunc(menus, same)
			if schedules < 0 {
				schedules = len(menus)
				menus = append(menus, r.menu)
			}
			for _, mode := range p.Fencing {
				if !mode.NeedsToken() || r.lock.Token {
					r.fencing = append(r.fencing, mode)
				}
			}
			impossible := ""
			if condition.Spares != nil {
				impossible = condition.Spares(r.lock)
			}
			t.addCells(&r, Cell{Lock: r.lock.Name, Condition: condition.Name, Schedules: schedules, Impossible: impossible})
			if r.cells > 0 && impossible == "" {
				t.rows = append(t.rows, r)
			}
		}
	}
	return t
}

// addCells adds a cell for each style, mode and property of a row.
func (t *Table) addCells(r *row, cell Cell) {
	for _, style := range r.styles {
		for _, mode := range r.fencing {
			for _, property := range t.Plan.Properties {
				cell.Style, cell.Fencing, cell.Property = style, mode, property
				t.Cells = append(t.Cells, cell)
			}
		}
	}
	r.cells = len(t.Cells) - r.first
}

func orDefault[T any](list []T, fallback T) []T {
	if len(list) == 0 {
		return []T{fallback}
	}
	return list
}

// neutral is a menu from which the same is drawn for all locks that live on such servers, in whatever style they are used
// and however the resource defends itself.
func neutral(m search.Menu) search.Menu {
	m.Lock, m.Guardable = "", false
	m.Styles = []history.Style{history.Careless, history.Attentive, history.Careful}
	m.Fencing = []history.Fencing{history.Unfenced, history.CheckThenWrite}
	return m
}

// draw returns the scenario of a number, to be played in all styles and modes of the row.
func (r *row) draw(n uint64) *scenarios.Scenario {
	s := search.Generate(search.Seeded(n), r.menu)
	s.Lock.Algorithm, s.Styles, s.Resource.Fencing = r.lock.Name, r.styles, r.fencing
	if r.menu.Base == nil {
		s.Title = "A scenario drawn for " + r.lock.Name
	}
	return s
}

// options says that the row's lock is played, whatever the menu says.
func (r *row) options() harness.Options { return harness.Options{Instead: r.lock} }

// Violation returns the first violation of a cell, for package minimal; false if there is none. Its lock is the plan's.
func (t *Table) Violation(cell int) (search.Violation, bool) {
	c := &t.Cells[cell]
	if c.Violated == 0 {
		return search.Violation{}, false
	}
	i := slices.IndexFunc(t.rows, func(r row) bool { return cell < r.first+r.cells })
	s := t.rows[i].draw(c.First)
	return search.Violation{
		Case: scenarios.Case{Scenario: s, Style: c.Style, Fencing: c.Fencing}, Seed: s.Seed, Property: c.Property,
		Kind: c.Kind, Options: t.rows[i].options(),
	}, true
}

// Add adds what the same plan came to with the numbers that follow. The error says that the tables do not follow one
// another.
func (t *Table) Add(next *Table) error {
	if len(t.Cells) != len(next.Cells) {
		return fmt.Errorf("%d cells are not followed by %d", len(t.Cells), len(next.Cells))
	}
	for i := range t.Cells {
		c, d := &t.Cells[i], &next.Cells[i]
		switch from := t.Plan.Draws.First + uint64(c.Runs); {
		case !c.names(d):
			return fmt.Errorf("what is measured of %s is not followed by what is of %s", c.Lock, d.Lock)
		case next.Plan.Draws.First != from:
			return fmt.Errorf("draws up to %d are not followed by draws from %d on", from, next.Plan.Draws.First)
		}
	}
	for i := range t.Cells {
		t.Cells[i].add(&next.Cells[i])
	}
	t.Plan.Draws.Count += next.Plan.Draws.Count
	return nil
}

// names reports whether two cells are of the same.
func (c *Cell) names(d *Cell) bool {
	return c.Lock == d.Lock && c.Condition == d.Condition && c.Style == d.Style && c.Fencing == d.Fencing &&
		c.Property == d.Property && c.Schedules == d.Schedules
}

// add counts the draws that follow.
func (c *Cell) add(d *Cell) {
	if c.Violated == 0 {
		c.First, c.Kind = d.First, d.Kind
	}
	c.violated.add(&d.violated, c.Runs)
	c.undecided.add(&d.undecided, c.Runs)
	c.Runs += d.Runs
	c.Violated += d.Violated
	c.Held += d.Held
	c.Vacuous += d.Vacuous
	c.Undecided += d.Undecided
	c.NotJudged += d.NotJudged
	c.InDanger += d.InDanger
}
