// Package tell explains runs in sentences. A [Narrative] explains with the moments of a picture how a run came to violate
// something; [Story] explains without a picture, [Headline] says in one sentence what came of a run.
package tell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// maxTold is how many violations of one property are told in words.
const maxTold = 2

// Narrative is what there is to tell of one run of a schedule: its moments, and sentences that name them.
type Narrative struct {
	View    *model.View
	Glyphs  *paint.Glyphs
	Moments []moments.Moment
	twin    bool // it comes after another run of its schedule, which was explained
}

// NewNarrative gathers the moments of a run.
func NewNarrative(v *model.View, g *paint.Glyphs, twin bool) *Narrative {
	return &Narrative{View: v, Glyphs: g, Moments: moments.Of(v), twin: twin}
}

// Explain explains the first violations of the run: of each property one.
func (n *Narrative) Explain(cites func(*moments.Moment)) string {
	report := &n.View.Run.Report
	var list []*checker.Violation
	for property := range checker.PropertyCount {
		i := slices.IndexFunc(report.Violations, func(x checker.Violation) bool { return x.Property == property })
		if i >= 0 && (property != checker.Availability || report.Verdicts[checker.Progress] != checker.Violated) {
			list = append(list, &report.Violations[i])
		}
	}
	if len(list) == 0 {
		return ""
	}
	return n.narrator(cites).narrate(list)
}

func (n *Narrative) narrator(cites func(*moments.Moment)) *narrator {
	return &narrator{v: n.View, g: n.Glyphs, listed: n.Moments, cites: cites}
}

// Cite marks the moments that are named of the run: by its explanation and of its violations.
func (n *Narrative) Cite() {
	mark := func(m *moments.Moment) { m.Cited = true }
	n.Explain(mark)
	if f := n.View.Run.Fate; f != nil && !f.Start {
		n.narrator(mark).refAny(f.From)
		n.narrator(mark).refAny(f.Before)
	}
	var told [checker.PropertyCount]int
	for i := range n.View.Run.Report.Violations {
		x := &n.View.Run.Report.Violations[i]
		if told[x.Property]++; told[x.Property] > maxTold {
			continue
		}
		t := n.narrator(mark)
		t.violation, t.until = x, x.At
		t.claim()
		if x.Property == checker.Resource && told[x.Property] == 1 { // until then it was consistent
			t.ref(x.At, moments.Place{Lane: moments.StorageLane, Key: ""})
		}
	}
}

// Reason is what is said of a violation.
type Reason struct {
	Property checker.Property
	Told     string // the checker's own sentence
	Claim    string // what took place, and when, by the numbers of moments
	Output   string // what a program wrote at its end
	More     bool   // the claim counts those that are not told
}

// Reasons tells of the violations of a run, of each property the first ones, and what has not been said before.
func (n *Narrative) Reasons(like *model.Run, said map[string]bool) []Reason {
	r := n.View.Run
	var list []Reason
	var told [checker.PropertyCount]int
	for i := range r.Report.Violations {
		x := &r.Report.Violations[i]
		if said[x.Text] || like != nil && x.Property != checker.Resource && model.Alike(r, like, x.Property) {
			continue
		}
		said[x.Text] = true
		if told[x.Property]++; told[x.Property] <= maxTold {
			list = append(list, n.reason(x))
		}
	}
	for property := range checker.PropertyCount {
		if n := told[property] - maxTold; n > 0 {
			more := fmt.Sprintf("(%s: %d more)", property, n)
			list = append(list, Reason{Property: property, Claim: more, More: true})
		}
	}
	return list
}

func (n *Narrative) reason(x *checker.Violation) Reason {
	why := Reason{Property: x.Property, Output: x.Output, Told: wording.Capital(x.Kind) + ": " + told(n.View, x.Text) + "."}
	t := n.narrator(nil)
	t.violation, t.until, t.alone = x, x.At, n.twin
	if why.Claim = why.Told; t.claim() != "" {
		why.Claim = wording.Capital(x.Kind) + ": " + t.claim() + "."
	}
	return why
}

// firstDamage is when the resource was first damaged, whichever lock should have protected it; Never if it was not.
func (n *Narrative) firstDamage() trace.Instant {
	at := trace.Never
	for i := range n.View.Run.Report.Violations {
		if x := &n.View.Run.Report.Violations[i]; x.Property == checker.Resource {
			at = min(at, x.At)
		}
	}
	return at
}

// Kept says what was not violated in spite of all; "" if there is nothing to say.
func (n *Narrative) Kept() string {
	r := n.View.Run
	found := &r.Report.Verdicts
	var list []string
	if found[checker.MutualExclusion] == checker.Violated && found[checker.ExclusionAtService] == checker.Held {
		list = append(list, theSame(r, "the service never granted the lock to two at once"))
	}
	if found[checker.MutualExclusion] == checker.Violated && found[checker.FencingOrder] == checker.Held {
		list = append(list, "tokens grew from grant to grant")
	}
	if at := n.firstDamage(); at != trace.Never {
		place := moments.Place{Lane: moments.StorageLane, Key: ""}
		for k := range r.History.Accesses {
			if a := &r.History.Accesses[k]; a.Applied == at && n.View.Harmful[a] {
				place = moments.PlaceOfAccess(a)
				break
			}
		}
		list = append(list, "the resource was consistent until "+n.narrator(nil).ref(at, place))
	}
	if len(list) == 0 {
		return ""
	}
	if last := len(list) - 1; last > 0 {
		list[last] = "and " + list[last]
	}
	return "Not violated: " + strings.Join(list, ", ") + "."
}

// linesBeside is how much of what a program wrote stands beside a picture.
const linesBeside = 6

// Beginning is what a program wrote, in a paragraph, or the first lines of it.
func Beginning(written string) string {
	lines := strings.Split(written, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	if len(lines) > linesBeside {
		lines = append(lines[:linesBeside], "…")
	}
	for i, line := range lines {
		lines[i] = wording.Visible(strings.TrimSpace(line))
	}
	return "Its output: " + strings.Join(lines, " / ")
}
