package text

import (
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/wording"
)

// why explains what a run violates, and lists the violations. After another run of the same schedule it keeps to what
// became of the resource, and to what happened in this run alone.
func (t *Printer) why(told *tell.Narrative, like *model.Run, said map[string]bool) {
	r := told.View.Run
	list := told.Reasons(like, said)
	if len(list) > 0 {
		t.Line("")
	}
	if explained := told.Explain(nil); explained != "" && like == nil {
		t.paragraph("  ", explained, paint.Plain)
		t.Line("")
	}
	for _, x := range list {
		switch {
		case x.More:
			t.Item(" ", x.Claim, paint.Faint)
			continue
		case x.Property == checker.Resource:
			t.Item(t.Glyphs.Bullet, x.Claim, paint.Red)
		default:
			t.Item(t.Glyphs.Bullet, x.Claim, paint.Amber)
		}
		t.output("    ", x.Output)
	}
	if kept := told.Kept(); kept != "" && like == nil {
		t.Item(t.Glyphs.Bullet, kept, paint.Plain)
	}
	if fate := told.Fate(); fate != "" {
		t.Item(t.Glyphs.Bullet, fate, paint.Plain)
	}
	status, reasons := r.Status()
	if status == model.AsExpected {
		return
	}
	t.Line("")
	for _, reason := range reasons {
		t.Item(t.Glyphs.Mismatch, wording.Shortened(reason)+".", paint.Differs)
	}
}

// output prints what a program wrote, line by line.
func (t *Printer) output(indent, written string) {
	if written == "" {
		return
	}
	t.Line(indent + t.Ink(paint.Faint, "its output:"))
	for line := range strings.SplitSeq(written, "\n") {
		t.Line(indent + "  " + t.Ink(paint.Faint, wording.Visible(strings.ReplaceAll(line, "\t", "    "))))
	}
}
