package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search/advise"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// adviceConfidence is the confidence of the intervals that advice has, in percent.
const adviceConfidence = 95

// text prints the case, what was violated, and what helps.
func (a *advised) text(w io.Writer) {
	r := a.report
	say := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	say("%s: %s", reports.Visible(a.plan.File), reports.Visible(a.title))
	if len(a.assumed) > 0 {
		say("\nAssumed, since nothing else was said:")
	}
	for _, x := range a.assumed {
		lines(w, "  - ", x)
	}
	say("\nAs it is, with %d seeds (rates with exact %d %% confidence intervals):", r.Base.Seeds.Count, adviceConfidence)
	a.cases(w, r.Base)
	if !r.Base.Violated() {
		a.margins(w)
		return
	}
	a.grade(w, advise.Holds, "With any one of these changes nothing is violated:")
	a.grade(w, advise.Guards, "These protect the data, though two clients may still believe that they hold the lock:")
	a.grade(w, advise.Partly, "These help in part:")
	if len(r.Advice) == 0 {
		say("\nNothing that was tried helps.")
	}
	if len(r.Useless) > 0 {
		say("\nDoes not help:")
	}
	for i := range r.Useless {
		a.useless(w, &r.Useless[i])
	}
	if len(r.Skipped) > 0 {
		say("\nNot tried:")
	}
	for _, s := range skipped(r.Skipped) {
		lines(w, "  - ", s)
	}
	say("\nA rate is a share of the seeds, which draw latencies and random choices; it is not the odds of a production system.")
}

// skipped says of locks that were not tried why, those with the same reason together.
func skipped(list []advise.Skip) (texts []string) {
	var reasons []string
	of := make(map[string][]string)
	for _, s := range list {
		if of[s.Why] == nil {
			reasons = append(reasons, s.Why)
		}
		of[s.Why] = append(of[s.Why], s.Lock)
	}
	for _, why := range reasons {
		texts = append(texts, strings.Join(of[why], ", ")+": "+why)
	}
	return texts
}

// lines prints a text in lines that are not too long, the first of them behind a mark.
func lines(w io.Writer, mark, text string) {
	room := strings.Repeat(" ", utf8.RuneCountInString(mark))
	for _, line := range reports.Wrap(text, textColumns-len(room), "") {
		fmt.Fprintln(w, mark+line)
		mark = room
	}
}

// textColumns is the width of advice.
const textColumns = 100

// cases says of each variant what was violated.
func (a *advised) cases(w io.Writer, t *advise.Trial) {
	for i := range t.Cases {
		c := &t.Cases[i]
		name := c.Variant
		if name == "" {
			name = "the scenario"
		}
		var rates []string
		shown := checker.PropertyCount
		for p := range checker.PropertyCount {
			if n := &c.Counts[p]; n.Violated+n.Undecided == 0 {
				continue
			}
			rates = append(rates, p.String()+" "+rateOf(c, p))
			if c.Seldom(p) {
				rates[len(rates)-1] += ", too seldom for advice on it (see --runs)"
			}
			if c.Counts[p].Violated > 0 && (shown == checker.PropertyCount || p == checker.Resource) {
				shown = p
			}
		}
		if len(rates) == 0 {
			mark := "  ✓ "
			if !c.Exposed() {
				mark = "  ○ "
			}
			lines(w, mark, fmt.Sprintf("%s: %s", name, quietly(c)))
			continue
		}
		lines(w, "  ✗ ", fmt.Sprintf("%s: %s", name, strings.Join(rates, ", ")))
		if shown < checker.PropertyCount {
			fmt.Fprintf(w, "      %s\n", t.Replay(c, shown))
		} else {
			fmt.Fprintf(w, "      %s\n", t.Show(c))
		}
	}
}

// rateOf says how often a property was violated.
func rateOf(c *advise.Case, p checker.Property) string {
	n := &c.Counts[p]
	if n.Violated == 0 && n.Undecided > 0 {
		return fmt.Sprintf("unknown in %d of %d runs", n.Undecided, n.Runs)
	}
	return fmt.Sprintf("violated in %d of %d runs%s", n.Violated, n.Runs, intervalOf(c, n))
}

func intervalOf(c *advise.Case, n *measure.Counts) string {
	if c.Played.Alike() {
		return " (all alike, so that no bound follows)"
	}
	i := n.Interval(float64(adviceConfidence) / 100)
	switch n.Violated {
	case 0:
		return fmt.Sprintf(" (at most %s)", above(i.Most))
	case n.Runs:
		return fmt.Sprintf(" (at least %s)", below(i.Least))
	}
	return fmt.Sprintf(" (%s to %s)", below(i.Least), above(i.Most))
}

// quietly says what nothing violated means.
func quietly(c *advise.Case) string {
	text := "nothing is violated in " + fmt.Sprint(c.Played.Runs) + " runs" + intervalOf(c, &c.Counts[checker.MutualExclusion])
	switch {
	case c.Exposed():
		return text
	case c.Waits():
		return text + ", but two holders were never near: a client still waits for the lock when a run ends, so that nothing follows"
	}
	return text + "; nobody else had or wanted the lock meanwhile, so that little follows"
}

// unshown says of a trial's variants that were never exposed that nothing follows from them; "" if there are none.
func unshown(t *advise.Trial) string {
	list := t.Unexposed()
	switch {
	case len(list) == 0:
		return ""
	case len(t.Cases) == 1:
		return "two holders were never near, so that it is not shown"
	}
	return "whether it holds in " + strings.Join(list, " and ") + " is not shown, since two holders were never near there"
}

// margins says by how much a case holds.
func (a *advised) margins(w io.Writer) {
	r := a.report
	if r.Base.Unknown() {
		fmt.Fprintln(w, "\nIt cannot be told whether it holds. The commands above say why, such as that nobody acquires the lock before the run ends.")
		return
	}
	if text := unshown(r.Base); text != "" {
		fmt.Fprintln(w)
		lines(w, "", "Nothing is violated, but "+text+".")
	} else {
		fmt.Fprintln(w, "\nIt holds. Nothing has to be changed.")
	}
	if len(r.Margins) == 0 {
		fmt.Fprintln(w, "No change of a single length by up to three leases was found that violates it.")
		return
	}
	fmt.Fprintln(w, "It would not hold with one of these changes, the smallest first:")
	for i, m := range r.Margins {
		if i == mostMargins {
			break
		}
		text := fmt.Sprintf("%s: %s instead of %s", m.What, scenarios.Brief(m.To), scenarios.Brief(m.From))
		if m.From == 0 { // of latencies that are drawn
			text = fmt.Sprintf("%s: longer by %s", m.What, scenarios.Brief(m.To))
		}
		if m.Variant != "" {
			text += " (" + m.Variant + ")"
		}
		text += " violates " + m.Property.String()
		if 10*m.By() < m.From {
			text += ", a near miss"
		}
		lines(w, "  - ", text)
	}
}

// mostMargins is how many margins are told.
const mostMargins = 6

// grade prints the advice of one grade.
func (a *advised) grade(w io.Writer, g advise.Grade, head string) {
	n := 0
	for i := range a.report.Advice {
		if x := &a.report.Advice[i]; x.Grade == g {
			if n++; n == 1 {
				fmt.Fprintln(w, "\n"+head)
			}
			a.advice(w, n, x)
		}
	}
}

// advice prints one piece of advice: what to do, the command that plays it, what came of it, and what it costs.
func (a *advised) advice(w io.Writer, n int, x *advise.Advice) {
	lines(w, fmt.Sprintf("  %d. ", n), sentence(x.What+x.Border.Text()))
	fmt.Fprintf(w, "     %s\n", x.Trial.Command())
	lines(w, "     ", "Then "+outcome(x)+".")
	for i := range x.Reach {
		lines(w, "     ", reachOf(&x.Reach[i], x.Tried))
	}
	for _, c := range a.report.Costs(x) {
		lines(w, "     ", "Costs: "+costOf(c)+".")
	}
}

// reachOf says how far a fault may go with a change.
func reachOf(m *advise.Margin, runs int) string {
	text := fmt.Sprintf("It holds with a %s of up to %s (%d runs)", m.What, scenarios.Brief(m.Kept), runs)
	if m.To == 0 {
		return text + ", the longest that was tried."
	}
	return text + fmt.Sprintf("; with %s %s is violated.", scenarios.Brief(m.To), m.Property)
}

func sentence(text string) string {
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// outcome says what came of a change.
func outcome(x *advise.Advice) string {
	if c := &x.Trial.Cases[0]; x.Grade == advise.Holds && len(x.Trial.Cases) > 1 {
		text := fmt.Sprintf("nothing is violated in %d runs of each variant%s", x.Trial.Seeds.Count, intervalOf(c, &measure.Counts{Runs: x.Trial.Seeds.Count}))
		if not := unshown(x.Trial); not != "" {
			text += "; " + not
		}
		return text
	}
	var parts []string
	for i := range x.Trial.Cases {
		if text := variantOf(x, &x.Trial.Cases[i]); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// variantOf says what came of a change in a variant; "" if nothing was violated there before.
func variantOf(x *advise.Advice, c *advise.Case) string {
	of := func(list []advise.Point) (properties []string) {
		for _, at := range list {
			both := slices.Contains(list, advise.Point{Variant: at.Variant, Property: checker.MutualExclusion})
			if at.Variant == c.Variant && !(at.Property == checker.ExclusionAtService && both) { // which follows
				properties = append(properties, at.Property.String())
			}
		}
		return properties
	}
	left, fixed := of(x.Left), of(x.Fixed)
	n := &measure.Counts{Runs: c.Played.Runs}
	bound := intervalOf(c, n)
	var parts []string
	switch {
	case len(fixed) > 0 && len(left) == 0:
		parts = append(parts, fmt.Sprintf("nothing is violated in %d runs%s", n.Runs, bound))
	case len(fixed) > 0:
		parts = append(parts, fmt.Sprintf("%s violated in 0 of %d runs%s", strings.Join(fixed, " and "), n.Runs, bound))
	}
	for _, name := range left {
		p, _ := checker.ParseProperty(name)
		parts = append(parts, name+" still "+rateOf(c, p))
	}
	if len(parts) == 0 || c.Variant == "" {
		return strings.Join(parts, ", ")
	}
	return c.Variant + ": " + strings.Join(parts, ", ")
}

// pointOf says how often a property is violated in a variant.
func pointOf(x *advise.Advice, at advise.Point) string {
	c := x.Trial.At(at.Variant)
	text := at.Property.String() + " " + rateOf(c, at.Property)
	if at.Variant != "" {
		text = at.Variant + ": " + text
	}
	return text
}

// costOf says what a measure comes to.
func costOf(c advise.Cost) string {
	names := map[string]string{
		"wait-max-ns": "the longest wait for the lock is", "refusals": "calls of Lock that are refused:",
		"refused-writes": "writes that are refused:", "next-holder-after-crash-ns": "after the death of a holder the next one has the lock after",
	}
	text := fmt.Sprintf("%s %s instead of %s", names[c.Measure], amount(c.Measure, c.Is), amount(c.Measure, c.Was))
	if c.Variant != "" {
		text += " (" + c.Variant + ")"
	}
	return text
}

// useless prints what does not help, and what it violates.
func (a *advised) useless(w io.Writer, x *advise.Advice) {
	text := x.What + ": "
	least := x.Least()
	switch {
	case least != nil:
		text += fmt.Sprintf("with a %s of %s instead of %s %s is violated", least.What, scenarios.Brief(least.To), scenarios.Brief(least.From), least.Property)
	case len(x.Broken) > 0 && len(x.Fixed) > 0:
		text += "instead, " + pointOf(x, x.Broken[0])
	case x.Stuck != "":
		text += "then clients wait forever (" + x.Stuck + ")"
	case x.Idle:
		text += "then what goes wrong does not happen, or nobody wants the lock meanwhile, so that nothing follows"
	case len(x.Left) > 0:
		text += pointOf(x, slices.MaxFunc(x.Left, func(a, b advise.Point) int {
			return cmp.Compare(x.Trial.At(a.Variant).Counts[a.Property].Violated, x.Trial.At(b.Variant).Counts[b.Property].Violated)
		}))
	}
	lines(w, "  - ", text)
	fmt.Fprintf(w, "    %s\n", x.Trial.Command())
}

// adviceDocument is advice as JSON.
type adviceDocument struct {
	Schema      string          `json:"schema"`
	File        string          `json:"file"`
	Title       string          `json:"title,omitempty"`
	Assumed     []string        `json:"assumed,omitempty"`
	Confidence  int             `json:"confidence_percent"`
	Interrupted bool            `json:"interrupted,omitempty"`
	Violated    bool            `json:"violated"`
	Base        trialDocument   `json:"base"`
	Margins     []marginAdvice  `json:"margins,omitempty"` // if nothing is violated
	Advice      []pieceDocument `json:"advice"`
	Useless     []pieceDocument `json:"does_not_help"`
	Skipped     []skipDocument  `json:"not_tried,omitempty"`
}

// trialDocument is a scenario that was played.
type trialDocument struct {
	Command string          `json:"command"`
	Lock    string          `json:"lock"`
	Runs    int             `json:"runs"`
	Cells   []pointDocument `json:"cells"` // those that were judged
}

// pointDocument is a property in a variant.
type pointDocument struct {
	Variant  string   `json:"variant,omitempty"`
	Property string   `json:"property"`
	Runs     int      `json:"runs"`
	Violated int      `json:"violated"`
	Unknown  int      `json:"unknown"`
	Exposed  int      `json:"exposed"`
	Least    *float64 `json:"rate_at_least,omitempty"` // missing if no seed changes anything
	Most     *float64 `json:"rate_at_most,omitempty"`
	Replay   string   `json:"replay,omitempty"`
}

type marginAdvice struct {
	Variant  string `json:"variant,omitempty"`
	Property string `json:"property"`
	What     string `json:"what"`
	From     int64  `json:"from_ns"`
	To       int64  `json:"to_ns"`
	Kept     int64  `json:"kept_ns"`
}

// pieceDocument is a change that was played.
type pieceDocument struct {
	Kind   string          `json:"kind"`
	What   string          `json:"what"`
	Grade  string          `json:"grade"`
	Border *borderDocument `json:"border,omitempty"`
	Trial  trialDocument   `json:"trial"`
	Reach  []marginAdvice  `json:"reach,omitempty"` // how far faults may go; without to_ns, as far as was tried
	Costs  []costDocument  `json:"costs,omitempty"`
}

type borderDocument struct {
	Path     string `json:"path"`
	Kept     string `json:"kept"`
	Violated string `json:"violated,omitempty"`
	Far      string `json:"kept_up_to"`
	Again    string `json:"not_any_more_at,omitempty"`
}

type costDocument struct {
	Measure string `json:"measure"`
	Variant string `json:"variant,omitempty"`
	Was     int64  `json:"was"`
	Is      int64  `json:"is"`
}

type skipDocument struct {
	Lock string `json:"lock"`
	Why  string `json:"why"`
}

// json writes the same as a document.
func (a *advised) json(w io.Writer) error {
	r := a.report
	d := adviceDocument{
		Schema: "locksim.advice/1", File: a.plan.File, Title: a.title, Assumed: a.assumed, Confidence: adviceConfidence, Interrupted: a.interrupted,
		Violated: r.Base.Violated(), Base: trialOf(r.Base), Advice: []pieceDocument{}, Useless: []pieceDocument{},
	}
	for _, m := range r.Margins {
		d.Margins = append(d.Margins, marginAdvice{m.Variant, m.Property.String(), m.What, int64(m.From), int64(m.To), int64(m.Kept)})
	}
	for i := range r.Advice {
		d.Advice = append(d.Advice, a.piece(&r.Advice[i]))
	}
	for i := range r.Useless {
		d.Useless = append(d.Useless, a.piece(&r.Useless[i]))
	}
	for _, s := range r.Skipped {
		d.Skipped = append(d.Skipped, skipDocument(s))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}

func (a *advised) piece(x *advise.Advice) pieceDocument {
	d := pieceDocument{Kind: x.Kind, What: x.What, Grade: x.Grade.String(), Trial: trialOf(x.Trial)}
	if b := x.Border; b != nil {
		d.Border = &borderDocument{b.Path, b.Kept, b.Violated, b.Far, b.Again}
	}
	for _, m := range x.Reach {
		r := marginAdvice{Variant: m.Variant, What: m.What, From: int64(m.From), To: int64(m.To), Kept: int64(m.Kept)}
		if m.To > 0 {
			r.Property = m.Property.String()
		}
		d.Reach = append(d.Reach, r)
	}
	for _, c := range a.report.Costs(x) {
		d.Costs = append(d.Costs, costDocument{c.Measure, c.Variant, c.Was, c.Is})
	}
	return d
}

func trialOf(t *advise.Trial) trialDocument {
	d := trialDocument{Command: t.Command(), Lock: t.Lock, Runs: t.Seeds.Count, Cells: []pointDocument{}}
	for i := range t.Cases {
		c := &t.Cases[i]
		for p := range checker.PropertyCount {
			n := &c.Counts[p]
			if n.NotJudged == n.Runs {
				continue
			}
			x := pointDocument{Variant: c.Variant, Property: p.String(), Runs: n.Runs, Violated: n.Violated, Unknown: n.Undecided, Exposed: n.InDanger}
			if !c.Played.Alike() {
				i := n.Interval(float64(adviceConfidence) / 100)
				x.Least, x.Most = &i.Least, &i.Most
			}
			if n.Violated > 0 {
				x.Replay = t.Replay(c, p)
			}
			d.Cells = append(d.Cells, x)
		}
	}
	return d
}
