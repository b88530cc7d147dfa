package scenarios

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// Difference is one way in which a run was not as its scenario expects.
type Difference struct {
	Text         string
	Inconclusive bool // a verdict is unknown, or vacuous where another was expected: nothing is refuted
}

// Compare holds what was found of a run against what the case's scenario expects: verdicts, measured values, and
// that every fault happened.
func (c Case) Compare(h *history.History, r *checker.Report) []Difference {
	var differences []Difference
	for p := range checker.PropertyCount {
		want, ok := c.Expected(p)
		got := r.Verdicts[p]
		switch {
		case !ok && got == checker.Violated && !c.MayBreak(p):
			differences = append(differences, unexpected(p))
		case !ok:
		case !got.Meets(want):
			differences = append(differences, Difference{
				Text:         fmt.Sprintf("%s is %s, expected %s", p, got, want),
				Inconclusive: got == checker.Undecided || got == checker.Vacuous,
			})
		}
	}
	if c.NamesMode() {
		differences = append(differences, c.compareMeasures(r)...)
	}
	for _, f := range h.Faults {
		if !f.Fired {
			differences = append(differences, Difference{Text: fmt.Sprintf("%s (%s) never happened", f.Name, f.Text)})
		}
	}
	return differences
}

// CompareOther does the same for a run that the scenario's verdicts are not about, since it is of another lock or
// style: no property may be violated.
func (c Case) CompareOther(r *checker.Report) []Difference {
	var differences []Difference
	for p := range checker.PropertyCount {
		if r.Verdicts[p] == checker.Violated && !c.AllowsAny(p) {
			differences = append(differences, unexpected(p))
		}
	}
	return differences
}

func unexpected(p checker.Property) Difference {
	return Difference{Text: fmt.Sprintf("%s is violated, which is not expected", p)}
}

// compareMeasures refuses a measure that is absent, too: "recovers within 11s" does not hold if nothing recovered.
func (c Case) compareMeasures(r *checker.Report) []Difference {
	var differences []Difference
	for _, b := range c.Scenario.Measures {
		i := slices.IndexFunc(r.Measures, func(m checker.Measure) bool { return m.Name == b.Name })
		text := ""
		switch {
		case i < 0:
			text = fmt.Sprintf("%s was not measured: expected %s", b.Name, b.wanted())
		case !b.Allows(r.Measures[i].Value):
			text = fmt.Sprintf("%s is %s, expected %s", b.Name, b.amount(r.Measures[i].Value), b.wanted())
		default:
			continue
		}
		differences = append(differences, Difference{Text: text})
	}
	return differences
}
