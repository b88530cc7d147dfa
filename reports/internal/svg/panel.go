package svg

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Where things stand on a page.
const (
	pageWidth = 1160 * Pixel
	margin    = 28 * Pixel
	names     = 132 * Pixel // of lanes
	plotLeft  = margin + names
	plotWidth = pageWidth - margin - plotLeft
	textWidth = pageWidth - 2*margin
)

// panel is a part of the time of a run, with the lanes that have something to show then.
type panel struct {
	*page
	window
	axis        *axis
	run         *timeline.Timeline
	messages    []*timeline.Message
	keeper      string // the node of a lane that stands for several servers
	tracks      []track
	top, bottom Length // of the lanes
}

// track is a lane on a panel.
type track struct {
	*timeline.Lane
	tags    []tag
	labels  []label
	body, h Length // where the bars stand, and how high they are
	bottom  Length
	near    bool // it goes on with the lane above it
}

// heights are those of the bars.
var heights = map[timeline.LaneKind]Length{
	timeline.LaneBelief: 16 * Pixel, timeline.LaneTruth: 12 * Pixel, timeline.LaneOverlap: 15 * Pixel,
	timeline.LaneNetwork: 15 * Pixel, timeline.LaneNode: 26 * Pixel, timeline.LaneLevel: 34 * Pixel,
	timeline.LaneStorage: 18 * Pixel, timeline.LaneFate: 15 * Pixel, timeline.LaneDamage: 0,
}

// Gaps above a lane: of one that goes on with the lane above it, and of others.
const (
	nearGap = 3 * Pixel
	laneGap = 11 * Pixel
)

// timeline draws lanes of a run, panel by panel.
func (g *page) timeline(run *timeline.Timeline, lanes []timeline.Lane) {
	a := newAxis(g.schedule.Axis, plotWidth)
	messages, all := drawn(run)
	for i := range a.count {
		p := &panel{page: g, window: a.window(i), axis: a, run: run, messages: messages, keeper: keeperOf(run)}
		p.place(lanes)
		if len(p.tracks) == 0 {
			continue
		}
		p.background()
		p.scale(i)
		p.damage()
		for k := range p.tracks {
			p.name(&p.tracks[k])
			p.bars(&p.tracks[k])
		}
		p.breaks()
		p.arrows()
		for k := range p.tracks {
			p.labels(&p.tracks[k])
			p.marks(&p.tracks[k])
			p.drawTags(&p.tracks[k])
		}
		p.delays()
		g.y = p.bottom + 14*Pixel
	}
	if !all && g.asked {
		const some = "Of many messages those are drawn with which a numbered moment begins or ends."
		g.paragraph(margin, textWidth, some, prose)
	}
}

// place finds rows for the lanes, from top to bottom.
func (p *panel) place(lanes []timeline.Lane) {
	p.top = p.y + axisHeight
	y := p.top
	for i := range lanes {
		l := &lanes[i]
		if !p.busy(l) {
			continue
		}
		t := track{Lane: l, h: heights[l.Kind]}
		y += laneGap
		if t.near = p.goesOn(l); t.near {
			y += nearGap - laneGap
		}
		var rows int
		t.tags, rows = arrange(p.tagsOf(l), plotLeft, plotLeft+plotWidth)
		t.body = y + Length(rows)*tagHeight
		y = t.body + t.h
		t.bottom = y
		p.tracks = append(p.tracks, t)
	}
	p.bottom = y + laneGap
}

// goesOn reports whether a lane is of the same client as the one above it: what was granted, below what it believes.
func (p *panel) goesOn(l *timeline.Lane) bool {
	if len(p.tracks) == 0 {
		return false
	}
	above := p.tracks[len(p.tracks)-1]
	return l.Kind == timeline.LaneTruth && above.Kind == timeline.LaneBelief && above.Node == l.Node
}

// busy reports whether a lane has something to show in this panel.
func (p *panel) busy(l *timeline.Lane) bool {
	bar := func(b timeline.Bar) bool {
		_, _, seen := p.clip(p.axis.at(b.From), p.axis.at(b.To))
		return seen && b.Sign != timeline.SignTint
	}
	mark := func(m timeline.Mark) bool { return p.shows(p.axis.at(m.At)) }
	level := func(v timeline.Level) bool { return p.shows(p.axis.at(v.At)) }
	return p.axis.count == 1 ||
		slices.ContainsFunc(l.Bars, bar) || slices.ContainsFunc(l.Marks, mark) || slices.ContainsFunc(l.Levels, level)
}

// x is where a moment stands on the page.
func (p *panel) x(t trace.Instant) Length { return plotLeft + p.axis.at(t) - p.left }

// span is where a stretch of time stands on the page, as far as the panel shows it.
func (p *panel) span(from, to trace.Instant) (left, right Length, seen bool) {
	left, right, seen = p.clip(p.axis.at(from), p.axis.at(to))
	return plotLeft + left, plotLeft + right, seen
}

// background shades the times of faults in the network and those of overlapping beliefs, and parts the lanes.
func (p *panel) background() {
	p.shade(timeline.SignCut, Shade, func(*track) Length { return p.bottom })
	p.shade(timeline.SignOverlap, amberWash, func(t *track) Length { return t.bottom })
	for i := range p.tracks {
		if i > 0 && !p.tracks[i].near {
			y := p.tracks[i-1].bottom + laneGap/2
			p.Line(Point{margin, y}, Point{pageWidth - margin, y}, Paint{Stroke: Rule})
		}
	}
}

// shade fills all lanes down to a place for as long as bars of a sign last.
func (p *panel) shade(s timeline.Sign, k Ink, down func(*track) Length) {
	for i := range p.tracks {
		t := &p.tracks[i]
		for _, b := range t.Bars {
			if left, right, seen := p.span(b.From, b.To); seen && b.Sign == s {
				p.Rect(Box{left, p.top, max(right-left, 2*Pixel), down(t) - p.top}, Paint{Fill: k})
			}
		}
	}
}

// damage draws a line through all lanes where the resource was damaged.
func (p *panel) damage() {
	for i := range p.tracks {
		t := &p.tracks[i]
		for _, m := range t.Marks {
			if p.shows(p.axis.at(m.At)) && (m.Sign == timeline.SignHarmful || m.Sign == timeline.SignDamage) {
				x := p.x(m.At)
				p.Line(Point{x, p.top}, Point{x, t.bottom}, Paint{Stroke: Red, Width: 20})
			}
		}
	}
}

// name writes the title of a lane, and what its dashed line means.
func (p *panel) name(t *track) {
	middle := t.body + t.h/2
	switch {
	case t.Kind == timeline.LaneDamage:
		p.nameAt(t, t.bottom-6*Pixel)
	case t.Threshold != nil && t.Threshold.Text != "":
		p.nameAt(t, middle-4*Pixel)
		f := Font{Ink: Quiet, Size: 11 * Pixel}
		p.Text(Point{margin, middle + 11*Pixel}, f.Cut(wording.Visible(t.Threshold.Text), names-14*Pixel, "…"), f)
	default:
		p.nameAt(t, middle+4*Pixel)
	}
}

// nameAt writes the title of a lane, in bold whose it is.
func (p *panel) nameAt(t *track, y Length) {
	who, rest := t.Title, ""
	if t.Node != "" && strings.HasPrefix(t.Title, t.Node+" ") {
		who, rest = t.Node, t.Title[len(t.Node)+1:]
	}
	bold := Font{Bold: true, Ink: inkOf(t.Tone)}
	if t.Kind == timeline.LaneTruth {
		bold.Bold, bold.Ink = false, Quiet
	}
	room := names - 14*Pixel
	quiet := Font{Ink: Quiet}
	kind := Length(0) // a long name is cut, what the lane shows of it is not
	if rest = wording.Visible(rest); rest != "" {
		kind = min(quiet.Width(" "+rest), room*2/3)
	}
	who = wording.Visible(who)
	if kind > 0 && bold.Width(who) > room-kind && bold.Width(who) <= room { // two lines show both
		small := Font{Ink: Quiet, Size: 11 * Pixel}
		p.Text(Point{margin, y - 9*Pixel}, who, bold)
		p.Text(Point{margin, y + 4*Pixel}, small.Cut(rest, room, "…"), small)
		return
	}
	who = bold.CutMiddle(who, room-kind, "…")
	p.Text(Point{margin, y}, who, bold)
	w := bold.Width(who + " ")
	if rest != "" {
		p.Text(Point{margin + w, y}, quiet.Cut(rest, room-w, "…"), quiet)
	}
}
