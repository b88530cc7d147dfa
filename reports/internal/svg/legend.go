package svg

import (
	"slices"

	"github.com/locksim/locksim/reports/internal/timeline"
)

// legend explains the signs of the pictures.
func (g *page) legend() {
	p := &panel{page: g}
	type entry struct {
		used  bool
		words string
		draw  func(b Box)
	}
	bar := func(s timeline.Sign) func(Box) {
		return func(b Box) { p.bar(&timeline.Bar{Sign: s, Tone: timeline.ToneClient1}, b) }
	}
	icon := func(i Icon, k Ink) func(Box) {
		return func(b Box) { g.Icon(i, Point{b.X + b.W/2, b.Y + b.H/2}, 13*Pixel, k) }
	}
	wedge := func(b Box) {
		hue, floor := hueOf(timeline.ToneClient1), b.Y+b.H
		g.Polygon([]Point{{b.X, b.Y}, {b.X + b.W, floor}, {b.X, floor}}, Paint{Fill: hue.Wash, Stroke: hue.Line})
	}
	entries := []entry{
		{g.has(timeline.SignWaits), "waits", bar(timeline.SignWaits)},
		{g.has(timeline.SignBelieves), "believes it holds", bar(timeline.SignBelieves)},
		{g.has(timeline.SignPaused), "paused", bar(timeline.SignPaused)},
		{g.has(timeline.SignDown), "down", bar(timeline.SignDown)},
		{g.has(timeline.SignDies), "dies", icon(Dies, Words)},
		{g.has(timeline.SignGranted), "granted by the service", bar(timeline.SignGranted)},
		{g.has(timeline.SignLapsed), "believed, not granted", bar(timeline.SignLapsed)},
		{g.has(timeline.SignOverlap), "more than one believes", bar(timeline.SignOverlap)},
		{g.has(timeline.SignCut), "fault in the network", bar(timeline.SignCut)},
		{g.keeps(false), "time to live", wedge},
		{g.keeps(true), "kept by the servers", func(b Box) { p.wedge(&timeline.Bar{Tone: timeline.ToneClient1}, b) }},
		{g.has(timeline.SignExpired), "expired", icon(Clock, Quiet)},
		{g.has(timeline.SignTravels), "on its way", bar(timeline.SignTravels)},
		{g.has(timeline.SignFated), "violated in all futures played", bar(timeline.SignFated)},
		{g.has(timeline.SignRead), "read", func(b Box) {
			g.Circle(Point{b.X + b.W/2, b.Y + b.H/2}, 4*Pixel, Paint{Fill: Paper, Stroke: Words, Width: 15})
		}},
		{g.has(timeline.SignAccepted), "accepted", icon(Check, Words)},
		{g.has(timeline.SignRefused), "refused", icon(Shield, Green)},
		{g.has(timeline.SignHarmful), "does damage", icon(Cross, Red)},
		{g.has(timeline.SignUnknown), "nobody knows", icon(Question, Words)},
		{g.asked, "message", func(b Box) { p.drawArrow(across(b, false)) }},
		{g.answered, "reply", func(b Box) { p.drawArrow(across(b, true)) }},
		{len(newAxis(g.schedule.Axis, plotWidth).stretches()) > 0, "time is stretched", func(b Box) {
			g.stretch(b.X, b.X+b.W, b.Y+b.H/2)
		}},
	}
	f := Font{Ink: Quiet, Size: 115}
	x, wide, high := margin, 22*Pixel, 10*Pixel
	for _, e := range entries {
		if !e.used {
			continue
		}
		w := wide + 6*Pixel + f.Width(e.words)
		if x > margin && x+w > pageWidth-margin {
			x, g.y = margin, g.y+20*Pixel
		}
		e.draw(Box{x, g.y + 5*Pixel, wide, high})
		g.Text(Point{x + wide + 6*Pixel, g.y + 14*Pixel}, e.words, f)
		x += w + 20*Pixel
	}
	g.y += 22 * Pixel
}

// has reports whether a sign is to be seen in one of the pictures.
func (g *page) has(s timeline.Sign) bool {
	mark := func(m timeline.Mark) bool { return m.Sign == s }
	lane := func(l timeline.Lane) bool {
		bar := func(b timeline.Bar) bool { return b.Sign == s && len(rest(&l, &b)) > 0 || b.Ends == s }
		return slices.ContainsFunc(l.Bars, bar) || slices.ContainsFunc(l.Marks, mark)
	}
	return g.any(lane)
}

// across is a message that runs across a box.
func across(b Box, reply bool) arrow {
	a := arrow{Message: &timeline.Message{Reply: reply}, arrives: true}
	a.from, a.to = Point{b.X, b.Y}, Point{b.X + b.W, b.Y + b.H}
	if reply {
		a.from.Y, a.to.Y = a.to.Y, a.from.Y
	}
	return a
}

// keeps reports whether something is to be seen that a server keeps, forever or for a time.
func (g *page) keeps(forever bool) bool {
	life := func(b timeline.Bar) bool { return b.Sign == timeline.SignLife && (b.Life == 0) == forever }
	lane := func(l timeline.Lane) bool { return slices.ContainsFunc(l.Bars, life) }
	return g.any(lane)
}

// any reports whether one of the runs has such a lane.
func (g *page) any(such func(timeline.Lane) bool) bool {
	run := func(r timeline.Timeline) bool { return slices.ContainsFunc(r.Lanes, such) }
	return slices.ContainsFunc(g.schedule.Runs, run)
}
