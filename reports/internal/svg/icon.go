package svg

// Icon is a sign that is drawn, not written: no font has all of them.
type Icon int

// The icons.
const (
	Check  Icon = iota // accepted, held
	Cross              // violated, harmful
	Shield             // refused: the resource has been protected
	Dies               // a client ends
	Clock              // a time is over
	Circle             // nothing was to be seen
	Question
	Differs // not as expected
	Near    // held, but only just
)

// Icon draws a sign of the given size around a point.
func (c *Canvas) Icon(i Icon, at Point, size Length, k Ink) {
	p := func(x, y Length) Point { return Point{at.X + size*x/16, at.Y + size*y/16} } // of 16 by 16, around 0
	pen := Paint{Stroke: k, Width: max(size/7, 12)}
	thin := Paint{Stroke: k, Width: max(size/10, 10)}
	o := new(Outline)
	switch i {
	case Check:
		c.Path(o.Move(p(-6, 1)).Line(p(-2, 5)).Line(p(6, -5)), pen)
	case Cross:
		c.Path(o.Move(p(-5, -5)).Line(p(5, 5)).Move(p(-5, 5)).Line(p(5, -5)), pen)
	case Shield:
		o.Move(p(0, -8)).Line(p(6, -6)).Line(p(6, 0)).Curve(p(6, 4), p(3, 6), p(0, 8))
		c.Path(o.Curve(p(-3, 6), p(-6, 4), p(-6, 0)).Line(p(-6, -6)).Close(), Paint{Fill: k})
		o = new(Outline).Move(p(-3, -3)).Line(p(3, 3)).Move(p(-3, 3)).Line(p(3, -3))
		c.Path(o, Paint{Stroke: Paper, Width: max(size/9, 12)})
	case Dies:
		c.Circle(p(0, -1), size*6/16, Paint{Fill: k})
		c.Rect(Box{p(-3, 3).X, p(-3, 3).Y, size * 6 / 16, size * 4 / 16}, Paint{Fill: k})
		c.Circle(p(-2, -1), size*3/32, Paint{Fill: Paper})
		c.Circle(p(2, -1), size*3/32, Paint{Fill: Paper})
	case Clock:
		c.Circle(at, size*6/16, thin)
		c.Path(o.Move(p(0, -4)).Line(p(0, 0)).Line(p(3, 2)), thin)
	case Circle:
		c.Circle(at, size*5/16, thin)
	case Question:
		o.Move(p(-3, -3)).Curve(p(-3, -7), p(4, -7), p(4, -3)).Curve(p(4, 0), p(0, 0), p(0, 3))
		c.Path(o, thin)
		c.Circle(p(0, 6), size/12, Paint{Fill: k})
	case Near:
		for _, y := range []Length{-3, 3} {
			o.Move(p(-6, y+1)).Curve(p(-3, y-4), p(-1, y-1), p(0, y)).Curve(p(1, y+1), p(3, y+4), p(6, y-1))
		}
		c.Path(o, thin)
	case Differs:
		c.Path(o.Move(p(-5, -2)).Line(p(5, -2)).Move(p(-5, 3)).Line(p(5, 3)).Move(p(3, -6)).Line(p(-3, 7)), thin)
	}
}
