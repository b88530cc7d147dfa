package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
)

// Status compares the run with what its scenario expects of its case, and says in words what differs. A property of which
// nothing is expected may not be violated; of a run that the scenario is not about (see [Run.Compared]) that is all. A run
// of which a verdict is unknown is inconclusive, whatever is expected.
func (r Run) Status() (Status, []string) {
	status, reasons := r.compare()
	if unknown := r.Unknown(); len(unknown) > 0 {
		status, reasons = max(status, Inconclusive), append(reasons, unknown...)
	}
	return status, reasons
}

func (r *Run) compare() (status Status, reasons []string) {
	differences := r.Case.CompareOther(&r.Report)
	if r.Compared() {
		differences = r.Case.Compare(r.History, &r.Report)
	}
	for _, d := range differences {
		if d.Inconclusive {
			status = max(status, Inconclusive)
		} else {
			status = Unexpected
		}
		reasons = append(reasons, d.Text)
	}
	return status, reasons
}

// Unknown says why verdicts are unknown, one sentence a reason.
func (r *Run) Unknown() []string {
	var reasons []string
	about := map[string][]string{}
	for p, got := range r.Report.Verdicts {
		if got != checker.Undecided {
			continue
		}
		why := Reason(r, checker.Property(p))
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		about[why] = append(about[why], checker.Property(p).String())
	}
	for i, why := range reasons {
		verb := " is"
		if len(about[why]) > 1 {
			verb = " are"
		}
		reasons[i] = wording.Listing(about[why]) + verb + " unknown: " + why
	}
	return reasons
}

// Reason says in words why a verdict is what it is. The checker does not know how high a bound is that was reached.
func Reason(r *Run, p checker.Property) string {
	why := r.Report.Reasons[p]
	name := r.History.Bound
	if r.Report.Verdicts[p] != checker.Undecided || name == "" || !strings.Contains(why, name) {
		return why
	}
	switch limits := &r.Case.Scenario.Bounds; name {
	case "steps":
		return fmt.Sprintf("the bound of %d steps was reached", limits.Steps)
	case "messages":
		return fmt.Sprintf("the bound of %d messages was reached", limits.Messages)
	case "calls":
		return "the code of a client goes on and on at one moment: the bound of its calls was reached"
	}
	return why
}

// Compared reports whether the scenario's expectations are about a run like this one: with the scenario's lock, in a
// style that it names. In a fencing mode that it does not name it expects what it expects in every mode.
func (r Run) Compared() bool {
	s := r.Case.Scenario
	return r.Lock == s.Lock.Algorithm && slices.ContainsFunc(s.Cases(), func(c scenarios.Case) bool {
		return c.Style == r.Case.Style
	})
}

// Expected returns the verdict that is expected of a property; false if none is.
func (r Run) Expected(p checker.Property) (checker.Verdict, bool) {
	if !r.Compared() {
		return checker.NotJudged, false
	}
	return r.Case.Expected(p)
}

// Allowed is what the scenario says may come of a property: a verdict, "any", or "" if it says nothing.
func Allowed(r *Run, p checker.Property) string {
	want, expected := r.Expected(p)
	switch {
	case expected:
		return want.String()
	case r.Case.AllowsAny(p):
		return "any"
	}
	return ""
}

// Differs reports whether a verdict is another one than the scenario allows: a property of which it says nothing may not
// be violated.
func Differs(r *Run, p checker.Property) bool {
	got := r.Report.Verdicts[p]
	if want, expected := r.Expected(p); expected {
		return !got.Meets(want)
	}
	return got == checker.Violated && !r.Case.AllowsAny(p) && !(r.Compared() && r.Case.MayBreak(p))
}

// Waived lists the properties that the run violates and the scenario lets be violated.
func Waived(r *Run) []string {
	var list []string
	for p := range checker.PropertyCount {
		if r.Report.Verdicts[p] == checker.Violated && r.Case.AllowsAny(p) {
			list = append(list, p.String())
		}
	}
	return list
}

// FaultsNotFired lists the faults that never happened, in the order of the scenario.
func (r Run) FaultsNotFired() []string {
	var names []string
	for i := range r.History.Faults {
		if f := &r.History.Faults[i]; !f.Fired {
			names = append(names, f.Name)
		}
	}
	return names
}

// Bound is a measured value beside what the scenario expects of it.
type Bound struct {
	Name    string
	Value   string
	Allowed string
	Met     bool
}

// Bounds holds the run's measures against the bounds that its scenario sets; nil in a mode that it does not name.
func Bounds(r Run) []Bound {
	var list []Bound
	if !r.Case.NamesMode() {
		return nil
	}
	for _, m := range r.Case.Scenario.Measures {
		b := Bound{Name: m.Name, Value: "not measured"}
		for _, got := range r.Report.Measures {
			if got.Name == m.Name {
				b.Value, b.Met = Amount(m.Name, got.Value), m.Allows(got.Value)
			}
		}
		switch {
		case m.Min != nil && m.Max != nil && *m.Min == *m.Max:
			b.Allowed = Amount(m.Name, *m.Min)
		case m.Min != nil && m.Max != nil:
			b.Allowed = Amount(m.Name, *m.Min) + " to " + Amount(m.Name, *m.Max)
		case m.Min != nil:
			b.Allowed = "at least " + Amount(m.Name, *m.Min)
		case m.Max != nil:
			b.Allowed = "at most " + Amount(m.Name, *m.Max)
		}
		list = append(list, b)
	}
	return list
}

// Amount prints a measured value in its unit.
func Amount(name string, value int64) string {
	if strings.HasSuffix(name, "-ns") {
		return wording.Precise(time.Duration(value))
	}
	return fmt.Sprint(value)
}
