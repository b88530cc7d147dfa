package ci

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/text"
	"github.com/locksim/locksim/reports/internal/wording"
)

// Summary counts the verdicts of many runs, case by case. Runs of one case must be added one after another.
type Summary struct {
	cases []*tally
	worst model.Status
	runs  int
}

// tally is what was found of one case.
type tally struct {
	first   model.Run // without its history and events
	runs    int
	counts  [checker.PropertyCount][checker.VerdictCount]int // by verdict
	differs [checker.PropertyCount]bool                      // in some run
	fails   bool                                             // some run shows the failure that its scenario expects
	status  model.Status
	differ  int     // runs that were not as expected
	worst   outlier // of those, the runs of the gravest status
	allowed outlier // runs that were as expected and violate what may be violated
}

// outlier is what sets some runs of a case apart.
type outlier struct {
	runs    int
	seeds   []uint64  // of the first few
	example model.Run // the first
	reason  string    // of that one
}

// namedSeeds is how many seeds a report names.
const namedSeeds = 10

func (o *outlier) add(r *model.Run, reason string) {
	if o.runs++; o.runs == 1 {
		o.example, o.reason = slim(r), reason
	}
	if len(o.seeds) < namedSeeds {
		o.seeds = append(o.seeds, r.Seed)
	}
}

// named lists the seeds, as far as they are known.
func (o *outlier) named() string {
	var list []string
	for _, seed := range o.seeds {
		list = append(list, wording.Hex(seed))
	}
	text := strings.Join(list, ", ")
	if more := o.runs - len(o.seeds); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Add counts one run.
func (s *Summary) Add(r model.Run) {
	n := len(s.cases)
	if n == 0 || s.cases[n-1].first.Case != r.Case || s.cases[n-1].first.Lock != r.Lock || s.cases[n-1].first.File != r.File {
		s.cases = append(s.cases, &tally{first: slim(&r)})
		n++
	}
	t := s.cases[n-1]
	t.runs++
	s.runs++
	t.add(&r)
	s.worst = max(s.worst, t.status)
}

func (c *tally) add(r *model.Run) {
	for p, v := range r.Report.Verdicts {
		c.counts[p][v]++
		c.differs[p] = c.differs[p] || model.Differs(r, checker.Property(p))
	}
	c.fails = c.fails || model.FailsAsExpected(r)
	status, reasons := r.Status()
	if status == model.AsExpected {
		if waived := model.Waived(r); len(waived) > 0 {
			c.allowed.add(r, wording.Listing(waived)+" violated, which may be")
		}
		return
	}
	c.differ++
	if status > c.status {
		c.status, c.worst = status, outlier{}
	}
	if status == c.status {
		c.worst.add(r, strings.Join(reasons, "; "))
	}
}

// slim drops what a summary of very many runs must not hold on to.
func slim(r *model.Run) model.Run {
	return model.Run{Case: r.Case, File: r.File, Lock: r.Lock, Seed: r.Seed, Program: r.Program, Real: r.Real}
}

// Status is the gravest of all runs.
func (s *Summary) Status() model.Status { return s.worst }

// Text prints a table with one line a case. If that is too wide, the names of the scenarios stand on lines of their own.
func (s *Summary) Text(w io.Writer, o text.Options) error {
	t := text.New(o)
	rows := s.rows(t)
	grouped := total(widthsOf(rows)) > t.Options.Width
	if grouped {
		for i := range rows {
			rows[i] = append(rows[i][:1:1], rows[i][2:]...)
		}
	}
	widths := widthsOf(rows)
	last := ""
	for i, row := range rows {
		if i > 0 && grouped {
			if name := s.name(s.cases[i-1]); name != last {
				t.Line(t.Ink(paint.Strong, name))
				last = name
			}
		}
		printRow(t, row, widths)
	}
	s.differences(t)
	s.footer(t)
	return t.Flush(w)
}

func printRow(t *text.Printer, row []entry, widths []int) {
	var b strings.Builder
	for i, c := range row {
		b.WriteString(t.Ink(c.ink, c.text))
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-wording.Columns(c.text)+gapAfter(i)))
		}
	}
	t.Line(strings.TrimRight(b.String(), " "))
}

func widthsOf(rows [][]entry) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], wording.Columns(c.text))
		}
	}
	return widths
}

func total(widths []int) int {
	sum := 0
	for i, w := range widths {
		sum += w + gapAfter(i)
	}
	return sum - gapAfter(len(widths)-1)
}

func gapAfter(column int) int {
	if column == 0 {
		return 1
	}
	return 2
}

type entry struct {
	text string
	ink  paint.Ink
}

// shortNames head the columns of the properties.
var shortNames = [checker.PropertyCount]string{"ME", "ES", "RES", "FO", "RS", "P", "A", "S", "L", "SL", "LD"}

func (s *Summary) rows(t *text.Printer) [][]entry {
	head := []entry{{"", paint.Plain}, {"scenario", paint.Faint}, {"variant", paint.Faint}, {"style", paint.Faint}, {"fencing", paint.Faint}}
	properties := s.properties()
	for _, p := range properties {
		head = append(head, entry{shortNames[p], paint.Faint})
	}
	rows := [][]entry{head}
	for _, c := range s.cases {
		r := &c.first
		sign, k := t.Glyphs.Held, paint.Green
		switch c.status {
		case model.Unexpected:
			sign, k = t.Glyphs.Mismatch, paint.Differs
		case model.Inconclusive:
			sign, k = t.Glyphs.Undecided, paint.Strong
		case model.AsExpected:
		}
		row := []entry{{sign, k}, {s.name(c), paint.Plain}, {r.Case.Variant, paint.Plain}, {r.Case.Style.String(), paint.Plain},
			{r.Case.Fencing.String(), paint.Plain}}
		for _, p := range properties {
			row = append(row, c.cell(t, p))
		}
		rows = append(rows, row)
	}
	return dropEmptyColumns(rows)
}

// properties lists those that are shown: what concerns few locks or scenarios only where somebody asks for it, or it is
// violated.
func (s *Summary) properties() []checker.Property {
	var list []checker.Property
	for p := range checker.PropertyCount {
		asked := func(c *tally) bool { return c.expects(p) || c.counts[p][checker.Violated] > 0 }
		switch p {
		case checker.Survival:
			if slices.ContainsFunc(s.cases, (*tally).isOfProgram) {
				list = append(list, p)
			}
		case checker.Leak, checker.SilentLoss, checker.RequestLoad:
			if slices.ContainsFunc(s.cases, asked) {
				list = append(list, p)
			}
		default:
			list = append(list, p)
		}
	}
	return list
}

// expects reports whether the scenario of a case expects a verdict of a property.
func (c *tally) expects(p checker.Property) bool {
	_, expected := c.first.Expected(p)
	return expected
}

// isOfProgram reports whether the lock of a case is a program's, or somebody expects something of one.
func (c *tally) isOfProgram() bool {
	return c.expects(checker.Survival) || c.counts[checker.Survival][checker.NotJudged] < c.runs
}

// dropEmptyColumns leaves out what no row has to say: variants where there are none.
func dropEmptyColumns(rows [][]entry) [][]entry {
	const variant = 2
	for _, row := range rows[1:] {
		if row[variant].text != "" {
			return rows
		}
	}
	for i, row := range rows {
		rows[i] = append(row[:variant:variant], row[variant+1:]...)
	}
	return rows
}

// name is the scenario's, with the lock if that is another, and with the file if there are two scenarios of the name.
func (s *Summary) name(c *tally) string {
	name, file := c.first.Case.Scenario.Name, c.first.File
	double := func(o *tally) bool { return o.first.Case.Scenario.Name == name && o.first.File != file }
	if file != "" && slices.ContainsFunc(s.cases, double) {
		name = wording.Visible(file)
	}
	if c.first.Lock != c.first.Case.Scenario.Lock.Algorithm {
		name += " with " + c.first.Lock
	}
	return name
}

// cell is the verdicts on one property in all runs of a case: one sign if all agree, else each with its number.
func (c *tally) cell(t *text.Printer, p checker.Property) entry {
	var parts []string
	k := paint.Faint
	for v, n := range c.counts[p] {
		if n == 0 {
			continue
		}
		sign, signInk := t.Sign(checker.Verdict(v)), tell.InkOf(p, checker.Verdict(v))
		if n < c.runs {
			sign += fmt.Sprint(n)
		}
		parts = append(parts, sign)
		k = max(k, signInk)
	}
	text := strings.Join(parts, " ")
	if c.differs[p] {
		return entry{text, paint.Differs}
	}
	return entry{text, k}
}

// differences tells of each case that was not as expected, or that violated in some seeds what it may violate: which seeds,
// and the command that shows the first such run.
func (s *Summary) differences(t *text.Printer) {
	for _, c := range s.cases {
		if c.differ > 0 {
			s.outlier(t, t.Glyphs.Mismatch, c, &c.worst)
		}
		if c.allowed.runs > 0 && c.runs > 1 {
			s.outlier(t, t.Glyphs.Bullet, c, &c.allowed)
		}
	}
}

func (s *Summary) outlier(t *text.Printer, sign string, c *tally, o *outlier) {
	t.Line("")
	name := s.name(c)
	if c.runs > 1 {
		name += fmt.Sprintf(", %d of %d seeds", o.runs, c.runs)
	}
	t.Item(sign, name+": "+o.reason, paint.Plain)
	if c.runs > 1 {
		t.Item(" ", "seeds "+o.named(), paint.Plain)
	}
	t.Line("    " + tell.Command(&o.example, true))
}

// good is how many cases are as expected, and of them how many because they failed as they should.
func (s *Summary) good() string {
	good, failing := 0, 0
	for _, c := range s.cases {
		if c.status == model.AsExpected {
			if good++; c.fails {
				failing++
			}
		}
	}
	text := fmt.Sprintf("%d as expected", good)
	if failing > 0 {
		text += fmt.Sprintf(" (%s)", wording.Counted(failing, "expected failure"))
	}
	return text
}

func (s *Summary) footer(t *text.Printer) {
	t.Line("")
	t.Line(fmt.Sprintf("%s, %s: %s", wording.Counted(len(s.cases), "case"), wording.Counted(s.runs, "run"), s.good()))
	g := t.Glyphs
	legend := []string{
		g.Held + " held", g.Violated + " violated", g.Vacuous + " vacuous", g.Undecided + " unknown",
		g.Unjudged + " not judged",
	}
	if slices.ContainsFunc(s.cases, func(c *tally) bool { return c.first.Program }) {
		legend[0] = g.Unseen + " not seen violated"
	}
	for _, p := range s.properties() {
		legend = append(legend, shortNames[p]+" "+p.String())
	}
	t.Items(legend, "   ", paint.Faint)
	t.Interrupted(s.runs)
}
