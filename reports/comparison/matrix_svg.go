package comparison

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/reports/internal/svg"
)

// matrixPicture is a matrix that is being drawn.
type matrixPicture struct {
	svg.Canvas
	*board
	fencing    string     // of the conditions' columns
	others     []string   // modes that have one column each
	left, top  svg.Length // of the first field
	wide, high svg.Length // a field
	apart      svg.Length // between conditions and modes
	right      svg.Length // of the last field
	foot       svg.Length
}

// MatrixSVG draws all locks under all conditions without fencing (in the first mode that there is), and beside that the
// worst of all conditions in each other mode. A field is red if the resource was damaged, with the rate in percent;
// amber, with two rings, if another promise was broken without damage; else a check, a ring if nothing was ever in
// danger, or a dash.
func MatrixSVG(w io.Writer, c *compare.Comparison) error {
	p, sheet := drawMatrix(newBoard(c))
	return p.Write(w, sheet)
}

func drawMatrix(b *board) (*matrixPicture, svg.Sheet) {
	c := b.Comparison
	p := &matrixPicture{board: b, wide: px(27), high: px(20), apart: px(18)}
	if len(c.Fencing) > 0 {
		p.fencing, p.others = c.Fencing[0], c.Fencing[1:]
	}
	names, heads := svg.Length(0), svg.Length(0)
	for i := range c.Locks {
		names = max(names, labelFont.Width(c.Locks[i].Name))
	}
	for _, text := range append(append([]string{}, c.Faults...), p.others...) {
		heads = max(heads, labelFont.Width(text))
	}
	p.left, p.top = px(24)+names+px(10), px(84)+heads
	p.foot = p.top + p.high*svg.Length(len(c.Locks))
	p.right = p.column(len(c.Faults)+len(p.others)) - p.apart
	if len(p.others) > 0 {
		p.right += p.apart
	}
	width := max(p.right+px(24), px(720))
	p.captions(width)
	p.heads()
	for i := range c.Locks {
		p.row(i)
	}
	height := p.legend(width)
	return p, svg.Sheet{
		ID: "locksim-matrix", Width: width, Height: height, Title: p.title(), Desc: strings.Join(p.lede(), " "),
	}
}

// column is where a column begins: conditions come first, then the other modes.
func (p *matrixPicture) column(i int) svg.Length {
	x := p.left + p.wide*svg.Length(i)
	if i >= len(p.Faults) {
		x += p.apart
	}
	return x
}

func (p *matrixPicture) captions(width svg.Length) {
	p.Text(svg.Point{X: px(24), Y: px(32)}, titleFont.Cut(p.title(), width-px(48), "…"), titleFont)
	lead := fmt.Sprintf("How often something was violated under each condition, in percent of %s; fencing %s.",
		plural(p.Runs, "run"), p.fencing)
	if len(p.others) > 0 {
		lead += " At the right: the worst condition for a resource that is fenced."
	}
	for i, line := range proseFont.Wrap(lead, width-px(48)) {
		if i < 2 {
			p.Text(svg.Point{X: px(24), Y: px(53 + 16*i)}, line, proseFont)
		}
	}
}

// heads writes the names of the columns upwards.
func (p *matrixPicture) heads() {
	f := labelFont
	f.Turned = true
	for i, text := range append(append([]string{}, p.Faults...), p.others...) {
		p.Text(svg.Point{X: p.column(i) + p.wide/2 + px(4), Y: p.top - px(6)}, text, f)
	}
}

// row draws a lock. A line parts it from one on other servers.
func (p *matrixPicture) row(i int) {
	lock := &p.Locks[i]
	y := p.top + p.high*svg.Length(i)
	if i > 0 && p.Locks[i-1].Servers != lock.Servers {
		defer p.Line(svg.Point{X: px(24), Y: y}, svg.Point{X: p.right, Y: y}, svg.Paint{Stroke: svg.Solid})
	}
	name := labelFont
	name.Anchor = svg.End
	p.Text(svg.Point{X: p.left - px(8), Y: y + px(14)}, lock.Name, name)
	for x, faults := range p.Faults {
		f := p.worstOf(func(property string) *compare.Cell { return p.at(lock.Name, faults, p.fencing, property) })
		p.field(p.column(x), y, lock.Name+", "+faults, f)
	}
	for x, fencing := range p.others {
		f := p.worstOf(func(property string) *compare.Cell {
			t := p.tally(lock.Name, fencing, property)
			switch o := t.outcome(); o {
			case compare.Violated:
				return t.worst
			case compare.Impossible:
				return nil
			default:
				return &compare.Cell{Outcome: o, Property: property, InDanger: t.danger}
			}
		})
		p.field(p.column(len(p.Faults)+x), y, lock.Name+", fencing "+fencing, f)
	}
}

// worstOf returns the cell to show of those of all properties: damage before other violations, those before what held,
// and that before what says nothing. It is nil if all are impossible.
func (p *matrixPicture) worstOf(of func(property string) *compare.Cell) *compare.Cell {
	var worst *compare.Cell
	for _, property := range p.properties { // damage comes first
		c := of(property)
		if c != nil && c.Outcome != compare.Impossible && (worst == nil || rank(c) > rank(worst)) {
			worst = c
		}
	}
	return worst
}

// rank orders outcomes by how much they say.
func rank(c *compare.Cell) int {
	switch c.Outcome {
	case compare.Violated:
		return 3
	case compare.Undecided, compare.NotJudged:
		return 2
	case compare.Held, compare.Seldom, compare.NotSeen:
		return 1
	default:
		return 0
	}
}

func (p *matrixPicture) field(x, y svg.Length, of string, c *compare.Cell) {
	box := svg.Box{X: x, Y: y, W: p.wide - px(1), H: p.high - px(1)}
	middle := svg.Point{X: x + p.wide/2, Y: y + p.high/2}
	if c == nil {
		p.dash(middle)
		return
	}
	sign := signOf(c)
	ink := inkOf(sign.tone, shade(c))
	title := of + ": " + c.Property + " " + sign.word
	if c.Outcome == compare.Violated {
		title += ", " + rate(c, 2) + " %"
	}
	p.Group(title, func() {
		p.Rect(box, svg.Paint{Fill: ink.wash})
		p.sign(middle, sign.tone, ink.words, c)
	})
}

// dash is what stands where nothing is possible.
func (p *matrixPicture) dash(at svg.Point) {
	p.Line(svg.Point{X: at.X - px(3), Y: at.Y}, svg.Point{X: at.X + px(3), Y: at.Y}, svg.Paint{Stroke: svg.Solid})
}

// sign draws what a field says.
func (p *matrixPicture) sign(at svg.Point, k tone, ink svg.Ink, c *compare.Cell) {
	switch {
	case k == red:
		foot := svg.Point{X: at.X, Y: at.Y + px(4)}
		p.Text(foot, rate(c, 2)+faultless(c), svg.Font{Ink: ink, Size: px(10), Anchor: svg.Middle})
	case k == amber:
		p.Circle(svg.Point{X: at.X - px(3), Y: at.Y}, px(5), svg.Paint{Stroke: ink, Width: 13})
		p.Circle(svg.Point{X: at.X + px(3), Y: at.Y}, px(5), svg.Paint{Stroke: ink, Width: 13})
	case k == green:
		p.Icon(svg.Check, at, px(12), ink)
	case c.Outcome == compare.NotSeen:
		p.Text(svg.Point{X: at.X, Y: at.Y + px(4)}, "("+count(c.InDanger)+")", svg.Font{Ink: ink, Size: px(10), Anchor: svg.Middle})
	case c.Outcome == compare.Seldom:
		p.Text(svg.Point{X: at.X, Y: at.Y + px(4)}, count(c.InDanger), svg.Font{Ink: ink, Size: px(10), Anchor: svg.Middle})
	case c.Outcome == compare.Vacuous:
		p.Icon(svg.Circle, at, px(10), ink)
	default:
		p.Icon(svg.Question, at, px(12), ink)
	}
}

// legend explains the signs, and returns how high the picture is.
func (p *matrixPicture) legend(width svg.Length) svg.Length {
	x, y := px(24), p.foot+px(16)
	type entry struct {
		tone tone
		step int
		cell compare.Cell
		text string
	}
	entries := []entry{
		{red, 3, compare.Cell{Rate: 0.01}, "damage at the resource, in percent of the runs: darker is more"},
		{amber, 3, compare.Cell{}, "two holders, or another broken promise, and no damage"},
		{green, 0, compare.Cell{}, "exposed, never violated"},
		{grey, 0, compare.Cell{Outcome: compare.Seldom, InDanger: 9}, "not violated, but exposed in too few runs"},
		{grey, 0, compare.Cell{Outcome: compare.Vacuous}, "never exposed: says nothing"},
		{plain, 0, compare.Cell{}, "impossible"},
		{
			red, 3, compare.Cell{Rate: 0.01, Example: &compare.Example{Faultless: true}},
			"happens without any fault, too",
		},
	}
	if p.programs() {
		entries = append(entries, entry{grey, 0, compare.Cell{Outcome: compare.NotSeen, InDanger: 9}, "not seen violated in runs of a program"})
	}
	for _, k := range entries {
		need := px(27+8+20) + proseFont.Width(k.text)
		if x > px(24) && x+need > width-px(24) {
			x, y = px(24), y+px(26)
		}
		box := svg.Box{X: x, Y: y, W: p.wide, H: p.high}
		at := svg.Point{X: x + p.wide/2, Y: y + p.high/2}
		if k.tone == plain {
			p.dash(at)
		} else {
			ink := inkOf(k.tone, k.step)
			p.Rect(box, svg.Paint{Fill: ink.wash})
			p.sign(at, k.tone, ink.words, &k.cell)
		}
		p.Text(svg.Point{X: x + p.wide + px(8), Y: y + px(14)}, k.text, proseFont)
		x += need
	}
	return y + px(40)
}
