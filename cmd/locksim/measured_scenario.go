package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/reports/comparison"
	"github.com/locksim/locksim/scenarios"
)

// toldMeasures are those of which text and CSV show how they are distributed over the runs: what goes wrong, and what safety costs.
var toldMeasures = []string{
	"overlap-max-ns", measure.Damage, "refused-writes", "wait-max-ns", "acquisitions", "refusals", "unfinished-waits",
}

// quantiles are what is told of a distribution, besides its maximum.
var quantiles = []struct {
	name  string
	share float64
}{{"median", 0.5}, {"90 %", 0.9}, {"99 %", 0.99}}

// mostReplays is how many commands the text shows.
const mostReplays = 20

// scenarioText prints how often a scenario violated properties, in tables of at most two sides, and what it measured.
func (r *measured) scenarioText(w io.Writer) error {
	draws := r.table.Plan.Draws
	seeds := "seeds"
	if draws.Count == 1 {
		seeds = "seed"
	}
	played := "played"
	if r.interrupted {
		played = "to be played"
	}
	fmt.Fprintf(w, "%s, %s with %d %s from %d on; rates with exact %d %% confidence intervals\n",
		reports.Visible(r.scenario.name), played, draws.Count, seeds, draws.First, r.percent)
	r.settle(w)
	loud := r.loud()
	if len(r.scenario.set) > 0 {
		fmt.Fprintf(w, "set: %s\n", sentenceOf(r.scenario.set))
	}
	told := loud
	if len(loud) == 0 || r.wide() {
		told = r.plan.Properties
	}
	r.common(w, r.cellsOf(told))
	switch {
	case len(loud) == 0:
	case r.wide():
		r.rates(w, loud)
	default:
		if err := r.lines(w, r.cellsOf(loud)); err != nil {
			return err
		}
		if len(r.scenario.paths) > 0 {
			r.border(w, loud)
		}
	}
	r.quiet(w, loud)
	if err := r.distributions(w); err != nil {
		return err
	}
	fmt.Fprintln(w, "\n"+strings.Join(r.caveats(), "\n"))
	return r.replays(w)
}

// wide reports whether a table needs two sides.
func (r *measured) wide() bool {
	return len(r.scenario.paths) == mostVaried || len(r.scenario.paths) == 1 && len(r.plan.Settings[0].Plans) > 1
}

// cellsOf lists the cells of some properties: property by property, so that those of one stand together.
func (r *measured) cellsOf(properties []checker.Property) (cells []int) {
	for _, p := range properties {
		for i := range r.table.Cells {
			if r.table.Cells[i].Property == p {
				cells = append(cells, i)
			}
		}
	}
	return cells
}

// loud are the properties that have a table: those that were violated, and those of which it is unknown whether they were.
func (r *measured) loud() (list []checker.Property) {
	for _, p := range r.table.Plan.Properties {
		if slices.ContainsFunc(r.cellsOf([]checker.Property{p}), func(i int) bool {
			return r.table.Cells[i].Violated+r.table.Cells[i].Undecided > 0
		}) {
			list = append(list, p)
		}
	}
	return list
}

// quiet says of the other properties how much that means.
func (r *measured) quiet(w io.Writer, loud []checker.Property) {
	var held, vacuous, unjudged []string
	var silent []int
	for _, p := range r.table.Plan.Properties {
		if slices.Contains(loud, p) {
			continue
		}
		sum, cells := measure.Counts{}, r.cellsOf([]checker.Property{p})
		silent = append(silent, cells...)
		for _, i := range cells {
			c := &r.table.Cells[i]
			sum.Runs += c.Runs
			sum.InDanger += c.InDanger
			sum.NotJudged += c.NotJudged
		}
		switch {
		case sum.Runs == 0:
		case sum.InDanger > 0:
			held = append(held, fmt.Sprintf("%s (exposed in %s of the runs)", p, percent(sum.Danger())))
		case sum.NotJudged == sum.Runs:
			unjudged = append(unjudged, p.String())
		default:
			vacuous = append(vacuous, p.String())
		}
	}
	never := r.never(silent)
	if len(r.table.Played) > 1 {
		never += ", in each case in which it was exposed"
	}
	fmt.Fprintln(w)
	for _, line := range []struct {
		head string
		list []string
	}{{never, held}, {"never exposed, so that nothing is said", vacuous}, {"not judged", unjudged}} {
		if len(line.list) > 0 {
			fmt.Fprintf(w, "%s: %s\n", line.head, strings.Join(line.list, ", "))
		}
	}
}

// grid is the cells of one property by the values of two fields, in one case of the scenario, or by its cases and the values of one
// field.
type grid struct {
	name          string // of the case, if there are others
	down, across  string
	rows, columns []string
	cells         [][]int
}

// gridsOf are the tables of a property.
func (r *measured) gridsOf(p checker.Property) (list []grid) {
	paths, cases := r.scenario.paths, len(r.plan.Settings[0].Plans)
	at := func(setting, of int) int { // the cells are in the order of settings, cases, properties
		return (setting*cases+of)*len(r.plan.Properties) + slices.Index(r.plan.Properties, p)
	}
	if len(paths) == 1 {
		g := grid{across: paths[0]}
		if cases > 1 {
			g.down = "case"
		}
		for _, setting := range r.plan.Settings {
			g.columns = append(g.columns, setting.Values[0])
		}
		for k := range cases {
			g.rows, g.cells = append(g.rows, r.caseName(at(0, k))), append(g.cells, nil)
			for i := range g.columns {
				g.cells[k] = append(g.cells[k], at(i, k))
			}
		}
		return []grid{g}
	}
	for k := range cases {
		g := grid{name: r.caseName(at(0, k)), down: paths[0], across: paths[1]}
		for i, setting := range r.plan.Settings {
			if !slices.Contains(g.rows, setting.Values[0]) {
				g.rows, g.cells = append(g.rows, setting.Values[0]), append(g.cells, nil)
			}
			y := len(g.rows) - 1
			if g.cells[y] = append(g.cells[y], at(i, k)); y == 0 {
				g.columns = append(g.columns, setting.Values[1])
			}
		}
		list = append(list, g)
	}
	return list
}

// caseName says which case of the scenario a cell is of, by what the cases of a setting differ in.
func (r *measured) caseName(cell int) string {
	var words []string
	var cells []int
	for k := range r.plan.Settings[0].Plans {
		cells = append(cells, k*len(r.plan.Properties))
	}
	for _, d := range dimensions {
		if slices.Contains([]string{"variant", "style", "fencing"}, d.name) && r.differ(&d, cells) {
			words = append(words, d.of(&r.table.Cells[cell]))
		}
	}
	return strings.Join(words, ", ")
}

// rates prints grids of rates.
func (r *measured) rates(w io.Writer, properties []checker.Property) {
	drawn := false
	for _, p := range properties {
		for _, g := range r.gridsOf(p) {
			sides := r.sides(&g)
			drawn = drawn || len(sides) > 0
			g.print(w, p.String()+" violated", func(x, y int) string {
				text := r.rate(g.cells[y][x])
				if slices.Contains(sides, [4]int{x, y, x + 1, y}) {
					text = "▔" + text
				}
				if slices.Contains(sides, [4]int{x, y, x, y + 1}) {
					text = "▏" + text
				}
				return text
			})
		}
	}
	fmt.Fprintln(w, "\n○ never exposed   – not judged   ? inconclusive   0 "+r.never(r.cellsOf(properties)))
	if drawn {
		fmt.Fprintln(w, "▏ ▔ border, on the left of a cell or above it: between cells with a violation and exposed cells without one")
	}
}

// never says what it means that a property was not violated in cells in which it was exposed.
func (r *measured) never(cells []int) string {
	most, alike, text := 0.0, false, "never violated"
	for _, i := range cells {
		if notSeen(&r.table.Cells[i]) {
			text = checker.NotSeen.String()
		}
		switch interval := r.cells[i].interval; {
		case !r.safe(i):
		case interval == nil:
			alike = true
		default:
			most = max(most, interval.Most)
		}
	}
	if most > 0 {
		text += fmt.Sprintf(", so below %s with a confidence of %d %%", above(most), r.percent)
	}
	if alike {
		text += "; where every run was alike, no bound follows"
	}
	return text
}

// print prints a table.
func (g *grid) print(w io.Writer, head string, text func(x, y int) string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if g.name != "" {
		head += ", " + g.name
	}
	fmt.Fprintf(t, "\n%s: %s down, %s across\n\t%s\n", head, g.down, g.across, strings.Join(g.columns, "\t"))
	for y, row := range g.rows {
		words := []string{row}
		for x := range g.cells[y] {
			words = append(words, text(x, y))
		}
		fmt.Fprintln(t, strings.Join(words, "\t"))
	}
	_ = t.Flush()
}

// safe reports whether a property was exposed in a cell, and was violated in no run.
func (r *measured) safe(cell int) bool {
	c := &r.table.Cells[cell]
	return c.Kept() > 0 && c.Violated+c.Undecided+c.NotJudged == 0
}

// sides are the border of a table: between cells with a violation and safe ones, where values have an order. Each leads from one corner
// to the next, across and down, counted in cells.
func (r *measured) sides(g *grid) (list [][4]int) {
	apart := func(a, b int) bool {
		return r.safe(a) && r.table.Cells[b].Violated > 0 || r.safe(b) && r.table.Cells[a].Violated > 0
	}
	across, down := parameter.Ordered(g.columns), parameter.Ordered(g.rows)
	for y, row := range g.cells {
		for x := range row {
			if across && x > 0 && apart(row[x], row[x-1]) {
				list = append(list, [4]int{x, y, x, y + 1})
			}
			if down && y > 0 && apart(row[x], g.cells[y-1][x]) {
				list = append(list, [4]int{x, y, x + 1, y})
			}
		}
	}
	return list
}

// rate is a cell in a word.
func (r *measured) rate(cell int) string {
	c := &r.table.Cells[cell]
	switch {
	case c.Violated > 0:
		return percent(c.Rate())
	case c.NotJudged == c.Runs:
		return "–"
	case c.Undecided+c.NotJudged > 0:
		return "?"
	case c.InDanger == 0:
		return "○"
	}
	return "0"
}

// border says between which values of its one field there are the borders of properties.
func (r *measured) border(w io.Writer, properties []checker.Property) {
	head := "\n"
	for _, p := range properties {
		g := r.gridsOf(p)[0]
		var changes []string
		for _, side := range r.sides(&g) {
			changes = append(changes, g.columns[side[0]-1]+" and "+g.columns[side[0]])
		}
		if len(changes) > 0 {
			fmt.Fprintf(w, "%sborder of %s: between %s = %s\n", head, p, g.across, strings.Join(changes, ", and between "))
			head = ""
		}
	}
}

// first is the first cell of a case.
func (r *measured) first(played int) int {
	return slices.IndexFunc(r.table.Cells, func(c measure.Cell) bool { return c.Schedules == played })
}

// distributions prints how measures are distributed over the runs.
func (r *measured) distributions(w io.Writer) error {
	var cells []int
	for i := range r.table.Played {
		cells = append(cells, r.first(i))
	}
	if r.wide() {
		r.distributedGrids(w)
		r.constants(w)
		return nil
	}
	heads, lines := r.columns(cells)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := append(append([]string{"\nin a run"}, heads...), "median")
	for _, q := range quantiles[1:] {
		row = append(row, q.name+" of runs")
	}
	fmt.Fprintln(t, strings.Join(append(row, "max"), "\t"))
	for _, name := range toldMeasures {
		if r.constant(name) {
			continue
		}
		for i := range r.table.Played {
			d, ok := r.table.Played[i].Measure(name)
			if !ok {
				continue
			}
			row := append([]string{strings.TrimSuffix(name, "-ns")}, lines[i]...)
			for _, q := range quantiles {
				row = append(row, amount(name, d.Quantile(q.share)))
			}
			fmt.Fprintln(t, strings.Join(append(row, amount(name, d.Max)), "\t"))
		}
	}
	r.constants(t)
	return t.Flush()
}

// constant reports whether a measure was the same in all runs.
func (r *measured) constant(name string) bool {
	first, any := r.table.Played[0].Measure(name)
	return !slices.ContainsFunc(r.table.Played, func(p measure.Played) bool {
		d, ok := p.Measure(name)
		return ok != any || ok && (d.Least != first.Least || d.Max != first.Least)
	})
}

// constants prints what was the same in all runs.
func (r *measured) constants(w io.Writer) {
	var list []string
	for _, name := range toldMeasures {
		if d, ok := r.table.Played[0].Measure(name); ok && r.constant(name) {
			list = append(list, strings.TrimSuffix(name, "-ns")+" "+amount(name, d.Max))
		}
	}
	if len(list) > 0 {
		fmt.Fprintf(w, "\nin every run: %s\n", strings.Join(list, ", "))
	}
}

// distributedGrids prints what all but one of a hundred runs do not exceed, by the values of two fields.
func (r *measured) distributedGrids(w io.Writer) {
	for _, name := range toldMeasures {
		if r.constant(name) {
			continue
		}
		for _, g := range r.gridsOf(r.plan.Properties[0]) {
			g.print(w, strings.TrimSuffix(name, "-ns")+" of 99 % of the runs at most", func(x, y int) string {
				d, ok := r.table.Played[r.table.Cells[g.cells[y][x]].Schedules].Measure(name)
				if !ok {
					return "–"
				}
				return amount(name, d.Quantile(0.99))
			})
		}
	}
}

// amount prints the value of a measure.
func amount(name string, value int64) string {
	if strings.HasSuffix(name, "-ns") {
		return scenarios.Brief(time.Duration(measure.ThreeDigits(value)))
	}
	return strconv.FormatInt(value, 10)
}

// idle names the faults that did not happen in every run. Without them a run is not the one that the file describes.
func (r *measured) idle() (list []string) {
	var faults []measure.Happened
	runs := make(map[string]int) // that could have had the fault
	for i := range r.table.Played {
		for _, f := range r.table.Played[i].Faults {
			k := slices.IndexFunc(faults, func(g measure.Happened) bool { return g.Fault == f.Fault })
			if k < 0 {
				k, faults = len(faults), append(faults, measure.Happened{Fault: f.Fault})
			}
			faults[k].Runs += f.Runs
			runs[f.Fault] += r.table.Played[i].Runs
		}
	}
	for _, f := range faults {
		if f.Runs < runs[f.Fault] {
			list = append(list, fmt.Sprintf("The fault %s happened in %d of %d runs.", f.Fault, f.Runs, runs[f.Fault]))
		}
	}
	return list
}

// caveats says what rates do not mean.
func (r *measured) caveats() []string {
	alike := 0
	for i := range r.table.Played {
		if r.table.Played[i].Alike() {
			alike++
		}
	}
	list := []string{
		"A rate is a share of the seeds, which draw latencies and random choices; work and faults are those of the file.",
		"It is not the odds of a production system.",
	}
	if r.plan.Varies() {
		list = append(list, ofProgram)
	}
	list = append(list, r.idle()...)
	switch {
	case alike == 0:
	case alike == len(r.table.Played):
		list = append(list, "Every run took the same course: no seed changes anything here, so that all runs say no more than one.")
	default:
		list = append(list, fmt.Sprintf("In %d of %d cases every run took the same course: no seed changes anything there, so that all "+
			"runs say no more than one.", alike, len(r.table.Played)))
	}
	return list
}

// svg draws a property over the fields that vary.
func (r *measured) svg(w io.Writer) error {
	return comparison.HeatSVG(w, &r.heats(r.plan.Properties[:1])[0], r.percent)
}

// mostPictures limits a page.
const mostPictures = 50

// html draws what was violated, and has the text below it.
func (r *measured) html(w io.Writer) error {
	var text strings.Builder
	if err := r.scenarioText(&text); err != nil {
		return err
	}
	properties := r.loud()
	if len(properties) == 0 {
		properties = r.plan.Properties[:1]
	}
	heats := r.heats(properties)
	title := "How often " + reports.Visible(r.scenario.name) + " violates properties"
	return comparison.HeatPage(w, title, heats[:min(mostPictures, len(heats))], r.percent, text.String())
}

// heats are the heat maps of some properties.
func (r *measured) heats(properties []checker.Property) (list []comparison.Heat) {
	mark := r.mark()
	if mark != "" {
		mark = "Interrupted" + strings.TrimPrefix(mark, "interrupted") + ". "
	}
	for _, p := range properties {
		for _, g := range r.gridsOf(p) {
			h := comparison.Heat{
				Name: r.scenario.name, Title: fmt.Sprintf("How often %s violates %s", reports.Visible(r.scenario.name), p),
				Property: p.String(), Border: r.sides(&g), Never: r.never(slices.Concat(g.cells...)), Down: g.down, Across: g.across, Columns: g.columns,
				Rows: g.rows, Lock: r.table.Cells[0].Lock,
				Note: mark + fmt.Sprintf("Seeds from %d on. ", r.plan.Draws.First) + strings.Join(r.caveats(), " "),
			}
			if slices.Contains(r.scenario.paths, "lock.algorithm") {
				h.Lock = "several locks"
			}
			if g.name != "" {
				h.Lock += " (" + g.name + ")"
			} else if len(r.plan.Settings[0].Plans) == 1 && !slices.Contains(r.scenario.paths, "resource.fencing") {
				h.Fencing = r.table.Cells[0].Fencing.String()
			}
			for y := range g.rows {
				r.enter(&h, g.cells[y])
			}
			list = append(list, h)
		}
	}
	return list
}

// enter adds a row of cells to a heat map.
func (r *measured) enter(h *comparison.Heat, cells []int) {
	var violated, exposed, runs, unknown []int
	var commands []string
	for _, i := range cells {
		c := &r.table.Cells[i]
		commands, h.Runs = append(commands, r.cells[i].replay), max(h.Runs, c.Runs)
		violated, exposed = append(violated, c.Violated), append(exposed, c.InDanger)
		runs, unknown = append(runs, c.Runs), append(unknown, c.Undecided+c.NotJudged)
	}
	h.Violated, h.InDanger, h.Unknown = append(h.Violated, violated), append(h.InDanger, exposed), append(h.Unknown, unknown)
	h.Played, h.Commands = append(h.Played, runs), append(h.Commands, commands)
}
