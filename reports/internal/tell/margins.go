package tell

import (
	"fmt"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
)

// mostChanges is how many changes are told of one property.
const mostChanges = 3

// Margins says by how much properties held in runs of one schedule, a paragraph for each property of which a change is known that
// violates it. What was said of an earlier run is not said again.
func Margins(runs []model.Run) []string {
	var list []string
	said := map[string]bool{}
	for i := range runs {
		r := &runs[i]
		for p := range checker.PropertyCount {
			text := violatedIf(r, p)
			if text == "" || said[text] || !model.IsShown(r, nil, p) {
				continue
			}
			said[text] = true
			if i > 0 {
				text = "with fencing " + r.Case.Fencing.String() + ", " + text
			}
			list = append(list, text+story(r, p, said))
		}
	}
	return list
}

// noteOfMargin says beside a property that held by how much; "" if nothing is known.
func noteOfMargin(r *model.Run, p checker.Property) string {
	switch m := r.Margin(p); {
	case m == nil:
		return ""
	case m.Over > 0:
		return "; margin over " + wording.Precise(m.Over)
	default:
		return "; margin " + wording.Precise(m.By())
	}
}

// violatedIf names the smallest changes that violate a property; "" if none does.
func violatedIf(r *model.Run, p checker.Property) string {
	var changes []string
	for i := range r.Margins {
		if m := &r.Margins[i]; m.Property == p && m.Over == 0 && len(changes) < mostChanges {
			changes = append(changes, change(m))
		}
	}
	if len(changes) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is violated if %s.", p, wording.Alternatives(changes))
}

// story tells how a property comes to be violated with the smallest change, unless what comes of that change has been told.
func story(r *model.Run, p checker.Property, said map[string]bool) string {
	m := r.Margin(p)
	if m.Story == "" || said[size(m)] {
		return ""
	}
	said[size(m)] = true
	return " With " + size(m) + ": " + m.Story
}

// change is what is changed, and by how much: "the pause of a is 5.06s (60ms more)".
func change(m *model.Margin) string {
	by, direction := wording.Precise(m.By()), "more" // a jump of a clock is not longer
	if m.To < m.From {
		direction = "less"
	}
	if m.From == 0 {
		return fmt.Sprintf("the %s grows by %s", m.What, by)
	}
	return fmt.Sprintf("the %s is %s (%s %s)", m.What, wording.Precise(m.To), by, direction)
}

// size is what is changed as it is then: "the pause of a at 5.06s".
func size(m *model.Margin) string {
	if m.From == 0 {
		return fmt.Sprintf("%s more %s", wording.Precise(m.By()), m.What)
	}
	return fmt.Sprintf("the %s at %s", m.What, wording.Precise(m.To))
}

// onlyJust is what a sentence says after a property that held, but only just.
func onlyJust(r *model.Run, p checker.Property) string {
	if !r.NearMiss(p) {
		return ""
	}
	return ", but only by " + wording.Precise(r.Margin(p).By())
}
