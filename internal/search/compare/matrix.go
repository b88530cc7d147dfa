package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/locks"
)

// How many of the first runs of a cell are counted by themselves, for [Check]; and if a program is among the locks, whose
// runs take fifty times as long.
const sampleSize, programSample = 25, 8

func sampleOf(list []locks.Algorithm) int {
	if slices.ContainsFunc(list, isProgram) {
		return programSample
	}
	return sampleSize
}

func isProgram(lock locks.Algorithm) bool { return lock.Program != nil }

// guardedRuns is how many schedules at most are played where the resource lives on the lock's own servers.
const guardedRuns = 1_000

// roundSize is how many schedules of each column are played before more of any, so that cells are about even whenever a
// comparison is ended.
const roundSize = 500

// table is what was measured in one column.
type table struct {
	*measure.Table
	plan   measure.Plan
	sample []measure.Counts // of its cells
	first  int              // number of its first schedules, among those of all columns
}

// begin finds out what has to be known of the locks before they are played, and which plays there are. The error says that
// a lock's program cannot set it up.
func (c *comparer) begin() error {
	var err error
	if c.facts, err = probeAll(c.plan.Locks); err != nil {
		return err
	}
	c.frame()
	schedules := 1
	for i := range c.columns {
		var missing []string
		for k := range c.plan.Locks {
			missing = append(missing, c.columns[i].spares(&c.plan.Locks[k], &c.facts[k]))
		}
		c.spared = append(c.spared, missing)
		c.tables = append(c.tables, table{plan: c.planOf(i), first: schedules})
		schedules += len(c.plan.Locks)
	}
	return nil
}

// planOf is how a column is measured: with the locks that its faults can hit.
func (c *comparer) planOf(k int) measure.Plan {
	col := &c.columns[k]
	p := measure.Plan{
		Styles: []history.Style{c.plan.Style}, Fencing: c.plan.Fencing, Properties: c.counted(), Jobs: c.plan.Jobs, Parts: c.plan.Parts,
		Conditions: []measure.Condition{col.condition(func(lock *locks.Algorithm) *facts { return &c.facts[c.lockOf(lock.Name)] })},
	}
	if col.guarded {
		p.Fencing, p.Properties = []history.Fencing{history.Unfenced}, []checker.Property{checker.Resource}
	}
	for i := range c.plan.Locks {
		if c.spared[k][i] == "" && c.playedIn(i, k) == k {
			p.Locks = append(p.Locks, c.plan.Locks[i])
		}
	}
	return p
}

// counted are the properties that are counted: those that were asked for, and those by which locks are put in order where
// several answer a question.
func (c *comparer) counted() []checker.Property {
	list := slices.Clone(c.plan.Properties)
	for _, p := range orderedBy {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// measure plays all columns, some draws of each before the next ones.
func (c *comparer) measure() error {
	if !c.plan.Parts.Partial() {
		defer c.enter()
	}
	total := 0
	for i := range c.tables {
		c.tables[i].plan.Draws.Count = c.runsOf(i)
		total += c.tables[i].plan.Runs()
	}
	for done, from, to := 0, 0, sampleOf(c.plan.Locks); from < c.plan.Draws.Count; from, to = to, to+roundSize {
		for i := range c.tables {
			n := min(to, c.runsOf(i)) - from
			if n <= 0 || len(c.tables[i].plan.Locks) == 0 {
				continue
			}
			before := done
			err := c.tables[i].play(c, search.Seeds{First: c.plan.Draws.First + uint64(from), Count: n}, func(runs, _ int) {
				done = before + runs
				c.told("playing", done, total)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// runsOf is how many schedules of a column are played.
func (c *comparer) runsOf(k int) int {
	if c.columns[k].guarded {
		return min(c.plan.Draws.Count, guardedRuns)
	}
	return c.plan.Draws.Count
}

// play plays some draws of a column, and adds what came of them.
func (t *table) play(c *comparer, draws search.Seeds, each func(runs, violated int)) error {
	t.plan.Draws = draws
	next, err := measure.Measure(c.ctx, t.plan, each)
	if t.plan.Parts.Partial() {
		return err
	}
	if t.Table == nil {
		t.Table = next
		for i := range next.Cells {
			t.sample = append(t.sample, next.Cells[i].Counts)
		}
		return err
	}
	if failure := t.Add(next); failure != nil {
		return failure
	}
	return err
}

// place says where a cell stands.
type place struct{ lock, column, fencing, property string }

// enter makes cells of what was measured.
func (c *comparer) enter() {
	c.index = map[place]int{}
	out := c.out.Comparison
	for i := range c.plan.Locks {
		for k := range c.columns {
			if c.columns[k].guarded {
				if c.plan.Locks[i].Guard {
					out.Guarded = append(out.Guarded, c.cell(i, k, checker.Resource, history.Unfenced))
				}
				continue
			}
			for _, p := range c.plan.Properties {
				for _, mode := range c.modesOf(p) {
					cell := c.cell(i, k, p, mode)
					c.index[place{cell.Lock, cell.Faults, cell.Fencing, cell.Property}] = len(out.Cells)
					out.Cells = append(out.Cells, cell)
				}
			}
		}
	}
}

// modesOf lists the modes in which a property is judged: beliefs do not depend on what the resource does, but for a holder
// that stops because it is refused.
func (c *comparer) modesOf(p checker.Property) []history.Fencing {
	if p == checker.Resource {
		return c.plan.Fencing
	}
	return c.plan.Fencing[:1]
}

// cell is what was measured of one lock in one column.
func (c *comparer) cell(lock, col int, p checker.Property, mode history.Fencing) Cell {
	cell := Cell{
		Lock: c.plan.Locks[lock].Name, Faults: c.columns[col].name, Fencing: mode.String(), Property: p.String(),
		Outcome: Undecided, Most: 1,
	}
	if why := cmp.Or(c.spared[col][lock], comparesNothing(mode, &c.facts[lock]), endsNothing(p, &c.plan.Locks[lock])); why != "" {
		cell.Outcome, cell.Why, cell.Most = Impossible, why, 0
		return cell
	}
	t := &c.tables[c.playedIn(lock, col)]
	if k := t.find(cell.Lock, p, mode); k >= 0 {
		c.count(&cell, t, k)
	}
	return cell
}

// playedIn is the column in which a cell's runs were played. Work cannot outlast a lease that the lock prolongs, so that such
// a lock is asked the same in two columns, and is played in the first.
func (c *comparer) playedIn(lock, col int) int {
	if x := &c.columns[col]; x.name == overruns && !x.guarded && c.facts[lock].lasts && c.columns[0].name == noFaults {
		return 0
	}
	return col
}

// find returns the index of a cell in the column's table; -1 if it was not played.
func (t *table) find(lock string, p checker.Property, mode history.Fencing) int {
	if t.Table == nil {
		return -1
	}
	return slices.IndexFunc(t.Cells, func(m measure.Cell) bool {
		return m.Lock == lock && m.Property == p && m.Fencing == mode
	})
}

func (c *comparer) count(cell *Cell, t *table, k int) {
	m := &t.Cells[k]
	interval := m.Interval(float64(c.plan.Confidence) / 100)
	cell.Outcome, cell.Schedules = outcomeOf(&m.Counts), t.first+m.Schedules
	cell.Runs, cell.Violated, cell.InDanger, cell.Undecided = m.Runs, m.Violated, m.InDanger, m.Undecided
	cell.Rate, cell.Least, cell.Most = rounded(m.Rate()), rounded(interval.Least), rounded(interval.Most)
	s := t.sample[k]
	cell.Sample = &Sample{Runs: s.Runs, Violated: s.Violated, InDanger: s.InDanger}
	if m.Violated > 0 {
		cell.First, cell.Kind = &m.First, m.Kind
		cell.Command = c.command(cell)
	}
}

// outcomeOf is what runs came to, all together.
func outcomeOf(c *measure.Counts) Outcome {
	switch {
	case c.Violated > 0:
		return Violated
	case c.NotSeen > 0:
		return NotSeen
	case c.Held > 0 && c.InDanger < EnoughDanger:
		return Seldom
	case c.Held > 0:
		return Held
	case c.Vacuous > 0:
		return Vacuous
	case c.NotJudged > 0:
		return NotJudged
	default:
		return Undecided
	}
}

// digits is how exact a share is said: more would differ from machine to machine, in the last places of its arithmetic.
const digits = 1e7

func rounded(share float64) float64 { return math.Round(share*digits) / digits }
