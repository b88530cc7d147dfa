package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/internal/search/minimal"
)

// measured is the result of a measurement, with derived values.
type measured struct {
	recorded    *recorded
	plan        measure.Plan
	scenario    *measuredScenario // nil if locks were measured
	table       *measure.Table
	percent     int // the confidence of intervals
	interrupted bool
	runs        int            // that were played
	cells       []measuredCell // one for each of the table's
}

// mark says that a measurement was interrupted; "" if it was not.
func (r *measured) mark() string {
	if !r.interrupted {
		return ""
	}
	return fmt.Sprintf("interrupted: %d of %d runs were played", r.runs, r.plan.Runs())
}

// settle prints that at the head of a text.
func (r *measured) settle(w io.Writer) {
	if mark := r.mark(); mark != "" {
		fmt.Fprintln(w, mark)
	}
}

// measuredCell has the derived values of a cell.
type measuredCell struct {
	interval   *measure.Range      // nil where it would say nothing: the property was never exposed or judged, or all runs were alike
	with       int                 // the first cell of its property and schedules
	comparison *measure.Comparison // with that one; nil if it is that one, or nothing was judged
	file       string              // where the first violation is saved; "" if nowhere
	replay     string              // the command that shows the first violation; "" if there is none
}

// completeMeasured adds intervals, comparisons and commands, and saves violations if they are to be.
func (c *call) completeMeasured(o *measureOptions, r *measured) error {
	runner := harness.Runner{Stop: search.Until(c.ctx)}
	defer runner.Close()
	for i := range r.table.Cells {
		cell := &r.table.Cells[i]
		x := measuredCell{with: r.reference(i)}
		if known(cell) && !r.alike(cell) {
			interval := cell.Interval(float64(r.percent) / 100)
			x.interval = &interval
		}
		if x.with != i && cell.NotJudged < cell.Runs {
			comparison, err := r.table.Compare(i, x.with)
			if err != nil {
				return err
			}
			x.comparison = &comparison
		}
		if v, ok := r.table.Violation(i); ok {
			x.replay = r.replayOf(cell, &v)
			if o.save != "" {
				file, command, err := c.saveMeasured(&runner, o.save, v, r.scenario != nil)
				if err != nil && !errors.Is(err, minimal.ErrVaries) { // then the command plays the run as it was drawn
					return err
				}
				x.file, x.replay = file, cmp.Or(command, x.replay)
			}
		}
		r.cells = append(r.cells, x)
	}
	return nil
}

// known reports whether anything is known of a cell: the property was exposed in a run, and judged.
func known(c *measure.Cell) bool { return c.Kept()+c.Violated > 0 }

// notSeen reports whether a property was exposed in runs of a program, and violated in none.
func notSeen(c *measure.Cell) bool { return c.NotSeen > 0 && c.Violated == 0 }

// ofProgram says what it means that a property was not violated in runs of a program.
const ofProgram = "What was not violated in runs of a program is not-seen: another run of the same schedule may violate it."

// alike reports whether no seed changes anything in the runs of a cell.
func (r *measured) alike(c *measure.Cell) bool {
	return r.scenario != nil && r.table.Played[c.Schedules].Alike()
}

// reference is the cell that another is compared with: of a scenario none, since its cells have no schedules in common.
func (r *measured) reference(cell int) int {
	if r.scenario != nil {
		return cell
	}
	c := &r.table.Cells[cell]
	for i := range r.table.Cells {
		d := &r.table.Cells[i]
		if d.Schedules == c.Schedules && d.Property == c.Property && d.NotJudged < d.Runs {
			return i
		}
	}
	return cell
}

// saveMeasured minimizes a violation and saves it. The locks of a scenario that was given rather than drawn stay as they are.
func (c *call) saveMeasured(r *harness.Runner, dir string, v search.Violation, given bool) (file, command string, err error) {
	v.Options = c.played() // the scenario names the lock
	var o minimal.Options
	if given {
		o.Allowed = minimal.SameLocks(v.Case.Scenario)
	}
	cx, err := minimal.Reduce(r, v, o)
	if err == nil {
		_, err = completeFinding(cx)
	}
	if err == nil {
		file, err = c.saveFinding(dir, cx)
	}
	if err != nil {
		return "", "", err
	}
	return file, cx.Command(file), nil
}

// replayOf is the command that shows the first violation of a cell: of a drawn scenario it measures that one alone, and saves it.
func (r *measured) replayOf(c *measure.Cell, v *search.Violation) string {
	if r.scenario != nil {
		return r.scenario.replayOf(v)
	}
	command, behind := "locksim measure", ""
	if lock := v.Options.Instead; lock.Varies() {
		behind = " -- " + c.Lock
	} else {
		command += " " + c.Lock
	}
	for _, flag := range []struct{ name, value, fallback string }{
		{"--faults", c.Condition, "all"}, {"--style", c.Style.String(), history.Careless.String()},
		{"--fencing", c.Fencing.String(), history.Unfenced.String()}, {"--property", c.Property.String(), ""},
	} {
		if flag.value != flag.fallback {
			command += " " + flag.name + " " + flag.value
		}
	}
	return fmt.Sprintf("%s --from %d --runs 1 --save .%s", command, c.First, behind)
}

// text prints a table of the cells, one that compares them, and the commands that show what was violated.
func (r *measured) text(w io.Writer) error {
	if r.scenario != nil {
		return r.scenarioText(w)
	}
	draws := r.table.Plan.Draws
	fmt.Fprintf(w, "%d schedules, from number %d on; rates with exact %d %% confidence intervals\n",
		draws.Count, draws.First, r.percent)
	r.settle(w)
	var all []int
	for i := range r.table.Cells {
		all = append(all, i)
	}
	r.common(w, all)
	if err := r.lines(w, all); err != nil {
		return err
	}
	if err := r.compared(w); err != nil {
		return err
	}
	if r.plan.Varies() {
		fmt.Fprintln(w, "\n"+ofProgram)
	}
	return r.replays(w)
}

// dimension is something in which cells may differ.
type dimension struct {
	name string
	of   func(*measure.Cell) string
}

// dimensions are what cells may differ in besides their locks.
var dimensions = []dimension{
	{"faults", func(c *measure.Cell) string { return c.Condition }},
	{"variant", func(c *measure.Cell) string { return c.Variant }},
	{"style", func(c *measure.Cell) string { return c.Style.String() }},
	{"fencing", func(c *measure.Cell) string { return c.Fencing.String() }},
	{"property", func(c *measure.Cell) string { return c.Property.String() }},
	{"runs", func(c *measure.Cell) string { return strconv.Itoa(c.Runs) }},
}

// dimensions are those of the cells: for a scenario the fields that vary, else the lock first.
func (r *measured) dimensions() []dimension {
	list := []dimension{{"lock", func(c *measure.Cell) string { return c.Lock }}}
	if r.scenario != nil {
		if slices.Contains(r.scenario.paths, "lock.algorithm") {
			list = nil
		}
		for i, path := range r.scenario.paths {
			list = append(list, dimension{path, func(c *measure.Cell) string { return c.Values[i] }})
		}
	}
	return append(list, dimensions...)
}

// differ reports whether cells differ in a dimension.
func (r *measured) differ(d *dimension, cells []int) bool {
	return slices.ContainsFunc(cells, func(i int) bool { return d.of(&r.table.Cells[i]) != d.of(&r.table.Cells[cells[0]]) })
}

// common prints what cells have in common. The lock of drawn scenarios is always in the table.
func (r *measured) common(w io.Writer, cells []int) {
	for i, d := range r.dimensions() {
		if value := d.of(&r.table.Cells[cells[0]]); value != "" && (i > 0 || r.scenario != nil) && !r.differ(&d, cells) {
			fmt.Fprintf(w, "%s: %s\n", d.name, value)
		}
	}
}

// columns are the names of what cells differ in, and for each cell what it is there.
func (r *measured) columns(cells []int) (heads []string, lines [][]string) {
	lines = make([][]string, len(cells))
	for i, d := range r.dimensions() {
		if r.differ(&d, cells) || i == 0 && r.scenario == nil {
			heads = append(heads, d.name)
			for k, cell := range cells {
				lines[k] = append(lines[k], d.of(&r.table.Cells[cell]))
			}
		}
	}
	return heads, lines
}

// lines prints a table of cells.
func (r *measured) lines(w io.Writer, cells []int) error {
	heads, lines := r.columns(cells)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\n"+strings.Join(append(heads, "violated", "rate", "interval", "exposed", "first"), "\t"))
	for i, line := range lines {
		fmt.Fprintln(t, strings.Join(append(line, r.outcome(cells[i])...), "\t"))
	}
	return t.Flush()
}

// outcome is the end of a cell's line, in columns.
func (r *measured) outcome(cell int) []string {
	c, interval := &r.table.Cells[cell], r.cells[cell].interval
	switch {
	case c.Impossible != "":
		return []string{"–", "–", "impossible", "–", c.Impossible}
	case c.Runs == 0:
		return []string{"–", "–", "not played", "–", "–"}
	case c.NotJudged == c.Runs:
		return []string{"–", "–", "not judged", "–", "–"}
	}
	columns := []string{strconv.Itoa(c.Violated), "–", "–", "never", "–"}
	if notSeen(c) {
		columns[0] = checker.NotSeen.String()
	}
	if known(c) {
		columns[1] = percent(c.Rate())
	}
	switch {
	case interval != nil:
		columns[2] = below(interval.Least) + " to " + above(interval.Most)
	case r.alike(c):
		columns[2] = "every run alike"
	}
	if c.InDanger > 0 {
		columns[3] = percent(c.Danger())
	}
	if c.Violated > 0 {
		columns[4] = strconv.FormatUint(c.First, 10)
	}
	if c.Undecided > 0 {
		columns[4] += fmt.Sprintf(" (inconclusive: %d)", c.Undecided)
	}
	return columns
}

// percent is a share with three significant digits.
func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 3, 64) + " %" }

// above and below are shares with three significant digits that are not less, and not more, than the exact ones.
func above(share float64) string { return percent(math.Ceil(share*digits(share)) / digits(share)) }
func below(share float64) string { return percent(math.Floor(share*digits(share)) / digits(share)) }

// digits is the power of ten that turns a share into a number of three digits.
func digits(share float64) float64 {
	if share == 0 {
		return 1
	}
	return math.Pow(10, 2-math.Floor(math.Log10(share)))
}

// compared prints what the cells of one property say of the same schedules, each beside the first of them.
func (r *measured) compared(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := -1
	for _, i := range r.byReference() {
		x := &r.cells[i]
		if last != x.with {
			last = x.with
			fmt.Fprintf(t, "\n%s on the same schedules as %s\tonly here\tonly there\tboth\tp\n",
				r.table.Cells[last].Property, r.nameOf(last))
		}
		c := x.comparison
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%s\n", r.nameOf(i), c.OnlyThis, c.OnlyThat, c.Both,
			strconv.FormatFloat(c.P(), 'g', 2, 64))
	}
	return t.Flush()
}

// byReference lists the cells that are compared, by what they are compared with.
func (r *measured) byReference() []int {
	var list []int
	for i := range r.cells {
		for k := range r.cells {
			if r.cells[k].with == i && r.cells[k].comparison != nil {
				list = append(list, k)
			}
		}
	}
	return list
}

// nameOf names a cell by what can differ on the same schedules.
func (r *measured) nameOf(cell int) string {
	c, plan := &r.table.Cells[cell], &r.table.Plan
	name := c.Lock
	if len(plan.Conditions) > 1 {
		name += " under " + c.Condition
	}
	if len(plan.Styles) > 1 {
		name += ", " + c.Style.String()
	}
	if len(plan.Fencing) > 1 {
		name += ", " + c.Fencing.String()
	}
	return name
}

// replays prints the commands that show the first violations.
func (r *measured) replays(w io.Writer) error {
	head, told, left := "\nTo see the first violation of a line:\n", 0, 0
	for i := range r.cells {
		replay := r.cells[i].replay
		if replay == "" {
			continue
		}
		if told++; r.scenario != nil && told > mostReplays {
			left++
			continue
		}
		c := &r.table.Cells[i]
		if _, err := fmt.Fprintf(w, "%s  %s  # %s\n", head, replay, cmp.Or(c.Kind, "violated")); err != nil {
			return err
		}
		head = ""
	}
	if left > 0 {
		fmt.Fprintf(w, "  … and %d more: --format csv\n", left)
	}
	return nil
}
