package comparison

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/reports/internal/svg"
)

// px makes a length of pixels.
func px(n int) svg.Length { return svg.Length(n) * svg.Pixel }

// Fonts of pictures.
var (
	titleFont = svg.Font{Ink: svg.Words, Size: px(15), Bold: true, Prose: true}
	proseFont = svg.Font{Ink: svg.Quiet, Size: px(12), Prose: true}
	labelFont = svg.Font{Ink: svg.Words, Size: px(12)}
	axisFont  = svg.Font{Ink: svg.Words, Size: px(12), Bold: true, Prose: true}
)

// heatPicture is a heat map that is being drawn.
type heatPicture struct {
	svg.Canvas
	h           *Heat
	confidence  int
	left, top   svg.Length // of the first field
	wide, high  svg.Length // a field
	right, foot svg.Length // of the last field
}

// HeatSVG draws a heat map. All heat maps and matrices share one scale, which is logarithmic. Fields in which nothing
// was seen are hatched: only an upper bound is known there, with a confidence in percent.
func HeatSVG(w io.Writer, h *Heat, confidence int) error {
	p, sheet := drawHeat(h, confidence)
	return p.Write(w, sheet)
}

func drawHeat(h *Heat, confidence int) (*heatPicture, svg.Sheet) {
	p := &heatPicture{h: h, confidence: confidence, wide: px(60), high: px(30)}
	for _, text := range h.Columns {
		p.wide = max(p.wide, labelFont.Width(text)+px(14))
	}
	labels := svg.Length(0)
	for _, text := range h.Rows {
		labels = max(labels, labelFont.Width(text))
	}
	p.left = px(24) + px(26) + labels + px(8)
	p.right = p.left + p.wide*svg.Length(len(h.Columns))
	width := max(p.right+px(24), px(560))
	p.top = p.captions(width) + px(56)
	p.foot = p.top + p.high*svg.Length(len(h.Rows))
	p.axes()
	for y := range h.Rows {
		for x := range h.Columns {
			p.field(x, y)
		}
	}
	p.bordered()
	height := p.legend(width)
	return p, svg.Sheet{
		ID: "heat-" + plainID(h.Name), Width: width, Height: height, Title: h.Title,
		Desc: strings.TrimSpace(strings.Join(heatWords(h, confidence), " ") + " " + h.Note),
	}
}

// heatWords say what is to be seen.
func heatWords(h *Heat, confidence int) []string {
	of := h.Lock
	if h.Fencing != "" {
		of += ", fencing " + h.Fencing
	}
	runs, least, unknown := plural(h.Runs, "run"), h.Runs, false
	for y := range h.Rows {
		for x := range h.Columns {
			f := fieldOf(h, y, x)
			least, unknown = min(least, f.runs), unknown || f.text() == "?"
		}
	}
	if least < h.Runs {
		runs = fmt.Sprintf("%s to %s", count(least), runs)
	}
	text := []string{fmt.Sprintf("%s: how often the property %s was violated, in percent of %s for each field.", of, h.Property, runs)}
	if len(h.Border) > 0 {
		text = append(text, "The line is the border between fields with a violation and exposed fields without one.")
	}
	never := fmt.Sprintf("never seen, so below %s %% with a confidence of %d %%", percent(unseen(h.Runs, confidence), 2, up), confidence)
	signs := "Hatched: " + cmp.Or(h.Never, never) + "; a ring: never exposed"
	if unknown {
		signs += "; a question mark: nothing is known of some runs"
	}
	return append(text, signs+".")
}

// captions says what the picture is of, and returns where that ends.
func (p *heatPicture) captions(width svg.Length) svg.Length {
	y := px(10)
	for _, text := range []struct {
		of    string
		font  svg.Font
		lines int
	}{{p.h.Title, titleFont, 2}, {heatWords(p.h, p.confidence)[0], proseFont, 3}, {p.h.Note, proseFont, 6}} {
		if text.of == "" {
			continue
		}
		lines := text.font.Wrap(text.of, width-px(48))
		if len(lines) > text.lines { // what there is no room for is in the description
			lines = lines[:text.lines]
		}
		for _, line := range lines {
			y += text.font.Size + px(5)
			p.Text(svg.Point{X: px(24), Y: y}, line, text.font)
		}
		y += px(2)
	}
	return y
}

// axes writes the values of both numbers, and what they are.
func (p *heatPicture) axes() {
	f := labelFont
	f.Anchor = svg.Middle
	for x, text := range p.h.Columns {
		p.Text(svg.Point{X: p.left + p.wide*svg.Length(x) + p.wide/2, Y: p.top - px(7)}, text, f)
	}
	f.Anchor = svg.End
	for y, text := range p.h.Rows {
		p.Text(svg.Point{X: p.left - px(8), Y: p.top + p.high*svg.Length(y) + p.high/2 + px(4)}, text, f)
	}
	name := axisFont
	p.Text(svg.Point{X: p.left, Y: p.top - px(25)}, p.h.Across+" →", name)
	name.Turned, name.Anchor = true, svg.End
	p.Text(svg.Point{X: px(36), Y: p.top}, p.down(), name)
}

// down is what the rows are, to be read upwards.
func (p *heatPicture) down() string {
	if p.h.Down == "" {
		return ""
	}
	return "← " + p.h.Down
}

func (p *heatPicture) field(x, y int) {
	f := fieldOf(p.h, y, x)
	tone := f.tone(p.h.Property)
	ink := inkOf(tone, step(share(f.violated, f.runs)))
	box := svg.Box{X: p.left + p.wide*svg.Length(x), Y: p.top + p.high*svg.Length(y), W: p.wide, H: p.high}
	title := fmt.Sprintf("%s %s, %s %s: violated in %s of %s, exposed in %s", p.h.Down, p.h.Rows[y], p.h.Across,
		p.h.Columns[x], count(f.violated), plural(f.runs, "run"), count(f.inDanger))
	if y < len(p.h.Commands) && x < len(p.h.Commands[y]) && p.h.Commands[y][x] != "" {
		title += ". First: " + p.h.Commands[y][x]
	}
	p.Group(title, func() {
		p.Rect(box, svg.Paint{Fill: ink.wash, Stroke: svg.Paper, Width: px(1)})
		middle := svg.Point{X: box.X + box.W/2, Y: box.Y + box.H/2}
		foot := svg.Point{X: middle.X, Y: middle.Y + px(4)}
		switch tone {
		case green:
			p.hatch(box)
			p.Text(foot, f.text(), svg.Font{Ink: ink.words, Anchor: svg.Middle, Halo: ink.wash})
		case grey:
			if f.text() == "?" {
				p.Text(foot, f.text(), svg.Font{Ink: ink.words, Anchor: svg.Middle})
				break
			}
			p.Icon(svg.Circle, middle, px(12), ink.words)
		default:
			p.Text(foot, f.text(), svg.Font{Ink: ink.words, Anchor: svg.Middle})
		}
	})
}

// hatch draws lines from lower left to upper right.
func (p *heatPicture) hatch(b svg.Box) {
	o := new(svg.Outline)
	const apart = 7 * svg.Pixel
	for at := apart; at < b.W+b.H; at += apart {
		from := svg.Point{X: b.X + max(at-b.H, 0), Y: b.Y + min(at, b.H)}
		to := svg.Point{X: b.X + min(at, b.W), Y: b.Y + max(at-b.W, 0)}
		o.Move(from).Line(to)
	}
	p.Path(o, svg.Paint{Stroke: svg.Green, Faint: 35})
}

// bordered draws where violations begin.
func (p *heatPicture) bordered() {
	for _, pen := range []svg.Paint{{Stroke: svg.Paper, Width: px(6)}, {Stroke: svg.Words, Width: px(3)}} {
		for _, side := range p.h.Border {
			p.Line(p.corner(side[0], side[1]), p.corner(side[2], side[3]), pen)
		}
	}
}

// corner is the upper left corner of a field.
func (p *heatPicture) corner(x, y int) svg.Point {
	return svg.Point{X: p.left + p.wide*svg.Length(x), Y: p.top + p.high*svg.Length(y)}
}

// legend draws the scale and explains signs. It returns how high the picture is.
func (p *heatPicture) legend(width svg.Length) svg.Length {
	y := max(p.foot, p.top+axisFont.Width(p.down())) + px(20)
	x := px(24)
	shades := reds[:]
	if p.h.Property != resource {
		shades = ambers[:]
	}
	small := svg.Font{Size: px(11), Anchor: svg.Middle}
	for i, k := range shades {
		small.Ink = k.words
		p.Rect(svg.Box{X: x, Y: y, W: px(52), H: px(18)}, svg.Paint{Fill: k.wash})
		p.Text(svg.Point{X: x + px(26), Y: y + px(13)}, ramp[i].text, small)
		x += px(52)
	}
	p.Text(svg.Point{X: x + px(8), Y: y + px(13)}, "percent of the runs", proseFont)
	y += px(30)
	for i, text := range heatWords(p.h, p.confidence)[1:] {
		if i == 0 && len(p.h.Border) > 0 {
			p.Line(svg.Point{X: px(24), Y: y + px(8)}, svg.Point{X: px(46), Y: y + px(8)}, svg.Paint{Stroke: svg.Words, Width: px(3)})
		} else {
			key := svg.Box{X: px(24), Y: y, W: px(22), H: px(15)}
			p.Rect(key, svg.Paint{Fill: svg.GreenWash})
			p.hatch(key)
		}
		for _, line := range proseFont.Wrap(text, width-px(24+32+24)) {
			p.Text(svg.Point{X: px(56), Y: y + px(12)}, line, proseFont)
			y += px(17)
		}
		y += px(5)
	}
	return y + px(10)
}

// plainID makes an identifier of a name: letters, digits and "-".
func plainID(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
}
