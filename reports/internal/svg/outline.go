package svg

import "strings"

// Outline is a line of several pieces.
type Outline struct {
	d     strings.Builder
	begun Point // where the piece at hand began
	last  Point
}

// Move begins a piece at a point.
func (o *Outline) Move(to Point) *Outline {
	o.step("m", to)
	o.begun, o.last = to, to
	return o
}

// Line goes on to a point.
func (o *Outline) Line(to Point) *Outline {
	switch {
	case to.X == o.last.X:
		o.d.WriteString("v" + (to.Y - o.last.Y).String())
	case to.Y == o.last.Y:
		o.d.WriteString("h" + (to.X - o.last.X).String())
	default:
		o.step("l", to)
	}
	o.last = to
	return o
}

// Curve goes on to a point in a curve that is drawn towards two others.
func (o *Outline) Curve(towards, from, to Point) *Outline {
	o.step("c", towards)
	o.step(" ", from)
	o.step(" ", to)
	o.last = to
	return o
}

// Close goes back to where the piece began.
func (o *Outline) Close() *Outline {
	o.d.WriteByte('z')
	o.last = o.begun
	return o
}

// through goes from point to point.
func (o *Outline) through(points []Point) *Outline {
	for i, at := range points {
		if i == 0 {
			o.Move(at)
		} else {
			o.Line(at)
		}
	}
	return o
}

// step writes a point as it lies from the last one: most are near, and have fewer digits so.
func (o *Outline) step(command string, to Point) {
	x, y := (to.X - o.last.X).String(), (to.Y - o.last.Y).String()
	if !strings.HasPrefix(y, "-") {
		y = " " + y
	}
	o.d.WriteString(command + x + y)
}

// String returns the outline as SVG writes it.
func (o *Outline) String() string { return o.d.String() }
