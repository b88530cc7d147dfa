package svg

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// layer says what is painted over what: a fault over a belief, and amber between them.
func layer(b *timeline.Bar) int {
	switch b.Sign {
	case timeline.SignPaused, timeline.SignDown:
		return 2
	case timeline.SignTint:
		return 1
	default:
		return 0
	}
}

// bars draws what lasts.
func (p *panel) bars(t *track) {
	list := slices.Clone(t.Bars)
	slices.SortStableFunc(list, func(a, b timeline.Bar) int { return cmp.Compare(layer(&a), layer(&b)) })
	for i := range list {
		b := &list[i]
		for _, part := range rest(t.Lane, b) {
			left, right, seen := p.span(part.from, part.to)
			if !seen {
				continue
			}
			box := Box{left, t.body, max(right-left, Pixel), t.h}
			p.bar(b, box)
			if b.Label != "" {
				t.labels = append(t.labels, label{box, b})
			}
		}
	}
	for i := range list {
		if b := &list[i]; b.Ends == timeline.SignDies && p.shows(p.axis.at(b.To)) {
			p.badge(Dies, Point{p.x(b.To), t.body + t.h/2}, 16*Pixel, Words)
		}
	}
	if len(t.Levels) > 0 {
		p.levels(t)
	}
}

// label is a bar, or a part of one, that has a name.
type label struct {
	box Box
	bar *timeline.Bar
}

// labels writes what bars are called, and how large numbers are, over all that crosses them.
func (p *panel) labels(t *track) {
	for _, l := range t.labels {
		p.label(l.bar, l.box)
	}
	if len(t.Levels) > 0 {
		p.levelTexts(t)
	}
}

// stretch is a part of the time that a bar takes.
type stretch struct{ from, to trace.Instant }

// rest is what is to be seen of a bar: of what was not granted the time in which nothing was.
func rest(l *timeline.Lane, b *timeline.Bar) []stretch {
	left := []stretch{{b.From, b.To}}
	if b.Sign != timeline.SignLapsed {
		return left
	}
	for i := range l.Bars {
		if over := &l.Bars[i]; over.Sign == timeline.SignGranted {
			left = without(left, stretch{over.From, over.To})
		}
	}
	return left
}

// without takes a stretch off others.
func without(list []stretch, off stretch) []stretch {
	var left []stretch
	for _, s := range list {
		for _, part := range []stretch{{s.from, min(s.to, off.from)}, {max(s.from, off.to), s.to}} {
			if part.from < part.to {
				left = append(left, part)
			}
		}
	}
	return left
}

// bar draws one bar into a box.
func (p *panel) bar(b *timeline.Bar, box Box) {
	hue := hueOf(b.Tone)
	middle := box.Y + box.H/2
	switch b.Sign {
	case timeline.SignWaits:
		p.Line(Point{box.X, middle}, Point{box.X + box.W, middle}, Paint{Stroke: Solid, Width: 20, Dash: "2 4"})
	case timeline.SignBelieves:
		p.Rect(box, Paint{Fill: hue.Wash, Stroke: hue.Line, Width: 15, Round: 3 * Pixel})
	case timeline.SignTint:
		p.Rect(Box{box.X, box.Y + 25, box.W, box.H - 50}, Paint{Fill: amberTint})
	case timeline.SignPaused:
		p.hatch(box, 6*Pixel, false, Paint{Stroke: hue.Line, Faint: 55})
		p.Rect(box, Paint{Stroke: hue.Line, Width: 15})
	case timeline.SignDown:
		p.Rect(box, Paint{Fill: Paper})
		p.hatch(box, 9*Pixel, true, Paint{Stroke: Solid})
		p.Rect(box, Paint{Stroke: Solid})
	case timeline.SignGranted:
		p.Rect(box, Paint{Fill: hue.Fill, Round: 2 * Pixel})
	case timeline.SignLapsed:
		p.Rect(box, Paint{Stroke: Quiet, Dash: "4 3", Round: 2 * Pixel})
	case timeline.SignLife:
		p.wedge(b, box)
	case timeline.SignOverlap:
		p.Rect(box, Paint{Fill: amberWash, Stroke: amberFill, Width: 15, Round: 2 * Pixel})
	case timeline.SignFated:
		p.Rect(box, Paint{Fill: Shade, Stroke: Words})
		p.Line(Point{box.X, box.Y}, Point{box.X, box.Y + box.H}, Paint{Stroke: Words, Width: 30})
	case timeline.SignTravels:
		p.Line(Point{box.X, middle}, Point{box.X + box.W, middle}, Paint{Stroke: Quiet, Width: 15, Dash: "6 3"})
	case timeline.SignCut:
		p.Rect(box, Paint{Fill: Paper})
		p.hatch(box, 8*Pixel, false, Paint{Stroke: Solid})
		p.hatch(box, 8*Pixel, true, Paint{Stroke: Solid})
		p.Rect(box, Paint{Stroke: Solid})
	default:
		p.Rect(box, Paint{Fill: hue.Wash, Stroke: hue.Line})
	}
}

// hatch draws slanted lines into a box.
func (c *Canvas) hatch(b Box, gap Length, falls bool, pen Paint) {
	var o Outline
	for d := gap / 2; d < b.W+b.H; d += gap {
		// From (d, 0) on the upper edge down to (d-H, H) on the lower one, as far as that is in the box.
		x1, y1 := d, Length(0)
		if x1 > b.W {
			x1, y1 = b.W, d-b.W
		}
		x2, y2 := d-b.H, b.H
		if x2 < 0 {
			x2, y2 = 0, d
		}
		if falls {
			y1, y2 = b.H-y1, b.H-y2
		}
		o.Move(Point{b.X + x1, b.Y + y1}).Line(Point{b.X + x2, b.Y + y2})
	}
	c.Path(&o, pen)
}

// wedge draws what is left of the life of what a server keeps: from all of it down to nothing, and up again with
// every renewal.
func (p *panel) wedge(b *timeline.Bar, box Box) {
	hue := hueOf(b.Tone)
	floor := box.Y + box.H
	if b.Life == 0 || len(b.Lives) == 0 {
		p.Rect(box, Paint{Fill: hue.Wash, Stroke: hue.Line})
		return
	}
	points := []Point{{box.X, floor}}
	height := func(began, t trace.Instant) Length {
		return share(box.H, min(max(int64(began+b.Life-t), 0), int64(b.Life)), int64(b.Life))
	}
	for i, began := range b.Lives {
		until := b.To
		if i+1 < len(b.Lives) {
			until = min(b.Lives[i+1], b.To)
		}
		for _, t := range p.axis.bends(began, until) {
			if x := p.x(t); x >= box.X && x <= box.X+box.W {
				points = append(points, Point{x, floor - height(began, t)})
			} else if left := plotLeft; x < left { // the panel begins within this life
				points = append(points[:1], Point{left, floor - height(began, p.axis.moment(p.left))})
			} else {
				points = append(points, Point{box.X + box.W, floor - height(began, p.axis.moment(p.right))})
				break
			}
		}
	}
	points = append(points, Point{box.X + box.W, floor})
	p.Polygon(points, Paint{Fill: hue.Wash, Stroke: hue.Line})
}

var labelFont = Font{Size: 11 * Pixel, Ink: Quiet, Anchor: Middle}

// label writes into a bar what it means, if it has room for that.
func (p *panel) label(b *timeline.Bar, box Box) {
	f := labelFont
	switch b.Sign {
	case timeline.SignOverlap:
		f.Ink = Amber
	case timeline.SignPaused, timeline.SignDown, timeline.SignCut:
		f.Ink = Words
	default:
	}
	text := wording.Visible(b.Label)
	w := f.Width(text)
	if w+12*Pixel > box.W {
		return
	}
	at := Point{box.X + box.W/2, box.Y + box.H/2 + 4*Pixel}
	room := f.box(at, text)
	if !p.clear(room) {
		return
	}
	if b.Sign != timeline.SignOverlap && b.Sign != timeline.SignLapsed && b.Sign != timeline.SignFated {
		p.Rect(Box{room.X - 5*Pixel, box.Y + 15, room.W + 10*Pixel, box.H - 30}, Paint{Fill: Paper})
	}
	p.Text(at, text, f)
}

// clear reports whether nothing has been written in a box.
func (c *Canvas) clear(b Box) bool {
	return !slices.ContainsFunc(c.texts, func(t Written) bool { return t.Box.Overlaps(b) })
}
