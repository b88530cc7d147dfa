package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
)

// maxTold is how many violations of one property are told in words.
const maxTold = 2

// why explains what a run violates, and lists the violations. After another run of the same schedule it keeps to what
// became of the resource, and to what happened in this run alone.
func (t *text) why(told *narrative, like *Run, said map[string]bool) {
	r := told.v.run
	list := told.reasons(like, said)
	if len(list) > 0 {
		t.line("")
	}
	if explained := told.explain(nil); explained != "" && like == nil {
		t.paragraph("  ", explained, plain)
		t.line("")
	}
	for _, x := range list {
		switch {
		case x.more:
			t.item(" ", x.claim, faint)
			continue
		case x.property == checker.Resource:
			t.item(t.g.bullet, x.claim, red)
		default:
			t.item(t.g.bullet, x.claim, amber)
		}
		t.output("    ", x.output)
	}
	if kept := told.kept(); kept != "" && like == nil {
		t.item(t.g.bullet, kept, plain)
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

// output prints what a program wrote, line by line.
func (t *text) output(indent, written string) {
	if written == "" {
		return
	}
	t.line(indent + t.ink(faint, "its output:"))
	for line := range strings.SplitSeq(written, "\n") {
		t.line(indent + "  " + t.ink(faint, Visible(strings.ReplaceAll(line, "\t", "    "))))
	}
}

// linesBeside is how much of what a program wrote stands beside a picture.
const linesBeside = 6

// beginning is what a program wrote, in a paragraph, or the first lines of it.
func beginning(written string) string {
	lines := strings.Split(written, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	if len(lines) > linesBeside {
		lines = append(lines[:linesBeside], "…")
	}
	for i, line := range lines {
		lines[i] = Visible(strings.TrimSpace(line))
	}
	return "Its output: " + strings.Join(lines, " / ")
}

// reason is what is said of a violation.
type reason struct {
	property checker.Property
	told     string // the checker's own sentence
	claim    string // what took place, and when, by the numbers of moments
	output   string // what a program wrote at its end
	more     bool   // the claim counts those that are not told
}

// reasons tells of the violations of a run, of each property the first ones, and what has not been said before.
func (n *narrative) reasons(like *Run, said map[string]bool) []reason {
	r := n.v.run
	var list []reason
	var told [checker.PropertyCount]int
	for i := range r.Report.Violations {
		x := &r.Report.Violations[i]
		if said[x.Text] || like != nil && x.Property != checker.Resource && alike(r, like, x.Property) {
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
			list = append(list, reason{property: property, claim: more, more: true})
		}
	}
	return list
}

func (n *narrative) reason(x *checker.Violation) reason {
	why := reason{property: x.Property, output: x.Output, told: capital(x.Kind) + ": " + n.v.told(x.Text) + "."}
	t := n.narrator(nil)
	t.violation, t.until, t.alone = x, x.At, n.twin
	if why.claim = why.told; t.claim() != "" {
		why.claim = capital(x.Kind) + ": " + t.claim() + "."
	}
	return why
}

// kept says what was not violated in spite of all; "" if there is nothing to say.
func (n *narrative) kept() string {
	r := n.v.run
	found := &r.Report.Verdicts
	var list []string
	if found[checker.MutualExclusion] == checker.Violated && found[checker.ExclusionAtService] == checker.Held {
		list = append(list, "the service never granted the lock to two at once")
	}
	if found[checker.MutualExclusion] == checker.Violated && found[checker.FencingOrder] == checker.Held {
		list = append(list, "tokens grew from grant to grant")
	}
	for i := range r.Report.Violations {
		if x := &r.Report.Violations[i]; x.Property == checker.Resource {
			list = append(list, "the resource was consistent until "+n.narrator(nil).ref(x.At, spot{laneStorage, ""}))
			break
		}
	}
	if len(list) == 0 {
		return ""
	}
	if last := len(list) - 1; last > 0 {
		list[last] = "and " + list[last]
	}
	return "Not violated: " + strings.Join(list, ", ") + "."
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
