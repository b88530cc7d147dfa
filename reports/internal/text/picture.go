package text

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/layout"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
)

// picture prints the picture of one run; like is the run whose rows need not be shown again, or -1.
func (t *Printer) picture(p *layout.Picture, run, like int) {
	type line struct {
		name string
		ink  paint.Ink
		row  paint.Row
	}
	lines := []line{{"", paint.Faint, axis(p)}}
	for i := range p.Rows[run] {
		l := &p.Rows[run][i]
		if l.Blank() {
			continue
		}
		r := draw(p, l)
		if like >= 0 && drawnIn(p, like, l.Name, r) {
			continue
		}
		lines = append(lines, line{nameOf(p, l), l.Ink, r})
	}
	for from := 0; from < p.Scale.Width; from += p.Scale.Panel {
		if from > 0 {
			t.out.WriteString("\n")
		}
		for i, l := range lines {
			part := l.row[from:min(from+p.Scale.Panel, len(l.row))]
			if part.Blank() && i > 0 && p.Scale.Width > p.Scale.Panel {
				continue
			}
			t.out.WriteString(paint.Inked(t.Options.Color, l.ink, wording.Pad(l.name, p.Label)))
			t.out.WriteString(" " + string(p.Glyphs.Bar))
			t.out.WriteString(part.Text(t.Options.Color))
			t.out.WriteString("\n")
		}
	}
}

// drawnIn reports whether the lane of that name looks the same in the picture of a run.
func drawnIn(p *layout.Picture, run int, name string, r paint.Row) bool {
	i := slices.IndexFunc(p.Rows[run], func(l layout.Lane) bool { return l.Name == name })
	return i >= 0 && slices.Equal(draw(p, &p.Rows[run][i]), r)
}

// nameOf is what stands before a lane. Of a long one the name of the node is cut in its middle, never what the lane is about.
func nameOf(p *layout.Picture, l *layout.Lane) string {
	name := l.Heading()
	about, of := strings.CutPrefix(name, l.Node)
	if wording.Columns(name) <= p.Label || !of || l.Node == "" || wording.Columns(about)+wording.Columns(p.Glyphs.Ellipsis) >= p.Label {
		return wording.CutTo(name, p.Label)
	}
	return wording.CutMiddle(l.Node, p.Label-wording.Columns(about), p.Glyphs.Ellipsis) + about
}

// axis paints the ticks, and where the scale is cut short.
func axis(p *layout.Picture) paint.Row {
	r := paint.NewRow(p.Scale.Width)
	a := p.Axis()
	for i, stop := range a.Stops {
		if !stop.Cut {
			continue
		}
		next := a.Stops[i+1]
		text := string(p.Glyphs.Gap) + " " + wording.Precise(next.At.Sub(stop.At)) + " " + string(p.Glyphs.Gap)
		if n := len([]rune(text)); next.Column-stop.Column < n+2 {
			text = string(p.Glyphs.Gap)
		}
		n := len([]rune(text))
		col := (stop.Column + next.Column - n) / 2
		if r.Fits(col, n) {
			r.Put(col, text, paint.Faint)
		}
	}
	for col := p.Scale.Panel; col < p.Scale.Width; col += p.Scale.Panel { // every panel says where it begins
		r.Put(col, string(p.Glyphs.Tick)+p.Words(wording.Precise(p.Scale.Moment(col).Sub(0))), paint.Faint)
	}
	for _, t := range a.Ticks {
		text := string(p.Glyphs.Tick) + p.Words(t.Text)
		if col := p.Scale.Column(t.At); r.Fits(col, len([]rune(text))) {
			r.Put(col, text, paint.Faint)
		}
	}
	return r
}

// draw paints one lane.
func draw(p *layout.Picture, l *layout.Lane) paint.Row {
	r := paint.NewRow(p.Scale.Width)
	for i := range l.Bars {
		b := &l.Bars[i]
		from, to := p.Span(b)
		for col := from; col < to && col < len(r); col++ {
			switch b.Sign {
			case timeline.SignTint:
				if r[col].Rune != ' ' && r[col].Ink != paint.Faint {
					r[col].Ink = b.Ink
				}
			case timeline.SignLife:
				left, whole := b.Left(max(p.Scale.Moment(col), b.From))
				r[col] = paint.Cell{Rune: p.Glyphs.Level(left, whole), Ink: b.Ink}
			default:
				r[col] = paint.Cell{Rune: p.Glyphs.Of(b.Sign), Ink: b.Ink}
			}
		}
		if b.Last != timeline.SignNone && to < len(r) {
			r[to] = paint.Cell{Rune: p.Glyphs.Of(b.Last), Ink: b.Ink}
		}
	}
	drawLevels(p, r, l)
	for i, col := range p.Columns(l) {
		r.Put(col, l.Marks[i].Text, l.Marks[i].Ink)
	}
	for i := range l.Bars {
		drawLabel(p, r, &l.Bars[i])
	}
	return r
}

// drawLevels writes what a number is where it changes, and goes on with a line: a broken one where the number is too small.
func drawLevels(p *layout.Picture, r paint.Row, l *layout.Lane) {
	said := p.Said(l)
	for i, level := range l.Levels {
		if level.Text == "" {
			continue
		}
		from, to := p.Scale.Column(level.At), p.Scale.Column(p.Scale.To())+1
		if i+1 < len(l.Levels) {
			to = p.Scale.Column(l.Levels[i+1].At)
		}
		line := p.Glyphs.Enough
		if l.Threshold != nil && level.Value < l.Threshold.Value {
			line = p.Glyphs.TooFew
		}
		for col := from; col < to; col++ {
			r[col] = paint.Cell{Rune: line, Ink: l.Ink}
		}
		text := said[i]
		if text == layout.Changes {
			text = string(p.Glyphs.Changes)
		}
		r.Put(from, text, l.Ink)
	}
}

// drawLabel writes into a bar what it means, if the bar shows nothing but itself where the words would stand.
func drawLabel(p *layout.Picture, r paint.Row, b *layout.Bar) {
	if b.Label == "" {
		return
	}
	text := " " + b.Label + " "
	n := len([]rune(text))
	from, to := p.Scale.Column(b.From), min(p.Scale.Column(b.To), len(r))
	run := 0
	for col := from; col < to; col++ {
		run++
		if r[col].Rune != p.Glyphs.Of(b.Sign) || col%p.Scale.Panel == 0 {
			run = 0
		}
		if run == n+2 {
			r.Put(col-n, text, b.Ink)
			return
		}
	}
}
