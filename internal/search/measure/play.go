package measure

import (
	"cmp"
	"iter"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parts"
	"github.com/locksim/locksim/scenarios"
)

// stretch is what came of a few draws of one row.
type stretch struct {
	row            *row
	cells          []Cell   // of the row
	played         []Played // of its cases, if they are settings
	runs, violated int      // in how many of them anything was
	err            error    // that ended it
	part           parts.Part
}

// stretchSize is how many draws a worker takes at once. Runs of programs are slow, so that each is taken by itself.
const stretchSize = 16

// partSize is how many they are if a line of a ledger is about them.
const partSize = 128

func (t *Table) stretchSize() int {
	switch {
	case t.Plan.Varies():
		return 1
	case t.Plan.Parts != nil:
		return partSize
	}
	return stretchSize
}

// stretches yields the draws, each few of them for all rows before the next ones, so that a table is even whenever it ends.
func (t *Table) stretches() iter.Seq[func(*harness.Runner) stretch] {
	return func(yield func(func(*harness.Runner) stretch) bool) {
		all := t.Plan.Draws
		size := t.stretchSize()
		for from := 0; from < all.Count; from += size {
			draws := search.Seeds{First: all.First + uint64(from), Count: min(size, all.Count-from)}
			for i := range t.rows {
				part := t.Plan.Parts.Take()
				if part.Left() {
					continue
				}
				if !yield(func(r *harness.Runner) stretch { return t.rows[i].playPart(r, part, draws, t.Plan.Properties) }) {
					return
				}
			}
		}
	}
}

// playPart plays some draws for a row, or reads what came of them.
func (r *row) playPart(runner *harness.Runner, part parts.Part, draws search.Seeds, properties []checker.Property) (s stretch) {
	known, err := part.Read(func(text []byte) (err error) {
		played := 0
		if r.strict {
			played = r.cells / len(properties)
		}
		s, err = r.parse(text, played)
		return err
	})
	if err == nil && !known {
		s = r.play(runner, draws, properties)
	}
	s.part, s.err = part, cmp.Or(s.err, err)
	return s
}

// play plays some draws for a row.
func (r *row) play(runner *harness.Runner, draws search.Seeds, properties []checker.Property) stretch {
	s := stretch{row: r, cells: make([]Cell, r.cells)}
	if r.strict {
		s.played = make([]Played, r.cells/len(properties))
	}
	for k := range draws.Count {
		n := draws.First + uint64(k)
		next := 0 // the cells are in the order of the cases
		if runner.Stopped() {
			break
		}
		r.cases(runner, n, func(result *harness.Result, err error) {
			if r.strict && err != nil {
				s.err = cmp.Or(s.err, err)
				return
			}
			if s.played != nil {
				s.played[next/len(properties)].count(result)
			}
			violated := false
			for i, p := range properties {
				verdict := s.cells[next+i].count(n, p, result, err)
				violated = violated || verdict == checker.Violated
			}
			next += len(properties)
			if s.runs++; violated {
				s.violated++
			}
		})
	}
	return s
}

// cases plays the draw of a number in every style and, within each, in every fencing mode. A mode in which nothing would have
// gone otherwise than without fencing is not played: what came of that run came of this one, too.
func (d *drawing) cases(runner *harness.Runner, n uint64, each func(*harness.Result, error)) {
	drawn := d.draw(n)
	for _, style := range d.styles {
		var unfenced *harness.Result
		for _, mode := range d.fencing {
			if unfenced != nil && harness.Indifferent(unfenced.History, mode) {
				each(unfenced, nil)
				continue
			}
			one := *drawn
			one.Styles, one.Resource.Fencing = []history.Style{style}, []history.Fencing{mode}
			search.Play(runner, &one, d.options(), func(_ scenarios.Case, result *harness.Result, err error) bool {
				if err == nil && mode == history.Unfenced {
					unfenced = result
				}
				each(result, err)
				return true
			})
		}
	}
}

// cases plays a setting with a seed in each of its cases. A run that its scenario's end cuts off stays so.
func (s *Setting) cases(runner *harness.Runner, seed uint64, each func(*harness.Result, error)) {
	for _, plan := range s.Plans {
		result, err := runner.Run(plan, seed, false)
		each(&result, err)
		if err != nil {
			return
		}
	}
}

// count counts one run, and returns its verdict.
func (c *Cell) count(n uint64, p checker.Property, result *harness.Result, err error) checker.Verdict {
	k := c.Runs
	c.Runs++
	verdict := checker.Undecided
	if err == nil {
		verdict = result.Report.Verdicts[p]
		if verdict == checker.Violated || result.Report.Dangers[p] > 0 {
			c.InDanger++
		}
	}
	switch verdict {
	case checker.Violated:
		if c.Violated == 0 {
			c.First, c.Kind = n, search.FirstOf(p, &result.Report).Kind
		}
		c.Violated++
		c.violated.put(k)
	case checker.Undecided:
		c.Undecided++
		c.undecided.put(k)
	case checker.Held:
		c.Held++
	case checker.NotSeen:
		c.NotSeen++
	case checker.Vacuous:
		c.Vacuous++
	case checker.NotJudged:
		c.NotJudged++
	}
	return verdict
}

// take enters what came of some draws.
func (t *Table) take(s *stretch) {
	for i := range s.cells {
		t.Cells[s.row.first+i].add(&s.cells[i])
	}
	for i := range s.played {
		t.Played[t.Cells[s.row.first].Schedules+i].add(&s.played[i])
	}
}
