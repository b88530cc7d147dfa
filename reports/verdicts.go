package reports

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/checker"
)

// verdicts prints what was found of each property beside what was expected; after another run of the same schedule,
// only where something is different.
func (t *text) verdicts(r, like *Run) {
	var rows []checker.Property
	width := 0
	for p := range checker.PropertyCount {
		width = max(width, Columns(p.String()))
		if worthARow(r, like, p) {
			rows = append(rows, p)
		}
	}
	if len(rows) == 0 {
		return
	}
	expected := "expected"
	if !r.Compared() {
		expected = ""
	}
	t.line("")
	t.line(strings.TrimRight("    "+Pad("property", width)+"  "+Pad("found", 10)+"  "+expected, " "))
	for _, p := range rows {
		t.verdict(r, p, width)
	}
	if !r.Compared() && like == nil {
		t.paragraph("    ", "The scenario's verdicts are of another lock, mode or style: here no property may be violated.", faint)
	}
}

// worthARow reports whether a verdict is to be shown: somebody asked for it, or it says something. That a resource was
// used but cannot be judged always does: its accepted writes would look safe. After another run only what is different
// is shown, but then also that there is nothing to say any more.
func worthARow(r, like *Run, p checker.Property) bool {
	if like != nil {
		return !alike(r, like, p) && (!r.uninteresting(p) || !like.uninteresting(p))
	}
	return !r.uninteresting(p)
}

// uninteresting reports whether nobody asked for a verdict and there is none to speak of.
func (r *Run) uninteresting(p checker.Property) bool {
	got := r.Report.Verdicts[p]
	_, expected := r.Expected(p)
	return !expected && (got == checker.NotJudged || got == checker.Vacuous) && (p != checker.Resource || !r.unjudgedResource())
}

// concernsNobody reports whether a property is of programs alone, and the lock is none's.
func (r *Run) concernsNobody(p checker.Property) bool {
	_, expected := r.Expected(p)
	return p == checker.Survival && !expected && r.Report.Verdicts[p] == checker.NotJudged
}

// unjudgedResource reports whether the resource was used, and nothing can be said of it.
func (r *Run) unjudgedResource() bool {
	return r.Report.Verdicts[checker.Resource] == checker.NotJudged && len(r.History.Accesses) > 0
}

func alike(a, b *Run, p checker.Property) bool {
	wantA, expectedA := a.Expected(p)
	wantB, expectedB := b.Expected(p)
	return a.Report.Verdicts[p] == b.Report.Verdicts[p] && wantA == wantB && expectedA == expectedB
}

func (t *text) verdict(r *Run, p checker.Property, width int) {
	got := r.Report.Verdicts[p]
	sign, k := t.sign(p, got)
	wanted, differing := r.allowed(p), " "
	if r.differs(p) {
		differing = t.g.mismatch
	}
	left := Pad(p.String(), width)
	found := t.ink(k, Pad(got.String(), 10))
	if differing != " " {
		wanted = t.ink(differs, wanted) + Pad("", 10-Columns(wanted))
	} else {
		wanted = Pad(wanted, 10)
	}
	head := "  " + t.ink(k, sign) + " " + left + "  " + found + "  " + wanted + " "
	plainHead := 2 + Columns(sign) + 1 + width + 2 + 10 + 2 + 10 + 1
	note := r.note(p, got)
	lines := Wrap(note, max(t.o.Width-plainHead-2, 20), "")
	if differing != " " {
		head += t.ink(differs, differing) + " "
		plainHead += Columns(differing) + 1
	}
	if len(lines) == 0 {
		t.line(strings.TrimRight(head, " "))
		return
	}
	for i, line := range lines {
		if i > 0 {
			head = Pad("", plainHead)
		}
		t.line(head + t.ink(faint, line))
	}
}

// sign is the glyph of a verdict. Only damage at the resource is red.
func (t *text) sign(p checker.Property, v checker.Verdict) (string, ink) {
	signs := [...]string{
		checker.Held: t.g.held, checker.Violated: t.g.violated, checker.Vacuous: t.g.vacuous,
		checker.Undecided: t.g.undecided, checker.NotJudged: t.g.unjudged,
	}
	return signs[v], inkOf(p, v)
}

// inkOf is the colour of a verdict.
func inkOf(p checker.Property, v checker.Verdict) ink {
	switch v {
	case checker.Held:
		return green
	case checker.Violated:
		if p == checker.Resource {
			return red
		}
		return amber
	case checker.Undecided:
		return strong
	case checker.Vacuous, checker.NotJudged:
	}
	return faint
}

// note says how serious a verdict is to be taken.
func (r *Run) note(p checker.Property, v checker.Verdict) string {
	switch v {
	case checker.Held:
		return "exposed " + times(r.Report.Dangers[p])
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
			return fmt.Sprintf("%s, %d in all", kind, n)
		}
		return kind
	case checker.NotJudged, checker.Undecided:
	}
	return r.reason(p)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
