package svg

import (
	"strings"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
)

// header says what the picture is of, and what came of it.
func (g *page) header(run *timeline.Timeline) {
	s := g.schedule
	g.paragraph(margin, textWidth, s.Scenario, Font{Ink: Quiet, Size: 13 * Pixel, Bold: true})
	if s.Title != "" {
		g.y += 2 * Pixel
		g.paragraph(margin, textWidth, s.Title, Font{Ink: Words, Size: 20 * Pixel, Bold: true, Prose: true})
	}
	if s.Story != "" {
		g.y += 2 * Pixel
		g.paragraphs(margin, textWidth, s.Story, Font{Ink: Quiet, Size: 13 * Pixel, Prose: true})
	}
	g.y += 10 * Pixel
	g.paragraph(margin, textWidth, strings.Join(s.Heading, " · "), Font{Ink: Words})
	for _, command := range s.Commands {
		g.y += 2 * Pixel
		g.paragraph(margin, textWidth, "$ "+command, Font{Ink: Quiet})
	}
	g.y += 10 * Pixel
	g.verdict(run.Headline, run.Tone, run.Verdicts)
	g.y += 14 * Pixel
}

// verdict draws what came of a run on a ground of its colour: the headline, and what was found of each property.
func (g *page) verdict(headline string, tone timeline.Tone, verdicts []timeline.Verdict) {
	inset := 14 * Pixel
	look := lookOf(tone)
	f := Font{Ink: look.words, Size: 15 * Pixel, Bold: true, Prose: true}
	lines := f.Wrap(wording.Visible(headline), textWidth-3*inset-16*Pixel)
	cells, rows := g.cells(verdicts, textWidth-3*inset-16*Pixel)
	height := 2*10*Pixel + Length(len(lines))*21*Pixel
	if rows > 0 {
		height += Length(rows)*19*Pixel + 4*Pixel
	}
	g.Rect(Box{margin, g.y, textWidth, height}, Paint{Fill: look.wash, Round: 6 * Pixel})
	g.Rect(Box{margin, g.y, 4 * Pixel, height}, Paint{Fill: look.words, Round: 2 * Pixel})
	x := margin + 2*inset + 16*Pixel
	g.Icon(look.icon, Point{margin + inset + 8*Pixel, g.y + 10*Pixel + 10*Pixel}, 17*Pixel, look.words)
	y := g.y + 10*Pixel
	for _, line := range lines {
		g.Text(Point{x, y + 15*Pixel}, line, f)
		y += 21 * Pixel
	}
	y += 4 * Pixel
	for _, c := range cells {
		at := Point{x + c.at.X, y + c.at.Y}
		g.Icon(c.icon, Point{at.X + 5*Pixel, at.Y + 9*Pixel}, 11*Pixel, c.ink)
		for _, part := range c.parts {
			g.Text(Point{at.X + part.x, at.Y + 13*Pixel}, part.text, part.font)
		}
	}
	g.y += height
}

// cell is what was found of one property.
type cell struct {
	at    Point // from the first one
	icon  Icon
	ink   Ink
	parts []cellPart
}

type cellPart struct {
	x    Length
	text string
	font Font
}

// cells places verdicts beside one another.
func (g *page) cells(verdicts []timeline.Verdict, width Length) (list []cell, rows int) {
	var at Point
	for i := range verdicts {
		v := &verdicts[i]
		c := cell{icon: foundIcon(v), ink: inkOf(v.Tone)}
		x := 14 * Pixel
		add := func(text string, f Font) {
			c.parts = append(c.parts, cellPart{x, text, f})
			x += f.Width(text + " ")
		}
		add(v.Property, Font{Ink: Words, Bold: true})
		add(v.Found, Font{Ink: c.ink})
		note := v.Note
		if v.Expected != "" && v.Expected != v.Found {
			note = strings.TrimSuffix("expected "+v.Expected+", "+note, ", ")
		}
		if note != "" {
			quiet := Font{Ink: Quiet}
			add(quiet.Cut(wording.Visible(note), width-x, "…"), quiet)
		}
		if at.X > 0 && at.X+x > width {
			at = Point{0, at.Y + 19*Pixel}
		}
		c.at = at
		at.X += x + 22*Pixel
		list = append(list, c)
	}
	if len(list) > 0 {
		rows = int(at.Y/(19*Pixel)) + 1
	}
	return list, rows
}

func foundIcon(v *timeline.Verdict) Icon {
	switch {
	case v.Tone == timeline.ToneNear:
		return Near
	case v.Found == "held":
		return Check
	case v.Found == "violated":
		return Cross
	case v.Found == "unknown":
		return Question
	default:
		return Circle
	}
}
