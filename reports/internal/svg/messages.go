package svg

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
)

// arrow is a message on a panel.
type arrow struct {
	*timeline.Message
	from, to Point
	fate     fate
	answers  bool // a client; what one server passes on to another answers nobody
	arrives  bool // its end is in this panel
}

// mostMessages is how many arrows a picture can bear.
const mostMessages = 64

// drawn are the messages of a run that matter; if they are too many those that have to do with a numbered moment.
func drawn(run *timeline.Timeline) (list []*timeline.Message, all bool) {
	for i := range run.Messages {
		if m := &run.Messages[i]; m.Matters {
			list = append(list, m)
		}
	}
	if len(list) <= mostMessages {
		return list, true
	}
	list = slices.DeleteFunc(list, func(m *timeline.Message) bool {
		return !slices.ContainsFunc(run.Moments, func(x timeline.Moment) bool {
			return x.Number > 0 && (x.At == m.Sent || x.At == m.Received)
		})
	})
	return list[:min(len(list), mostMessages)], false
}

// arrows draws the messages, from the sender's lane to the receiver's.
func (p *panel) arrows() {
	for _, m := range p.messages {
		if a, ok := p.arrow(m); ok {
			p.asked, p.answered = p.asked || !a.answers, p.answered || a.answers
			p.Group(messageWords(a), func() { p.drawArrow(a) })
		}
	}
}

func messageWords(a arrow) string {
	words := a.From + " to " + a.To + ": "
	if a.answers {
		words += "answer to "
	}
	if !strings.HasPrefix(a.Detail, a.What) {
		words += a.What + " "
	}
	words = strings.TrimSpace(words + a.Detail)
	if a.fate == arrived {
		return words + ", on its way for " + wording.Precise(a.Received.Sub(a.Sent))
	}
	return words + ", " + a.fate.String()
}

func (p *panel) arrow(m *timeline.Message) (a arrow, ok bool) {
	top, bottom, ok := p.stations(m.From, m.To)
	if !ok {
		return a, false
	}
	a = arrow{Message: m, fate: p.fateOf(m), answers: m.Reply && p.isClient(m.To), arrives: true}
	begin, end := p.axis.at(m.Sent), p.axis.at(m.Received)
	switch {
	case m.Sent < p.axis.From:
		return a, false
	case a.fate != arrived:
		end, bottom = begin+14*Pixel, top+(bottom-top)*6/10
	case m.Received > p.axis.To: // it arrives after all that is drawn
		bottom, a.arrives = top+(bottom-top)*8/10, false
	}
	if begin >= p.right || end < p.left {
		return a, false
	}
	at := func(place Length) Point { // where the arrow is at a place
		if begin == end {
			return Point{plotLeft + place - p.left, bottom}
		}
		return Point{plotLeft + place - p.left, top + (bottom-top)*(place-begin)/(end-begin)}
	}
	a.from, a.to = Point{plotLeft + begin - p.left, top}, at(end)
	if begin < p.left {
		a.from = at(p.left)
	}
	if end > p.right {
		a.to, a.arrives = at(p.right), false
	}
	return a, true
}

// stations are the edges of lanes that a message between two nodes runs from and to.
func (p *panel) stations(from, to string) (begin, end Length, ok bool) {
	top, bottom, found := p.lanesOf(p.kept(from))
	top2, bottom2, found2 := p.lanesOf(p.kept(to))
	switch {
	case !found || !found2 || top == top2:
		return 0, 0, false
	case top < top2:
		return bottom, top2, true
	default:
		return top, bottom2, true
	}
}

// kept is who keeps what a node keeps: the ensemble, of one that has no lane of its own.
func (p *panel) kept(node string) string {
	own := func(t track) bool { return t.of(node) }
	if p.keeper == "" || slices.ContainsFunc(p.tracks, own) || slices.Contains(p.schedule.More.Clients, node) {
		return node
	}
	return p.keeper
}

// keeperOf is the only lane of a server that no message is from or to: it stands for all servers.
func keeperOf(run *timeline.Timeline) string {
	keeper := ""
	for _, l := range run.Lanes {
		named := func(m timeline.Message) bool { return m.From == l.Node || m.To == l.Node }
		switch {
		case l.Kind != timeline.LaneNode:
		case keeper != "" || slices.ContainsFunc(run.Messages, named):
			return ""
		default:
			keeper = l.Node
		}
	}
	return keeper
}

// of reports whether messages of a node run from and to a lane.
func (t *track) of(node string) bool {
	owner, _, _ := strings.Cut(t.Node, "/") // of a task: its client
	return owner == node && t.Kind != timeline.LaneLevel || t.Kind == timeline.LaneStorage && t.Name == node
}

// lanesOf is where the lanes of a node begin and end.
func (p *panel) lanesOf(node string) (top, bottom Length, found bool) {
	for i := range p.tracks {
		t := &p.tracks[i]
		switch {
		case !t.of(node):
		case !found:
			top, bottom, found = t.body, t.body+t.h, true
		default:
			bottom = t.body + t.h
		}
	}
	return top, bottom, found
}

func (p *panel) drawArrow(a arrow) {
	pen := Paint{Stroke: Words}
	if a.answers {
		pen.Dash = "4 3"
	}
	if a.Late {
		pen.Width = 25
	}
	p.Line(a.from, a.to, pen)
	switch {
	case a.fate == lost:
		p.Icon(Cross, a.to, 10*Pixel, Words)
	case a.fate != arrived:
		p.Circle(a.to, 3*Pixel, Paint{Fill: Paper, Stroke: Words, Width: 15})
	case a.arrives:
		p.Path(head(a.from, a.to), Paint{Fill: Words})
	}
}

// head is the head of an arrow.
func head(from, to Point) *Outline {
	dx, dy := to.X-from.X, to.Y-from.Y
	long := length(dx, dy)
	if long == 0 {
		return new(Outline)
	}
	size, half := 8*Pixel, 3*Pixel
	back := Point{to.X - dx*size/long, to.Y - dy*size/long}
	side := Point{-dy * half / long, dx * half / long}
	return new(Outline).Move(to).Line(Point{back.X + side.X, back.Y + side.Y}).
		Line(Point{back.X - side.X, back.Y - side.Y}).Close()
}

// length is that of the hypotenuse, in whole tenths of pixels.
func length(dx, dy Length) Length {
	square := int64(dx)*int64(dx) + int64(dy)*int64(dy)
	root := int64(0)
	for bit := int64(1) << 31; bit > 0; bit >>= 1 {
		if (root+bit)*(root+bit) <= square {
			root += bit
		}
	}
	return Length(root)
}

// delays writes beside late messages how long they were on their way, and beside those that did not arrive what became of
// them, where there is room.
func (p *panel) delays() {
	f := Font{Size: 11 * Pixel, Bold: true, Ink: Words, Halo: Paper}
	for _, m := range p.messages {
		a, ok := p.arrow(m)
		switch {
		case !ok:
		case a.fate != arrived:
			p.beside(a, p.message(a)+" "+a.fate.String(), f)
		case m.Late:
			p.beside(a, p.message(a)+" "+wording.Precise(m.Received.Sub(m.Sent)), f)
		}
	}
}

// beside writes a text next to an arrow.
func (p *panel) beside(a arrow, text string, f Font) {
	for _, share := range []Length{50, 35, 65, 25, 75, 15, 85} {
		x := a.from.X + (a.to.X-a.from.X)*share/100
		y := a.from.Y + (a.to.Y-a.from.Y)*share/100
		for _, at := range []Point{{x + 8*Pixel, y + 4*Pixel}, {x - 8*Pixel - f.Width(text), y + 4*Pixel}} {
			box := f.box(at, text)
			inside := box.X >= plotLeft && box.X+box.W <= plotLeft+plotWidth && box.Y > p.top && box.Y+box.H < p.bottom
			if inside && p.clear(box) {
				p.Text(at, text, f)
				return
			}
		}
	}
}
