package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/scenarios"
)

// Status compares the run with what its scenario expects of its case, and says in words what differs. A run that the
// scenario says nothing of (see [Run.Compared]) is inconclusive if a verdict is unknown, and as expected otherwise.
func (r Run) Status() (Status, []string) {
	status, reasons := AsExpected, []string(nil)
	if !r.Compared() {
		for p, got := range r.Report.Verdicts {
			if got == checker.Undecided {
				status = Inconclusive
				reasons = append(reasons, fmt.Sprintf("%s is unknown: %s", checker.Property(p), r.Report.Reasons[p]))
			}
		}
		return status, reasons
	}
	for _, d := range r.Case.Compare(r.History, &r.Report) {
		if d.Inconclusive {
			status = max(status, Inconclusive)
		} else {
			status = Unexpected
		}
		reasons = append(reasons, d.Text)
	}
	return status, reasons
}

// Compared reports whether the scenario's expectations are about a run like this one: with the scenario's lock, in a
// mode and style that it names.
func (r Run) Compared() bool {
	s := r.Case.Scenario
	return r.Lock == s.Lock.Algorithm && slices.ContainsFunc(s.Cases(), func(c scenarios.Case) bool {
		return c.Style == r.Case.Style && c.Fencing == r.Case.Fencing
	})
}

// Expected returns the verdict that is expected of a property; false if none is.
func (r Run) Expected(p checker.Property) (checker.Verdict, bool) {
	if !r.Compared() {
		return checker.NotJudged, false
	}
	return r.Case.Expected(p)
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

// bound is a measured value beside what the scenario expects of it.
type bound struct {
	name    string
	value   int64
	allowed string
	met     bool
}

// bounds holds the run's measures against the bounds that its scenario sets.
func (r Run) bounds() []bound {
	var list []bound
	for _, m := range r.Case.Scenario.Measures {
		b := bound{name: m.Name}
		for _, got := range r.Report.Measures {
			if got.Name == m.Name {
				b.value = got.Value
			}
		}
		b.met = (m.Min == nil || b.value >= *m.Min) && (m.Max == nil || b.value <= *m.Max)
		switch {
		case m.Min != nil && m.Max != nil && *m.Min == *m.Max:
			b.allowed = amount(m.Name, *m.Min)
		case m.Min != nil && m.Max != nil:
			b.allowed = amount(m.Name, *m.Min) + " to " + amount(m.Name, *m.Max)
		case m.Min != nil:
			b.allowed = "at least " + amount(m.Name, *m.Min)
		case m.Max != nil:
			b.allowed = "at most " + amount(m.Name, *m.Max)
		}
		list = append(list, b)
	}
	return list
}

// amount prints a measured value in its unit.
func amount(name string, value int64) string {
	if strings.HasSuffix(name, "-ns") {
		return precise(time.Duration(value))
	}
	return fmt.Sprint(value)
}
