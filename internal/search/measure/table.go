package measure

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Table is what was measured: a cell for each combination of the plan's, ordered by condition, lock, style, fencing mode
// and property, or by setting, case and property.
type Table struct {
	Plan   Plan // with its defaults
	Cells  []Cell
	Played []Played // of each case of each setting, by the Schedules of its cells
	rows   []row
	_      struct{}
}

// Cell is what was measured of one lock under one condition, or of one case of a setting.
type Cell struct {
	Lock      string
	Condition string
	Values    []string // of the setting
	Variant   string   // of the setting's scenario
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
	NotSeen   int // likewise, but in the run of a program, which another run of the same schedule may violate
	Vacuous   int // the checker saw no danger
	Undecided int // nothing can be said: cut short, or a lock's code panicked
	NotJudged int // there was nothing to judge by
	InDanger  int // the property was at risk, or violated
}

// Kept is in how many runs the property was exposed, and not violated.
func (c *Counts) Kept() int { return c.Held + c.NotSeen }

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

// row is cells that follow one another, and what is played for them: by case, and by property.
type row struct {
	player
	strict bool // what cannot be played is an error
	first  int  // index of its first cell
	cells  int
}

// player plays what a row is about.
type player interface {
	// cases plays what the number stands for in each case.
	cases(runner *harness.Runner, n uint64, each func(*harness.Result, error))
	// violation is what a cell counted first.
	violation(c *Cell) search.Violation
}

// drawing plays what is drawn for one lock under one condition.
type drawing struct {
	lock    *locks.Algorithm
	model   search.FaultModel
	styles  []history.Style
	fencing []history.Fencing
}

// newTable makes the rows of a plan, with cells in which nothing has been counted.
func newTable(p Plan) *Table {
	t := &Table{Plan: p}
	if len(p.Settings) > 0 {
		t.addSettings()
		return t
	}
	t.addDrawn()
	return t
}

// addSettings adds a row for each setting.
func (t *Table) addSettings() {
	for i := range t.Plan.Settings {
		s := &t.Plan.Settings[i]
		r := row{player: s, strict: true, first: len(t.Cells)}
		for _, plan := range s.Plans {
			c := &plan.Case
			for _, property := range t.Plan.Properties {
				t.Cells = append(t.Cells, Cell{
					Lock: strings.Join(plan.Case.Scenario.Algorithms(), " and "), Values: s.Values, Variant: c.Variant, Style: c.Style, Fencing: c.Fencing,
					Property: property, Schedules: len(t.Played),
				})
			}
			t.Played = append(t.Played, Played{})
		}
		r.cells = len(t.Cells) - r.first
		t.rows = append(t.rows, r)
	}
}

// addDrawn adds a row for each lock under each condition.
func (t *Table) addDrawn() {
	p := &t.Plan
	p.Styles, p.Fencing = orDefault(p.Styles, history.Careless), orDefault(p.Fencing, history.Unfenced)
	var models []search.FaultModel // the index of one is what its schedules are called
	for _, condition := range p.Conditions {
		for i := range p.Locks {
			d := &drawing{lock: &p.Locks[i], model: neutral(condition.Model(&p.Locks[i])), styles: p.Styles}
			r := row{player: d, first: len(t.Cells)}
			same := func(m search.FaultModel) bool { return reflect.DeepEqual(m, d.model) }
			schedules := slices.IndexFunc(models, same)
			if schedules < 0 {
				schedules = len(models)
				models = append(models, d.model)
			}
			for _, mode := range p.Fencing {
				if !mode.NeedsToken() || d.lock.Token {
					d.fencing = append(d.fencing, mode)
				}
			}
			impossible := ""
			if condition.Spares != nil {
				impossible = condition.Spares(d.lock)
			}
			t.addCells(d, Cell{Lock: d.lock.Name, Condition: condition.Name, Schedules: schedules, Impossible: impossible})
			if r.cells = len(t.Cells) - r.first; r.cells > 0 && impossible == "" {
				t.rows = append(t.rows, r)
			}
		}
	}
}

// addCells adds a cell for each style, mode and property of what is drawn.
func (t *Table) addCells(d *drawing, cell Cell) {
	for _, style := range d.styles {
		for _, mode := range d.fencing {
			for _, property := range t.Plan.Properties {
				cell.Style, cell.Fencing, cell.Property = style, mode, property
				t.Cells = append(t.Cells, cell)
			}
		}
	}
}

func orDefault[T any](list []T, fallback T) []T {
	if len(list) == 0 {
		return []T{fallback}
	}
	return list
}

// neutral is a fault model from which the same is drawn for all locks that live on such servers, in whatever style they are used
// and however the resource defends itself.
func neutral(m search.FaultModel) search.FaultModel {
	m.Lock, m.Guardable = "", false
	m.Styles = []history.Style{history.Careless, history.Attentive, history.Careful}
	m.Fencing = []history.Fencing{history.Unfenced, history.CheckThenWrite}
	return m
}

// draw returns the scenario of a number, to be played in all styles and modes of the row.
func (d *drawing) draw(n uint64) *scenarios.Scenario {
	s := search.Generate(search.Seeded(n), d.model)
	s.Lock.Algorithm, s.Styles, s.Resource.Fencing = d.lock.Name, d.styles, d.fencing
	if d.model.Base == nil {
		s.Title = "A scenario drawn for " + d.lock.Name
	}
	return s
}

// options says that the row's lock is played, whatever the fault model says.
func (d *drawing) options() harness.Options { return harness.Options{Instead: d.lock} }

func (d *drawing) violation(c *Cell) search.Violation {
	s := d.draw(c.First)
	return search.Violation{
		Case: scenarios.Case{Scenario: s, Style: c.Style, Fencing: c.Fencing}, Seed: s.Seed, Property: c.Property,
		Kind: c.Kind, Options: d.options(),
	}
}

func (s *Setting) violation(c *Cell) search.Violation {
	i := slices.IndexFunc(s.Plans, func(p *harness.Plan) bool {
		return p.Case.Variant == c.Variant && p.Case.Style == c.Style && p.Case.Fencing == c.Fencing
	})
	return search.Violation{
		Case: s.Plans[i].Case, Seed: c.First, Property: c.Property, Kind: c.Kind, Options: harness.Options{Instead: &s.Plans[i].Algorithm},
	}
}

// Violation returns the first violation of a cell, for package minimal; false if there is none. Its lock is the plan's.
func (t *Table) Violation(cell int) (search.Violation, bool) {
	c := &t.Cells[cell]
	if c.Violated == 0 {
		return search.Violation{}, false
	}
	i := slices.IndexFunc(t.rows, func(r row) bool { return cell < r.first+r.cells })
	return t.rows[i].violation(c), true
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
	for i := range t.Played {
		t.Played[i].add(&next.Played[i])
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
	c.NotSeen += d.NotSeen
	c.Vacuous += d.Vacuous
	c.Undecided += d.Undecided
	c.NotJudged += d.NotJudged
	c.InDanger += d.InDanger
}
