package tell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
)

// Measured lists the values that are not zero and that the scenario does not bound.
func Measured(r *model.Run) []string {
	bounds := model.Bounds(*r)
	var rest []string
	for _, m := range r.Report.Measures {
		bounded := r.Compared() && slices.ContainsFunc(bounds, func(b model.Bound) bool { return b.Name == m.Name })
		if m.Value != 0 && !bounded {
			rest = append(rest, strings.TrimSuffix(m.Name, "-ns")+" "+model.Amount(m.Name, m.Value))
		}
	}
	return rest
}

// InkOf is the colour of a verdict.
func InkOf(p checker.Property, v checker.Verdict) paint.Ink {
	switch v {
	case checker.Held:
		return paint.Green
	case checker.NotSeen:
		return paint.Plain
	case checker.Violated:
		if p == checker.Resource {
			return paint.Red
		}
		return paint.Amber
	case checker.Undecided:
		return paint.Strong
	case checker.Vacuous, checker.NotJudged:
	}
	return paint.Faint
}

// InkOfRun is that of what was found of a property in a run: of a near miss, too.
func InkOfRun(r *model.Run, p checker.Property) paint.Ink {
	if r.NearMiss(p) {
		return paint.Near
	}
	return InkOf(p, r.Report.Verdicts[p])
}

// Note says how serious a verdict is to be taken.
func Note(r *model.Run, p checker.Property, v checker.Verdict) string {
	switch v {
	case checker.NotSeen:
		return "exposed " + times(r.Report.Dangers[p]) + " in this run"
	case checker.Held:
		return "exposed " + times(r.Report.Dangers[p]) + onlyOn(r, p, v) + noteOfMargin(r, p)
	case checker.Vacuous:
		return "never exposed"
	case checker.Violated:
		n := 0
		kind := ""
		for i := range r.Report.Violations {
			if x := &r.Report.Violations[i]; x.Property == p {
				n++
				if kind == "" {
					kind = x.Kind
				}
			}
		}
		if n > 1 {
			return fmt.Sprintf("%s%s, %d in all", kind, ofLocks(r, p, v), n)
		}
		return kind + ofLocks(r, p, v)
	case checker.NotJudged, checker.Undecided:
	}
	return model.Reason(r, p)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
