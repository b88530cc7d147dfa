package tell

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Fate says from when on nothing random would have prevented the run's gravest violation, and what would have; "" if that is not known.
func (n *Narrative) Fate() string {
	f := n.View.Run.Fate
	if f == nil {
		return ""
	}
	return n.inevitable(f) + saved(f)
}

// inevitable says from when on all futures violate the property.
func (n *Narrative) inevitable(f *model.Fate) string {
	switch t := n.narrator(nil); {
	case f.Start:
		return fmt.Sprintf("Inevitable from the start: %s is violated in all %d runs with these faults and other random choices.", f.Property, f.Played)
	case f.From == f.To:
		return fmt.Sprintf("Not inevitable until it happened at %s: %s.", t.refAny(f.To), t.escapes(f))
	default:
		return fmt.Sprintf("Inevitable from %s on: %s is violated in all %d futures played from there with other random choices; %s.",
			t.refAny(f.From), f.Property, f.Played, t.escapes(f))
	}
}

// escapes counts the futures of the moment before that keep the property.
func (t *narrator) escapes(f *model.Fate) string {
	where := "played from " + t.refAny(f.Before) + " on"
	if f.Before < 0 {
		where = "played from the start"
	}
	return fmt.Sprintf("of %d %s, %d violate it", f.Others, where, f.Others-f.Kept)
}

// refAny names a moment by the first number that anything of that moment has, or by its time.
func (t *narrator) refAny(at trace.Instant) string {
	for i := range t.listed {
		m := &t.listed[i]
		if m.At != at || m.Text == "" {
			continue
		}
		if t.cites != nil {
			t.cites(m)
		}
		if m.Number > 0 {
			return t.g.Number(m.Number)
		}
	}
	return t.time(at)
}

// saved names the changes with which the property is not violated.
func saved(f *model.Fate) string {
	var prevent, avert []string
	for i := range f.Defences {
		if d := &f.Defences[i]; d.Averts {
			avert = append(avert, with(d))
		} else {
			prevent = append(prevent, with(d))
		}
	}
	var clauses []string
	if len(prevent) > 0 {
		clauses = append(clauses, "it holds with "+wording.Alternatives(prevent))
	}
	if len(avert) > 0 {
		clauses = append(clauses, "it is not even exposed with "+wording.Alternatives(avert))
	}
	if len(clauses) == 0 {
		if !f.Tried {
			return ""
		}
		return " No client style, fencing mode, longer lease or setting of the servers that was tried prevents it."
	}
	return fmt.Sprintf(" In all %d runs played of each, %s.", f.Defences[0].Runs, strings.Join(clauses, "; "))
}

// with is a change as it stands behind the word.
func with(d *model.Defence) string {
	switch {
	case d.Size == 0:
		return d.What
	case strings.HasSuffix(d.What, "every"):
		return d.What + " " + wording.Precise(d.Size)
	default:
		return d.What + " of " + wording.Precise(d.Size)
	}
}
