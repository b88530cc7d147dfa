package svg

import (
	"strconv"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
)

// tagsOf are the tags of a lane in this panel.
func (p *panel) tagsOf(l *timeline.Lane) []tag {
	var list []tag
	for i := range l.Marks {
		m := &l.Marks[i]
		if !p.shows(p.axis.at(m.At)) {
			continue
		}
		t := tag{at: p.x(m.At), number: m.Number, label: wording.Visible(m.Label), ink: inkOf(m.Tone)}
		t.fill = ground(m.Tone)
		switch {
		case l.Kind == timeline.LaneBelief && m.Sign == timeline.SignBegins && t.label != "":
			t.label = "token " + t.label
		case l.Kind == timeline.LaneDamage:
			t.must = true
			t.before = t.at+t.width()+4*Pixel > plotLeft+plotWidth
		}
		if t.title = p.tale(m); t.title == "" {
			t.number = 0 // nothing tells of it
		}
		if t.number > 0 || t.label != "" {
			list = append(list, t)
		}
	}
	return list
}

// tale is what the list of moments says of a mark.
func (p *panel) tale(m *timeline.Mark) string {
	for i := range p.run.Moments {
		if x := &p.run.Moments[i]; x.Number == m.Number && m.Number > 0 {
			return when(x.At) + " " + x.Who + " " + x.Text
		}
	}
	return ""
}

// drawTags writes the tags of a lane, each with a line to its moment.
func (p *panel) drawTags(t *track) {
	for i := range t.tags {
		g := &t.tags[i]
		middle := t.body - tagHeight/2 - Length(g.row)*tagHeight
		draw := func() {
			x := g.x
			if g.number > 0 {
				center := Point{x + circle/2, middle}
				p.Line(Point{center.X, middle + circle/2}, Point{g.at, t.body}, Paint{Stroke: g.fill})
				p.number(center, g.number, g.fill)
				x += circle
			}
			f := tagFont
			f.Ink = g.ink
			p.Text(Point{x + 2*Pixel, middle + 4*Pixel}, g.label, f)
		}
		if g.title == "" {
			draw()
		} else {
			p.Group(g.title, draw)
		}
	}
}

// number draws the sign by which the list of moments refers to the picture.
func (c *Canvas) number(at Point, n int, fill Ink) {
	c.Circle(at, circle/2-5, Paint{Fill: fill})
	c.Text(Point{at.X, at.Y + 39}, strconv.Itoa(n), Font{Size: 11 * Pixel, Bold: true, Ink: Paper, Anchor: Middle})
	c.texts[len(c.texts)-1].Box = Box{at.X - circle/2, at.Y - circle/2, circle, circle}
}

// marks draws the signs of a lane.
func (p *panel) marks(t *track) {
	for i := range t.Marks {
		m := &t.Marks[i]
		if !p.shows(p.axis.at(m.At)) {
			continue
		}
		at := Point{p.x(m.At), t.body + t.h/2}
		switch m.Sign {
		case timeline.SignExpired:
			if t.Kind == timeline.LaneNode {
				p.badge(Clock, Point{at.X, t.body + t.h}, 13*Pixel, Quiet)
			}
		case timeline.SignDeleted:
			p.Line(Point{at.X, t.body}, Point{at.X, t.body + t.h}, Paint{Stroke: Words, Width: 20})
		case timeline.SignLost:
			p.badge(Cross, at, 12*Pixel, Words)
		case timeline.SignRead:
			p.Circle(at, 4*Pixel, Paint{Fill: Paper, Stroke: Words, Width: 15})
		case timeline.SignAccepted:
			p.badge(Check, at, 14*Pixel, Words)
		case timeline.SignRefused:
			p.badge(Shield, at, 18*Pixel, Green)
		case timeline.SignHarmful:
			p.badge(Cross, at, 17*Pixel, Red)
		case timeline.SignUnknown:
			p.badge(Question, at, 14*Pixel, Words)
		default:
		}
	}
}

// badge draws an icon that keeps what is below it away.
func (c *Canvas) badge(i Icon, at Point, size Length, k Ink) {
	c.Circle(at, size*5/8, Paint{Fill: Paper})
	c.Icon(i, at, size, k)
}
