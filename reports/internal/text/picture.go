package text

import (
	"strings"

	"github.com/locksim/locksim/reports/internal/layout"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/wording"
)

// write prints the picture of one run; like is the run whose rows need not be shown again, or -1.
func write(p *layout.Picture, out *strings.Builder, run, like int) {
	type line struct {
		name string
		ink  paint.Ink
		row  paint.Row
	}
	lines := []line{{"", paint.Faint, p.Axis()}}
	for i := range p.Rows[run] {
		l := &p.Rows[run][i]
		r := p.Drawn[run][i]
		if r.Blank() {
			continue
		}
		if like >= 0 && p.DrawnAlike(l.Name, like, r) {
			continue
		}
		lines = append(lines, line{nameOf(p, l), l.Ink, r})
	}
	for from := 0; from < p.Scale.Width; from += p.Scale.Panel {
		if from > 0 {
			out.WriteString("\n")
		}
		for i, l := range lines {
			part := l.row[from:min(from+p.Scale.Panel, len(l.row))]
			if part.Blank() && i > 0 && p.Scale.Width > p.Scale.Panel {
				continue
			}
			out.WriteString(paint.Inked(p.Color, l.ink, wording.Pad(l.name, p.Label)))
			out.WriteString(" " + string(p.Glyphs.Bar))
			out.WriteString(part.Text(p.Color))
			out.WriteString("\n")
		}
	}
}

// nameOf is what stands before a lane. Of a long one the name of the node is cut, never what the lane is about.
func nameOf(p *layout.Picture, l *layout.Lane) string {
	name := l.Heading()
	about, of := strings.CutPrefix(name, l.Node)
	if wording.Columns(name) <= p.Label || !of || l.Node == "" || wording.Columns(about)+wording.Columns(p.Glyphs.Ellipsis) >= p.Label {
		return wording.CutTo(name, p.Label)
	}
	return wording.CutTo(l.Node, p.Label-wording.Columns(about)-wording.Columns(p.Glyphs.Ellipsis)) + p.Glyphs.Ellipsis + about
}
