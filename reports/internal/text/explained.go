package text

import (
	"io"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/layout"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
)

// Explained prints how a run came to violate one property, and the timeline with the moments that the explanation names. It
// says nothing of other properties, nor how the run is played again.
func Explained(w io.Writer, r *model.Run, p checker.Property, o Options) error {
	t := New(o)
	runs := []model.Run{r.About(p)}
	drawn := layout.New(runs, t.Options.Width, t.Glyphs)
	t.paragraph("", drawn.Runs[0].Explain(nil), paint.Plain)
	for i := range runs[0].Report.Violations {
		t.output("    ", runs[0].Report.Violations[i].Output)
	}
	for _, needed := range r.Needs {
		t.paragraph("", needed, paint.Plain)
	}
	t.Line("")
	t.Items(tell.Heading(r), " "+t.Glyphs.Dot+" ", paint.Strong)
	t.timeline(drawn)
	t.events(drawn, 0)
	return t.Flush(w)
}
