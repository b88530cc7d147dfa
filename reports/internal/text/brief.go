package text

import (
	"io"
	"strings"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
)

// Brief prints a run for readers who want to know what happened, and no more: a headline, the story of its scenario, how it
// was played, a note, and the command that plays it again. [Write] draws the run as well.
func Brief(w io.Writer, r *model.Run, headline, note string, o Options) error {
	t := New(o)
	t.Item(t.Glyphs.Violated, headline, paint.Strong)
	s := r.Case.Scenario
	if s.Story != "" {
		t.paragraph("    ", s.Story, paint.Plain)
	}
	for i := range r.Report.Violations {
		if x := &r.Report.Violations[i]; x.Output != "" {
			t.output("    ", x.Output)
			break
		}
	}
	if s.Finding != "" {
		t.paragraph("    ", "Found here: "+s.Finding, paint.Plain)
	}
	t.paragraph("    ", strings.Join(tell.Heading(r), " "+t.Glyphs.Dot+" "), paint.Faint)
	t.paragraph("    ", note, paint.Faint)
	for _, command := range tell.Commands([]model.Run{*r}) {
		t.Line("    " + t.Ink(paint.Strong, command))
	}
	return t.Flush(w)
}
