package layout

import (
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Narrowest is the width below which a table of verdicts has no room.
const Narrowest = 72

// Picture is the timeline of one schedule, which several runs may share: the same case under several fencing modes.
type Picture struct {
	Runs   []*tell.Narrative // with moments that are numbered alike
	Rows   [][]Lane          // the lanes of each run
	Scale  *Scale
	Glyphs *paint.Glyphs
	Label  int // width of the names of the lanes
	More   int // moments without a number
}

// New lays runs of one schedule out on panels that are so many columns wide.
func New(runs []model.Run, width int, g *paint.Glyphs) *Picture {
	p := &Picture{Glyphs: g}
	runs = model.KeptTogether(runs)
	s := model.NewScope(runs)
	for i := range runs {
		p.Runs = append(p.Runs, tell.NewNarrative(model.New(&runs[i], s), g, i > 0))
	}
	p.Runs[0].Cite()
	p.number()
	p.layOut(width)
	if p.Scale.Width > thinPanels*p.Scale.Panel {
		p.thin()
		p.layOut(width)
	}
	return p
}

// thinPanels is how often a picture may start again on the left before what has no number is left out of it.
const thinPanels = 2

// layOut builds the lanes, and a scale on which they have room.
func (p *Picture) layOut(width int) {
	p.Rows, p.Label = nil, 0
	var stops [][]stop
	for _, told := range p.Runs {
		lanes := lanesOf(told)
		p.Rows = append(p.Rows, lanes)
		for k := range lanes {
			stops = append(stops, lanes[k].stops())
			p.Label = max(p.Label, wording.Columns(lanes[k].Heading()))
		}
	}
	p.Label = min(p.Label, 20)
	s := p.Runs[0].View.Scope
	p.Scale = newScale(max(width-p.Label-2, 20), s.From, max(s.To, s.From+1), stops, p.idle)
}

// thin forgets the moments without a number.
func (p *Picture) thin() {
	for _, told := range p.Runs {
		told.Moments = slices.DeleteFunc(told.Moments, func(m moments.Moment) bool { return m.Number == 0 })
	}
}

// idle reports whether nothing goes on in a stretch of time, in any of the runs.
func (p *Picture) idle(from, to trace.Instant) bool {
	for _, lanes := range p.Rows {
		for i := range lanes {
			for k := range lanes[i].Bars {
				b := &lanes[i].Bars[k]
				if !b.quiet && b.Sign != timeline.SignTint && b.From < to && b.To > from {
					return false
				}
			}
		}
	}
	return true
}

// Told is the set of lines that a run's list of events has.
func (p *Picture) Told(run int) map[string]bool {
	lines := map[string]bool{}
	for i := range p.Runs[run].Moments {
		if m := &p.Runs[run].Moments[i]; m.Number > 0 {
			lines[m.Line()] = true
		}
	}
	return lines
}

// TwinOf returns an earlier run that went just as this one did; -1 if there is none.
func (p *Picture) TwinOf(run int) int {
	for k := range run {
		same := maps.Equal(p.Told(k), p.Told(run)) && len(p.Rows[k]) == len(p.Rows[run])
		for i := range p.Rows[run] {
			l := &p.Rows[run][i]
			same = same && (strings.HasPrefix(l.Name, laneTokens) || p.looksAlike(l, k))
		}
		if same {
			return k
		}
	}
	return -1
}

// looksAlike reports whether the lane of that name in another run looks the same.
func (p *Picture) looksAlike(l *Lane, other int) bool {
	i := slices.IndexFunc(p.Rows[other], func(o Lane) bool { return o.Name == l.Name })
	return i >= 0 && p.Rows[other][i].equal(l)
}

// Words are text as the picture can show it.
func (p *Picture) Words(text string) string {
	if p.Glyphs.ASCII {
		return wording.PlainASCII(text)
	}
	return text
}

// Columns are where the marks of a lane stand: those of one moment one after another.
func (p *Picture) Columns(l *Lane) []int {
	list := make([]int, len(l.Marks))
	last, free := trace.Instant(-1), 0
	for i, m := range l.Marks {
		list[i] = p.Scale.Column(m.At)
		if m.At == last {
			list[i] = max(list[i], free)
		}
		last, free = m.At, list[i]+wording.Columns(m.Text)
	}
	return list
}

// Span is where a bar begins and ends. It takes one column at least.
func (p *Picture) Span(b *Bar) (from, to int) {
	from, to = p.Scale.Column(b.From), p.Scale.Column(b.To)
	return from, max(to, from+1)
}
