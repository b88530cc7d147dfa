package text

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/wording"
)

// verdicts prints what was found of each property beside what was expected; after another run of the same schedule,
// only where something is different.
func (t *Printer) verdicts(r, like *model.Run) {
	var rows []checker.Property
	width := 0
	for p := range checker.PropertyCount {
		width = max(width, wording.Columns(p.String()))
		if model.IsShown(r, like, p) {
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
	t.Line("")
	t.Line(strings.TrimRight("    "+wording.Pad("property", width)+"  "+wording.Pad("found", 10)+"  "+expected, " "))
	for _, p := range rows {
		t.verdict(r, p, width)
	}
	if like == nil {
		t.exposure(r, rows)
	}
	if !r.Compared() && like == nil {
		t.paragraph("    ", "The scenario's verdicts are of another lock or style: here no property may be violated.", paint.Faint)
	}
}

// exposure says what it is to be exposed, and which properties never were, so that nobody takes those without a row for held.
func (t *Printer) exposure(r *model.Run, shown []checker.Property) {
	held := slices.ContainsFunc(shown, func(p checker.Property) bool {
		return r.Report.Verdicts[p] == checker.Held || r.Report.Verdicts[p] == checker.NotSeen
	})
	var never []string
	for p := range checker.PropertyCount {
		if r.Report.Verdicts[p] == checker.Vacuous && !slices.Contains(shown, p) {
			never = append(never, p.String())
		}
	}
	var text []string
	if held {
		text = append(text, "Exposed: something happened that could have violated the property.")
	}
	if len(never) > 0 {
		text = append(text, "Never exposed: "+wording.Listing(never)+".")
	}
	if len(text) > 0 {
		t.paragraph("    ", strings.Join(text, " "), paint.Faint)
	}
}

func (t *Printer) verdict(r *model.Run, p checker.Property, width int) {
	got := r.Report.Verdicts[p]
	sign, k := t.Sign(got), tell.InkOfRun(r, p)
	if k == paint.Near {
		sign = t.Glyphs.Near
	}
	wanted, differing := model.Allowed(r, p), " "
	if model.Differs(r, p) {
		differing = t.Glyphs.Mismatch
	}
	left := wording.Pad(p.String(), width)
	found := t.Ink(k, wording.Pad(got.String(), 10))
	if differing != " " {
		wanted = t.Ink(paint.Differs, wanted) + wording.Pad("", 10-wording.Columns(wanted))
	} else {
		wanted = wording.Pad(wanted, 10)
	}
	head := "  " + t.Ink(k, sign) + " " + left + "  " + found + "  " + wanted + " "
	plainHead := 2 + wording.Columns(sign) + 1 + width + 2 + 10 + 2 + 10 + 1
	note := tell.Note(r, p, got)
	lines := wording.Wrap(note, max(t.Options.Width-plainHead-2, 20), "")
	if differing != " " {
		head += t.Ink(paint.Differs, differing) + " "
		plainHead += wording.Columns(differing) + 1
	}
	if len(lines) == 0 {
		t.Line(strings.TrimRight(head, " "))
		return
	}
	for i, line := range lines {
		if i > 0 {
			head = wording.Pad("", plainHead)
		}
		t.Line(head + t.Ink(paint.Faint, line))
	}
}

// Sign is the glyph of a verdict.
func (t *Printer) Sign(v checker.Verdict) string {
	signs := [...]string{
		checker.Held: t.Glyphs.Held, checker.Violated: t.Glyphs.Violated, checker.Vacuous: t.Glyphs.Vacuous,
		checker.Undecided: t.Glyphs.Undecided, checker.NotJudged: t.Glyphs.Unjudged, checker.NotSeen: t.Glyphs.Unseen,
	}
	return signs[v]
}
