package svg

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

const axisHeight = 30 * Pixel

var scaleFont = Font{Ink: Quiet, Size: 115}

// scale draws the axis of a panel: ticks, where time is stretched, and where it is cut short.
func (p *panel) scale(i int) {
	y := p.top
	p.Line(Point{plotLeft, y}, Point{plotLeft + plotWidth, y}, Paint{Stroke: Solid})
	for _, s := range p.axis.stretches() {
		if left, right, seen := p.clip(s[0], s[1]); seen {
			p.stretch(plotLeft+left, plotLeft+right, y-3*Pixel)
		}
	}
	var taken []Box
	write := func(at Point, text string, f Font) bool {
		box := f.box(at, text)
		box.X, box.W = box.X-5*Pixel, box.W+10*Pixel
		out := box.X < plotLeft-10*Pixel || box.X+box.W > pageWidth-margin+10*Pixel
		if out || slices.ContainsFunc(taken, box.Overlaps) {
			return false
		}
		taken = append(taken, box)
		p.Text(at, text, f)
		return true
	}
	middle := scaleFont
	middle.Anchor = Middle
	for _, s := range p.axis.strides() {
		if at := (s.from + s.to) / 2; s.cut && p.shows(at) {
			length := when(s.lasts)
			at := Point{plotLeft + at - p.left, y - 10*Pixel}
			_ = write(at, length+" cut short", middle) || write(at, length, middle)
		}
	}
	if i > 0 {
		write(Point{plotLeft, y - 10*Pixel}, when(p.axis.moment(p.left)), scaleFont)
	}
	for _, t := range p.axis.Ticks {
		if !p.shows(p.axis.at(t.At)) {
			continue
		}
		x := p.x(t.At)
		f := middle
		if x-plotLeft < f.Width(t.Text)/2 {
			f.Anchor = Start
		}
		if write(Point{x, y - 10*Pixel}, t.Text, f) {
			p.Line(Point{x, y - 5*Pixel}, Point{x, y}, Paint{Stroke: Solid})
			p.Line(Point{x, y}, Point{x, p.bottom}, Paint{Stroke: Rule})
		}
	}
}

// stretch draws the sign of time that has more room than elsewhere.
func (c *Canvas) stretch(left, right, y Length) {
	c.Line(Point{left, y}, Point{right, y}, Paint{Stroke: Solid, Dash: "1 2", Width: 3 * Pixel})
}

// moment returns a moment that stands at a place.
func (a *axis) moment(at Length) trace.Instant {
	for i := 1; i < len(a.Stops); i++ {
		if from, to := a.place[i-1], a.place[i]; at < to {
			lasts := int64(a.Stops[i].At - a.Stops[i-1].At)
			whole, part := int64(to-from), int64(max(at-from, 0))
			return a.Stops[i-1].At + trace.Instant(lasts/whole*part+lasts%whole*part/whole)
		}
	}
	return a.Stops[len(a.Stops)-1].At
}

// breaks tears the picture where the axis is cut short.
func (p *panel) breaks() {
	for _, s := range p.axis.strides() {
		at := (s.from + s.to) / 2
		if !s.cut || !p.shows(at) {
			continue
		}
		x := plotLeft + at - p.left
		zigzag := func(shift Length) []Point {
			var list []Point
			for i, y := Length(0), p.top-4*Pixel; y <= p.bottom; i, y = i+1, y+5*Pixel {
				list = append(list, Point{x + shift + (i%2*2-1)*2*Pixel, y})
			}
			return list
		}
		p.Polyline(zigzag(0), Paint{Stroke: Paper, Width: 5 * Pixel})
		p.Polyline(zigzag(-25), Paint{Stroke: Solid})
		p.Polyline(zigzag(25), Paint{Stroke: Solid})
	}
}
