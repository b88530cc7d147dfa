package reports

import (
	"io"

	"github.com/locksim/locksim/checker"
)

// Explained prints how a run came to violate one property, and the timeline with the moments that the explanation names. It
// says nothing of other properties, nor how the run is played again.
func Explained(w io.Writer, r *Run, p checker.Property, o TextOptions) error {
	t := newText(o)
	runs := []Run{r.About(p)}
	drawn := newPicture(runs, t.o.Width, t.o.Color, t.g)
	t.paragraph("", drawn.runs[0].explain(nil), plain)
	for i := range runs[0].Report.Violations {
		t.output("    ", runs[0].Report.Violations[i].Output)
	}
	for _, needed := range r.Needs {
		t.paragraph("", needed, plain)
	}
	t.line("")
	t.items(heading(r), " "+t.g.dot+" ", strong)
	t.timeline(drawn)
	t.events(drawn, 0)
	return t.flush(w)
}

// About is the run as one that violates no other property than one of its properties, and that once.
func (r *Run) About(p checker.Property) Run {
	about := *r
	about.Report.Violations = nil
	for _, x := range r.Report.Violations {
		if x.Property == p {
			about.Report.Violations = []checker.Violation{x}
			break
		}
	}
	return about
}
