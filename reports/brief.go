package reports

import (
	"io"
	"strings"
)

// Brief prints a run for who wants to know what happened, and no more: a headline, the story of its scenario, how it was
// played, a note, and the command that plays it again. The text for who wants to see it, too, is [Text].
func Brief(w io.Writer, r *Run, headline, note string, o TextOptions) error {
	t := newText(o)
	t.item(t.g.violated, headline, strong)
	s := r.Case.Scenario
	if s.Story != "" {
		t.paragraph("    ", s.Story, plain)
	}
	for i := range r.Report.Violations {
		if x := &r.Report.Violations[i]; x.Output != "" {
			t.output("    ", x.Output)
			break
		}
	}
	if s.Finding != "" {
		t.paragraph("    ", "Found here: "+s.Finding, plain)
	}
	t.paragraph("    ", strings.Join(heading(r), " "+t.g.dot+" "), faint)
	t.paragraph("    ", note, faint)
	for _, command := range commands([]Run{*r}) {
		t.line("    " + t.ink(strong, command))
	}
	return t.flush(w)
}
