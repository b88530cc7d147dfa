package svg

import (
	"github.com/locksim/locksim/reports/internal/wording"
)

// levels draws a number that changes as a line of steps, and the level that matters as a dashed one.
func (p *panel) levels(t *track) {
	hue := hueOf(t.Tone)
	var line []Point
	for i := range t.Levels {
		v := &t.Levels[i]
		until := p.axis.To
		if i+1 < len(t.Levels) {
			until = t.Levels[i+1].At
		}
		if left, right, seen := p.span(v.At, until); seen {
			line = append(line, Point{left, t.level(v.Value)}, Point{right, t.level(v.Value)})
		}
	}
	if t.Threshold != nil {
		at := t.level(t.Threshold.Value)
		p.Line(Point{plotLeft, at}, Point{plotLeft + plotWidth, at}, Paint{Stroke: Quiet, Dash: "5 4"})
	}
	if len(line) > 0 {
		p.Polyline(line, Paint{Stroke: hue.Line, Width: 20})
	}
}

// level is how high a number stands.
func (t *track) level(v int64) Length {
	const inset = 4 * Pixel
	low, high := t.bounds()
	return t.body + t.h - inset - share(t.h-2*inset, v-low, high-low)
}

// bounds are the levels at the lower and at the upper edge of a lane: from 0 on if that shows the steps.
func (t *track) bounds() (low, high int64) {
	low, high = t.Levels[0].Value, t.Levels[0].Value
	for i := range t.Levels {
		low, high = min(low, t.Levels[i].Value), max(high, t.Levels[i].Value)
	}
	if t.Threshold != nil {
		low, high = min(low, t.Threshold.Value), max(high, t.Threshold.Value)
	}
	if low > 0 && low <= high/2 || low == high {
		low = min(low, 0)
	}
	return low, max(high, low+1)
}

// levelTexts writes the numbers next to their steps.
func (p *panel) levelTexts(t *track) {
	threshold := t.body - t.h
	if t.Threshold != nil {
		threshold = t.level(t.Threshold.Value)
	}
	f := Font{Size: 11 * Pixel, Ink: Words}
	write := func(at Point, text string, until Length) {
		text = wording.Visible(text)
		below := Point{at.X, at.Y + f.size() + 6*Pixel}
		for _, at := range []Point{at, below} {
			box := f.box(at, text)
			crossed := box.Y < threshold && threshold < box.Y+box.H
			wide := box.X >= plotLeft && box.X+box.W <= until
			high := box.Y > t.body-4*Pixel && box.Y+box.H < t.body+t.h+4*Pixel
			if wide && high && !crossed && p.clear(box) {
				p.Rect(Box{box.X - 15, box.Y, box.W + 30, box.H}, Paint{Fill: Paper}) // arrows may cross it
				p.Text(at, text, f)
				return
			}
		}
	}
	for i := range t.Levels {
		v := &t.Levels[i]
		until := p.axis.To
		if i+1 < len(t.Levels) {
			until = t.Levels[i+1].At
		}
		if left, right, seen := p.span(v.At, until); seen && v.Text != "" {
			write(Point{left + 4*Pixel, t.level(v.Value) - 4*Pixel}, v.Text, right)
		}
	}
}
