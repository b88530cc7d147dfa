package svg

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/reports/internal/wording"
)

// Length is a distance or a place in tenths of a pixel: pictures are the same bytes on every machine.
type Length int

// Pixel is one pixel.
const Pixel Length = 10

// String prints the length as SVG writes it, in pixels.
func (l Length) String() string {
	if l < 0 {
		return "-" + (-l).String()
	}
	if l%Pixel == 0 {
		return strconv.Itoa(int(l / Pixel))
	}
	return strconv.Itoa(int(l/Pixel)) + "." + strconv.Itoa(int(l%Pixel))
}

// Point is a place on a canvas, from its upper left corner.
type Point struct{ X, Y Length }

// Box is the room that something takes.
type Box struct{ X, Y, W, H Length }

// Overlaps reports whether two boxes share some room.
func (b Box) Overlaps(o Box) bool {
	return b.X < o.X+o.W && o.X < b.X+b.W && b.Y < o.Y+o.H && o.Y < b.Y+b.H
}

// Paint says how a shape looks. Ink that is not given is not used.
type Paint struct {
	Fill, Stroke Ink
	Width        Length // of the stroke; a pixel if 0
	Dash         string // of the stroke, as in "4 3"
	Round        Length // the radius of a rectangle's corners
	Faint        int    // how many hundredths are to be seen; all if 0
}

// Canvas gathers the elements of a picture. It is ready for use as it is.
type Canvas struct {
	body   strings.Builder
	styles []style // that elements have, each named by its place
	texts  []Written
}

// Written is a text on a canvas, and the room that it takes at most.
type Written struct {
	Text string
	Box  Box
}

// Texts lists what has been written on the canvas.
func (c *Canvas) Texts() []Written { return c.texts }

// Rect draws a rectangle.
func (c *Canvas) Rect(b Box, p Paint) {
	round := ""
	if p.Round > 0 {
		round = attribute("rx", p.Round.String())
	}
	c.element("rect", attribute("x", b.X.String())+attribute("y", b.Y.String())+
		attribute("width", b.W.String())+attribute("height", b.H.String())+round, p)
}

// Line draws a line.
func (c *Canvas) Line(from, to Point, p Paint) {
	c.Path(new(Outline).Move(from).Line(to), p)
}

// Circle draws a circle.
func (c *Canvas) Circle(at Point, radius Length, p Paint) {
	place := attribute("cx", at.X.String()) + attribute("cy", at.Y.String())
	c.element("circle", place+attribute("r", radius.String()), p)
}

// Polyline draws lines from point to point.
func (c *Canvas) Polyline(points []Point, p Paint) {
	c.Path(new(Outline).through(points), p)
}

// Polygon draws lines from point to point, and back to the first.
func (c *Canvas) Polygon(points []Point, p Paint) {
	c.Path(new(Outline).through(points).Close(), p)
}

// Path draws an outline.
func (c *Canvas) Path(o *Outline, p Paint) {
	c.element("path", attribute("d", o.String()), p)
}

// Text writes one line. What could turn the direction of writing is shown by escapes. Y is where the letters stand.
func (c *Canvas) Text(at Point, text string, f Font) {
	text = wording.Visible(text)
	if text == "" {
		return
	}
	box := f.box(at, text)
	c.texts = append(c.texts, Written{Text: text, Box: box})
	place := attribute("x", at.X.String()) + attribute("y", at.Y.String())
	if f.Turned {
		place += attribute("transform", "rotate(-90 "+at.X.String()+" "+at.Y.String()+")")
	}
	c.body.WriteString("<text" + place + c.class(f.style()) + ">" + escape(text) + "</text>\n")
}

// Group puts what is drawn within a call together under a title, which a browser shows when somebody points at it,
// and a screen reader reads.
func (c *Canvas) Group(title string, draw func()) {
	c.body.WriteString("<g>")
	if title != "" {
		c.body.WriteString("<title>" + escape(title) + "</title>")
	}
	c.body.WriteString("\n")
	draw()
	c.body.WriteString("</g>\n")
}

func (c *Canvas) element(name, attributes string, p Paint) {
	c.body.WriteString("<" + name + attributes + c.class(p.style()) + "/>\n")
}

// Sheet is what a picture is drawn on, and what it is called.
type Sheet struct {
	ID            string // tells it and its styles apart from other pictures of the same page; a letter, then letters, digits and "-"
	Left          Length // how much of the sheet is left of what has the place 0
	Width, Height Length
	Title         string
	Desc          string // the picture in words, for those who cannot see it
}

// Write writes what has been drawn as one SVG, on a sheet that is as dark as its surroundings.
func (c *Canvas) Write(w io.Writer, s Sheet) error {
	paper := Canvas{styles: slices.Clone(c.styles)}
	paper.Rect(Box{X: -s.Left, W: s.Width, H: s.Height}, Paint{Fill: Paper, Round: 8 * Pixel})
	size := s.Width.String() + " " + s.Height.String()
	title, desc := s.ID+"-title", s.ID+"-desc"
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg"` + attribute("id", s.ID) + attribute("viewBox", (-s.Left).String()+" 0 "+size) +
		attribute("width", s.Width.String()) + attribute("height", s.Height.String()) +
		` fill="none" stroke-linejoin="round" role="img"` +
		attribute("aria-labelledby", title+" "+desc) + attribute("font-family", dataFonts) +
		attribute("font-size", usualSize.String()) + `>` + "\n")
	b.WriteString("<title" + attribute("id", title) + ">" + escape(s.Title) + "</title>\n")
	b.WriteString("<desc" + attribute("id", desc) + ">" + escape(s.Desc) + "</desc>\n")
	b.WriteString(sheetOf(s.ID, paper.styles))
	b.WriteString(paper.body.String())
	b.WriteString(c.body.String())
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + escape(value) + `"`
}

// escape makes text that its author cannot use to run anything on the reader's machine. What no XML may hold is
// shown by escapes, or as a question mark.
func escape(text string) string {
	var b strings.Builder
	for _, r := range wording.Visible(text) {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&quot;")
		case r >= 0xfffe && r <= 0xffff:
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
