package reports

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// maxTold is how many violations of one property are told in words.
const maxTold = 2

// why prints what the checker says of each violation, and how it came about. After another run of the same schedule it
// keeps to what befell the resource, and to what befell this run alone.
func (t *text) why(r, like *Run, v *view, said map[string]bool) {
	list := v.reasons(like, said)
	if len(list) > 0 {
		t.line("")
	}
	for _, x := range list {
		switch {
		case x.more:
			t.item(" ", x.text, faint)
			continue
		case x.property == checker.Resource:
			t.item(t.g.bullet, x.text, red)
		default:
			t.item(t.g.bullet, x.text, amber)
		}
		if x.because != "" {
			t.item(" ", x.because, plain)
		}
	}
	status, reasons := r.Status()
	if status == AsExpected {
		return
	}
	t.line("")
	for _, reason := range reasons {
		t.item(t.g.mismatch, shortened(reason)+".", differs)
	}
}

// reason is what a text says of a violation: that it took place, and how it came about.
type reason struct {
	property checker.Property
	text     string
	because  string
	more     bool // the text counts those that are not told
}

// reasons tells of the violations of a run, of each property the first ones, and what has not been said before.
func (v *view) reasons(like *Run, said map[string]bool) []reason {
	var list []reason
	var told [checker.PropertyCount]int
	for i := range v.run.Report.Violations {
		x := &v.run.Report.Violations[i]
		if said[x.Text] || like != nil && x.Property != checker.Resource && alike(v.run, like, x.Property) {
			continue
		}
		said[x.Text] = true
		if told[x.Property]++; told[x.Property] <= maxTold {
			list = append(list, reason{x.Property, capital(x.Kind) + ": " + shortened(x.Text) + ".", v.because(x), false})
		}
	}
	for p := range checker.PropertyCount {
		if n := told[p] - maxTold; n > 0 {
			list = append(list, reason{p, fmt.Sprintf("(%s: %d more)", p, n), "", true})
		}
	}
	return list
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// because says how a violation came about, from what was observed; "" if there is nothing to add.
func (v *view) because(x *checker.Violation) string {
	switch x.Property {
	case checker.MutualExclusion:
		if len(x.Acquisitions) == 2 {
			return v.whyDouble(v.h.Acquisition(x.Acquisitions[0]), v.h.Acquisition(x.Acquisitions[1]))
		}
	case checker.Resource:
		return v.whyDamage(x)
	case checker.ExclusionAtService, checker.FencingOrder, checker.ReleaseSafety, checker.Progress,
		checker.Availability, checker.PropertyCount:
	}
	return ""
}

// whyDouble tells how the second could be granted what the first believed to hold.
func (v *view) whyDouble(first, second *history.Acquisition) string {
	if first == nil || second == nil {
		return ""
	}
	b, ok := first.Belief()
	if !ok {
		return ""
	}
	parts := []string{fmt.Sprintf("%s believed from %s %s", v.holder(first.ID, ""), precise(b.From.Sub(0)), v.until(b))}
	g := v.lastGrant(first.ID, second.Returned)
	h := v.lastGrant(second.ID, second.Returned)
	if g == nil && v.h.HasAuthority {
		return parts[0] + ", and was not granted the lock at all."
	}
	if g != nil && g.To <= second.Returned {
		parts = append(parts, fmt.Sprintf("what it was granted %s at %s", v.endOfGrant(g), precise(g.To.Sub(0))))
	}
	for i := range v.h.Copies {
		if lost := v.lostCopy(&v.h.Copies[i], first, second); lost != "" {
			parts = append(parts, lost)
		}
	}
	for i := range v.h.Removals {
		r := &v.h.Removals[i]
		if r.Ended == first.ID && !r.Again && r.At <= second.Returned {
			parts = append(parts, fmt.Sprintf("%s's release deleted its %s on %s at %s", v.holder(r.By, r.Client),
				v.servers().Entry(), r.Node, precise(r.At.Sub(0))))
		}
	}
	if h == nil && v.h.HasAuthority {
		return strings.Join(append(parts, v.holder(second.ID, "")+" was not granted the lock at all"), "; ") + "."
	}
	if h != nil {
		if election := v.electedBetween(g, h); election != "" {
			parts = append(parts, election)
		}
		parts = append(parts, fmt.Sprintf("%s was granted the lock%s at %s", v.holder(second.ID, ""), v.byServers(h),
			precise(h.From.Sub(0))))
	}
	if len(parts) == 1 {
		return ""
	}
	return strings.Join(parts, "; ") + v.unaware(first, b, second.Returned) + "."
}

func (v *view) until(b history.Belief) string {
	if b.To > v.h.End {
		return "to the end of the run"
	}
	return "to " + precise(b.To.Sub(0))
}

func (v *view) endOfGrant(g *history.Grant) string {
	switch g.Ended {
	case history.ByUnlock:
		return "was released"
	case history.BySessionLoss:
		return "ended with its " + v.servers().Holds()
	case history.Open, history.ByCrash, history.ByNotice, history.ByDeadline:
	}
	return "ran out"
}

// lastGrant is what an acquisition was last given up to a moment.
func (v *view) lastGrant(id history.ID, by trace.Instant) *history.Grant {
	var last *history.Grant
	for i := range v.h.Grants {
		if g := &v.h.Grants[i]; g.Acquisition == id && g.From <= by {
			last = g
		}
	}
	return last
}

// lostCopy tells of a server that no longer had the first holder's key when the second came, though it should have.
func (v *view) lostCopy(c *history.Copy, first, second *history.Acquisition) string {
	if c.Acquisition != first.ID || c.To > second.Returned {
		return ""
	}
	when, entry := precise(c.To.Sub(0)), v.servers().Entry()
	switch c.Gone {
	case history.Wiped:
		switch lost, back := v.wiped(c); {
		case lost:
			return c.Node + " lost its " + entry + " at " + when
		case back:
			return c.Node + " had lost its " + entry + " when it came back at " + when
		}
		return c.Node + " took over a dataset without its " + entry + " at " + when
	case history.Evicted:
		if v.toldToDelete(c) {
			return c.Node + " deleted its " + entry + " at " + when + ", as its master did"
		}
		return c.Node + " evicted its " + entry + " at " + when
	case history.Overwritten:
		return "its " + entry + " on " + c.Node + " " + v.overwritten() + " at " + when
	case history.Expired:
		if v.tooEarly(c) && v.toldToDelete(c) {
			return c.Node + " deleted its " + entry + " at " + when + ", as its master did"
		}
		if v.tooEarly(c) {
			return "its " + entry + " on " + c.Node + " expired too early by that server's clock, at " + when
		}
	case history.Kept, history.Deleted:
	}
	return ""
}

// overwritten says what it is for somebody else's entry to take the place of one.
func (v *view) overwritten() string {
	if v.servers().Entry() == "lock" {
		return "was given to another"
	}
	return "was overwritten"
}

// electedBetween tells of the last server that had become a master before the second grant was given: it gave that one,
// or another did that did not know of it. It is "" if one server was master all the time.
func (v *view) electedBetween(first, second *history.Grant) string {
	text := ""
	if role, _ := v.servers().Role(); role != "master" || first == nil {
		return text
	}
	for i := range v.run.Events {
		e := &v.run.Events[i]
		gaveBoth := e.At <= first.From && v.gave(e.Node, first) && v.gave(e.Node, second)
		if e.Does != trace.Promote || e.At > second.From || gaveBoth {
			continue
		}
		text = e.Node + " had become master at " + precise(e.At.Sub(0))
		if !v.gave(e.Node, second) {
			text += ", which" + strings.TrimPrefix(v.byServers(second), " by") + " did not know"
		}
	}
	return text
}

// gave reports whether a grant stood on a server when it was given.
func (v *view) gave(node string, g *history.Grant) bool {
	for i := range v.h.Copies {
		if c := &v.h.Copies[i]; c.Node == node && stoodOn(c, g) {
			return true
		}
	}
	return false
}

// unaware goes on with why the first holder did not notice anything.
func (v *view) unaware(a *history.Acquisition, b history.Belief, at trace.Instant) string {
	who := v.holder(a.ID, "")
	for i := range v.faults {
		f := &v.faults[i]
		if f.fired && f.kind == "pause" && f.node == a.Client && f.begin <= at && at < f.end {
			return fmt.Sprintf("; %s was paused then and could not notice", who)
		}
	}
	if a.HasDeadline && a.Deadline <= at && a.Style != history.Careful {
		return fmt.Sprintf("; %s's lease had stated a deadline, at %s, but a %s client does not look",
			who, precise(a.Deadline.Sub(0)), a.Style)
	}
	switch {
	case b.To <= at:
	case !a.HasDeadline && !a.CanLearn:
		return ". Nothing told " + who + ": this lock states no deadline and gives no notice of loss"
	case a.CanLearn && a.Style == history.Careless:
		return ". A careless client does not listen to notices of loss"
	case a.CanLearn && a.Noticed < trace.Never:
		return fmt.Sprintf("; %s learnt of that at %s only", who, precise(a.Noticed.Sub(0)))
	case a.CanLearn:
		return "; nothing had told " + who
	}
	return ""
}

// whyDamage says what the resource compared, and so why it took the write.
func (v *view) whyDamage(x *checker.Violation) string {
	if v.run.Case.Scenario.Resource.Guarded {
		return ""
	}
	switch v.h.Fencing {
	case history.Unfenced:
		return "The resource compared nothing: with fencing none it takes every write."
	case history.CheckThenWrite:
		return "The token was compared in one step and the write done in another; what came in between was not seen."
	case history.FencedWrite:
		if x.Kind == "torn section" {
			return "Each write's token was compared, but a section is more than one write."
		}
		return "Writes compared tokens, reads did not: no token larger than that of the late write had been seen when it came."
	case history.FencedReadWrite, history.TokenEquality, history.CompareAndSet:
		if x.Kind == "torn section" {
			return "Each access was fenced, but a section is more than one access: fencing isolates, it does not make a section atomic."
		}
	}
	return ""
}
