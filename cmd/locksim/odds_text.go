package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/locksim/locksim/internal/profile"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/internal/search/odds"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// oddsNames are what the properties of an estimate are called.
var oddsNames = [len(odds.Properties)]string{"two holders at once", "damage"}

// amountOf prints a probability or a rate with three digits.
func figure(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// rangeOf prints where a number lies, rounded outwards.
func rangeOf(r measure.Range) string {
	return outwards(r.Least, math.Floor) + " to " + outwards(r.Most, math.Ceil)
}

func outwards(x float64, round func(float64) float64) string {
	if x <= 0 {
		return "0"
	}
	return figure(round(x*digits(x)) / digits(x))
}

// yearly is what a probability comes to in a year.
func (r *estimated) yearly(p float64) float64 { return p * r.profile.Acquisitions.In(profile.Year) }

// once says how often something happens so many times a year.
func once(yearly float64) string {
	switch years := 1 / yearly; {
	case yearly == 0:
		return "not seen"
	case years >= 2:
		return "once in " + figure(years) + " years"
	default:
		return profile.Rate{PerSecond: yearly / profile.Year.Seconds()}.String()
	}
}

// text prints the odds, what makes them up, what matters, and what would help.
func (r *estimated) text(w io.Writer) error {
	r.head(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\n\tone acquisition\tsampling\ta year\tsampling\tthat is\n")
	for i, name := range oddsNames {
		o := r.result.Of[i]
		if r.seen(i) == 0 {
			fmt.Fprintf(t, "%s\tnot seen\t\t\t\t\n", name)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", name, figure(o.Estimate), rangeOf(o.Range), figure(r.yearly(o.Estimate)),
			rangeOf(r.yearlyRange(o.Range)), once(r.yearly(o.Estimate)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	r.unsure(w)
	if err := r.parts(w); err != nil {
		return err
	}
	r.unseen(w)
	if err := r.matters(w); err != nil {
		return err
	}
	if err := r.helps(w); err != nil {
		return err
	}
	r.limits(w)
	return nil
}

func (r *estimated) yearlyRange(x measure.Range) measure.Range {
	return measure.Range{Least: r.yearly(x.Least), Most: r.yearly(x.Most)}
}

// seen is in how many samples a property was violated.
func (r *estimated) seen(property int) (n int) {
	for i := range r.result.Parts {
		n += r.result.Parts[i].Violated[property]
	}
	return n
}

// head says what was estimated.
func (r *estimated) head(w io.Writer) {
	c, s := &r.model.Case, r.model.Case.Scenario
	fmt.Fprintf(w, "%s under %s: %d runs; %d %% confidence intervals\n", reports.Visible(r.name), reports.Visible(r.file), r.result.Runs, r.percent)
	if r.profile.Example {
		fmt.Fprintf(w, "an example: the numbers are those of no deployment\n")
	}
	if r.interrupted {
		fmt.Fprintln(w, r.mark())
	}
	fmt.Fprintf(w, "acquisitions: %v\nlock.ttl: %s\nstyle: %s\nfencing: %s\n", r.profile.Acquisitions, scenarios.Brief(s.Lock.TTL), c.Style, c.Fencing)
}

// unsure prints the second interval.
func (r *estimated) unsure(w io.Writer) {
	data := r.result.Data()
	acquisitions := r.profile.Acquisitions
	if acquisitions.Counted > 0 {
		data = strings.TrimPrefix(data+", the rate of acquisitions", ", ")
	}
	if data == "" {
		fmt.Fprintln(w, "\nAll laws and rates are stated, so that there is no second interval: how well they are known is not part of it.")
		return
	}
	fmt.Fprintf(w, "\nWhat your data does not know (%s) makes it, with the same confidence:\n", data)
	for i, name := range oddsNames {
		if each, year := r.result.Unsure(i, acquisitions); each != nil && r.seen(i) > 0 {
			fmt.Fprintf(w, "  %s: %s for one acquisition, %s a year\n", name, rangeOf(*each), rangeOf(*year))
		}
	}
}

// mostParts is how many parts are printed.
const mostParts = 6

// parts prints what makes the odds up.
func (r *estimated) parts(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nwhat happens\twhose length decides\tprobability\ttwo holders\tdamage\tsamples")
	told, left := 0, [len(odds.Properties)]float64{}
	for i := range r.result.Parts {
		p := &r.result.Parts[i]
		if p.Violated[0]+p.Violated[1] == 0 {
			continue
		}
		if told++; told > mostParts {
			for k := range left {
				left[k] += r.share(p, k)
			}
			continue
		}
		decides := p.Decides
		if decides == "" {
			decides = "–"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\n", p.Text, decides, figure(p.Chance), percent(r.share(p, 0)), percent(r.share(p, 1)), p.Samples)
	}
	if told == 0 {
		fmt.Fprintln(t, "nothing violated anything\t\t\t\t\t")
	}
	if told > mostParts {
		fmt.Fprintf(t, "%d more\t\t\t%s\t%s\t\n", told-mostParts, percent(left[0]), percent(left[1]))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	head := "\nThe smallest scenario of each:\n"
	for i := range r.result.Parts {
		if command := r.saved[i]; command != "" {
			fmt.Fprintf(w, "%s  %s  # %s\n", head, command, r.result.Parts[i].Text)
			head = ""
		}
	}
	if r.saved == nil && told > 0 {
		fmt.Fprintln(w, "\n--save DIR saves the smallest scenario of each as a file that locksim run plays.")
	}
	return nil
}

// share is the part's share of the odds.
func (r *estimated) share(p *odds.Part, property int) float64 {
	if r.result.Of[property].Estimate == 0 {
		return 0
	}
	return p.Of[property].Estimate / r.result.Of[property].Estimate
}

// unseen says how much may be hidden where nothing was violated, and how the assumption of the method was checked.
func (r *estimated) unseen(w io.Writer) {
	fmt.Fprintln(w)
	for i, name := range oddsNames {
		sum, samples, calm := 0.0, 0, 0
		for k := range r.result.Parts {
			p := &r.result.Parts[k]
			if p.Violated[i] > 0 {
				continue
			}
			if p.Calm() {
				calm += p.Samples
				continue
			}
			sum, samples = sum+p.Unseen[i], samples+p.Samples
		}
		if calm > 0 {
			fmt.Fprintf(w, "%s: none in %d samples in which nothing rare happened, with the longest work, too; it counts as impossible then.\n", capital(name), calm)
		}
		if samples > 0 {
			fmt.Fprintf(w, "%s: none in %d samples of other combinations, which count as harmless. In so many samples\n"+
				"a probability of up to %s for one acquisition is not seen.\n",
				capital(name), samples, outwards(sum, math.Ceil))
		}
	}
	checked, missed, below := 0, 0, 0
	for k := range r.result.Parts {
		p := &r.result.Parts[k]
		checked, missed, below = checked+p.Checked, missed+p.Missed, below+p.Below
	}
	if checked > 0 {
		fmt.Fprintf(w, "Of %d longer lengths than the shortest that violates %d did not, and %d shorter ones did; the estimate accounts for both.\n",
			checked, missed, below)
	}
	fmt.Fprintf(w, "Combinations that were left out have a probability of %s, which the intervals include.\n", outwards(r.result.Left, math.Ceil))
	for i := range r.model.Hazards {
		if h := &r.model.Hazards[i]; h.Short > 0 {
			fmt.Fprintf(w, "Left out is each %s of up to %s, a thousandth of the lease, by which none delays it much: all but %s of %s a second.\n",
				h.Name, scenarios.Brief(h.Short), figure(h.Rate), figure(h.All.Rate.PerSecond))
		}
	}
	if n := r.result.Unknown; n > 0 {
		fmt.Fprintf(w, "%d samples have an inconclusive run, which counts as harmless.\n", n)
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// matters prints what the odds depend on.
func (r *estimated) matters(w io.Writer) error {
	if len(r.inputs) == 0 || r.seen(0)+r.seen(1) == 0 {
		return nil
	}
	size := func(x odds.Input) float64 { return max(math.Abs(x.Power[0]), math.Abs(x.Power[1])) }
	list := slices.Clone(r.inputs)
	slices.SortStableFunc(list, func(a, b odds.Input) int { return cmp.Compare(size(b), size(a)) })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nhow much it matters: 1 % more of\ttwo holders\tdamage")
	for i, x := range list {
		if size(x) < matters {
			fmt.Fprintf(t, "%d others\t0\t0\n", len(list)-i)
			break
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", x.Name, signed(x.Power[0]), signed(x.Power[1]))
	}
	return t.Flush()
}

// matters is from how many percent on an input matters.
const matters = 0.005

// signed is a percentage with its sign.
func signed(x float64) string {
	if math.Abs(x) < matters {
		return "0"
	}
	return fmt.Sprintf("%+.2f %%", x)
}

// helps prints what would help.
func (r *estimated) helps(w io.Writer) error {
	m := r.remedy
	if m == nil || r.seen(0)+r.seen(1) == 0 {
		return nil
	}
	if len(m.TTLs) > 0 {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "\nlock.ttl\ttwo holders a year\tdamage a year")
		for _, x := range m.TTLs {
			fmt.Fprintf(t, "%s\t%s\t%s\n", scenarios.Brief(x.TTL), figure(r.yearly(x.Of[0])), figure(r.yearly(x.Of[1])))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(w, "computed from the same runs, and as uncertain as the estimate, since the shortest length that violates grows as the lease does;\n"+
			"played for %s\n", r.checkedTTLs())
	} else if m.Doubt != "" {
		fmt.Fprintf(w, "\nThe odds of other leases do not follow from these runs: %s.", m.Doubt)
		if m.OneByOne {
			fmt.Fprint(w, " Leases were played one by one.")
		}
		fmt.Fprintln(w)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nwhat helps (once in ten years is 0.1 a year)\ttwo holders a year\tdamage a year\t")
	for i := range m.List {
		x := &m.List[i]
		line := x.Change + "\t"
		for k := range oddsNames {
			line += r.after(x, k) + "\t"
		}
		fmt.Fprintln(t, line)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if m.Unreachable > 0 {
		fmt.Fprintf(w, "No lease up to %s is enough.\n", scenarios.Brief(m.Unreachable))
	}
	if m.NoDeadline {
		fmt.Fprintln(w, "The lock states no deadline, so that no client can stop in time before it.")
	}
	return nil
}

// after is what is left with a remedy.
func (r *estimated) after(x *odds.Remedy, property int) string {
	o := x.Result.Of[property]
	mark := ""
	if x.Enough[property] {
		mark = " ✓"
	}
	if o.Estimate == 0 {
		return "not seen" + mark
	}
	return figure(r.yearly(o.Estimate)) + " (" + rangeOf(r.yearlyRange(o.Range)) + ")" + mark
}

// checkedTTLs lists the leases that were played to check those that were computed.
func (r *estimated) checkedTTLs() string {
	var words []string
	for _, x := range r.remedy.Checks {
		o := x.Result.Of[0]
		words = append(words, fmt.Sprintf("%s with fewer runs (two holders: %s; %s)", scenarios.Brief(x.TTL), figure(r.yearly(o.Estimate)), rangeOf(r.yearlyRange(o.Range))))
	}
	return strings.Join(words, ", ")
}

// limits says what the odds are not.
func (r *estimated) limits(w io.Writer) {
	fmt.Fprint(w, "\nNot in these odds: delays of messages beyond one in a million, whose law nobody knows from a sample; bad minutes in which\n"+
		"several things of the profile happen together, unless it names their common cause; and mistakes in the simulated parts.\n")
}
