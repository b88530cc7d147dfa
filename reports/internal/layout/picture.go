package layout

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/model"
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
	Drawn  [][]paint.Row     // what stands on them
	Scale  *scale
	Glyphs *paint.Glyphs
	Label  int // width of the names of the lanes
	Color  bool
	More   int // moments without a number
}

// New lays runs of one schedule out on panels that are so many columns wide.
func New(runs []model.Run, width int, color bool, g *paint.Glyphs) *Picture {
	p := &Picture{Glyphs: g, Color: color}
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
	for _, lanes := range p.Rows {
		drawn := make([]paint.Row, len(lanes))
		for i := range lanes {
			drawn[i] = p.draw(&lanes[i])
		}
		p.Drawn = append(p.Drawn, drawn)
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
		told.Moments = slices.DeleteFunc(told.Moments, func(m tell.Moment) bool { return m.Number == 0 })
	}
}

// idle reports whether nothing goes on in a stretch of time, in any of the runs.
func (p *Picture) idle(from, to trace.Instant) bool {
	for _, lanes := range p.Rows {
		for i := range lanes {
			for k := range lanes[i].bars {
				b := &lanes[i].bars[k]
				if !b.quiet && b.sign != timeline.SignTint && b.from < to && b.to > from {
					return false
				}
			}
		}
	}
	return true
}

// draw paints one lane.
func (p *Picture) draw(l *Lane) paint.Row {
	r := paint.NewRow(p.Scale.Width)
	for i := range l.bars {
		b := &l.bars[i]
		from, to := p.Scale.column(b.from), p.Scale.column(b.to)
		if to == from {
			to++
		}
		for col := from; col < to && col < len(r); col++ {
			switch b.sign {
			case timeline.SignTint:
				if r[col].Rune != ' ' && r[col].Ink != paint.Faint {
					r[col].Ink = b.ink
				}
			case timeline.SignLife:
				r[col] = paint.Cell{Rune: b.levelAt(p.Glyphs, max(p.Scale.moment(col), b.from)), Ink: b.ink}
			default:
				r[col] = paint.Cell{Rune: p.Glyphs.Of(b.sign), Ink: b.ink}
			}
		}
		if b.last != timeline.SignNone && to < len(r) {
			r[to] = paint.Cell{Rune: p.Glyphs.Of(b.last), Ink: b.ink}
		}
	}
	p.drawLevels(r, l)
	p.drawMarks(r, l)
	for i := range l.bars {
		p.drawLabel(r, &l.bars[i])
	}
	return r
}

// drawMarks puts marks of one moment one after another.
func (p *Picture) drawMarks(r paint.Row, l *Lane) {
	slices.SortStableFunc(l.marks, func(a, b mark) int {
		switch {
		case a.at != b.at || a.last == b.last:
			return cmp.Compare(a.at, b.at)
		case a.last:
			return 1
		}
		return -1
	})
	last, free := trace.Instant(-1), 0
	for _, m := range l.marks {
		col := p.Scale.column(m.at)
		if m.at == last {
			col = max(col, free)
		}
		r.Put(col, m.text, m.ink)
		last, free = m.at, col+len([]rune(m.text))
	}
}

// drawLabel writes into a bar what it means, if the bar shows nothing but itself where the words would stand.
func (p *Picture) drawLabel(r paint.Row, b *bar) {
	if b.label == "" {
		return
	}
	text := " " + b.label + " "
	n := len([]rune(text))
	from, to := p.Scale.column(b.from), min(p.Scale.column(b.to), len(r))
	run := 0
	for col := from; col < to; col++ {
		run++
		if r[col].Rune != p.Glyphs.Of(b.sign) || col%p.Scale.Panel == 0 {
			run = 0
		}
		if run == n+2 {
			r.Put(col-n, text, b.ink)
			return
		}
	}
}

// Axis paints the ticks, and where the scale is cut short.
func (p *Picture) Axis() paint.Row {
	r := paint.NewRow(p.Scale.Width)
	s := p.Scale
	for i, cut := range s.cut {
		if !cut {
			continue
		}
		text := string(p.Glyphs.Gap) + " " + wording.Precise(s.at[i+1].Sub(s.at[i])) + " " + string(p.Glyphs.Gap)
		if n := len([]rune(text)); s.col[i+1]-s.col[i] < n+2 {
			text = string(p.Glyphs.Gap)
		}
		n := len([]rune(text))
		col := (s.col[i] + s.col[i+1] - n) / 2
		if r.Fits(col, n) {
			r.Put(col, text, paint.Faint)
		}
	}
	for col := s.Panel; col < s.Width; col += s.Panel { // every panel says where it begins
		r.Put(col, string(p.Glyphs.Tick)+p.words(wording.Precise(s.moment(col).Sub(0))), paint.Faint)
	}
	for _, t := range s.ticks() {
		text := string(p.Glyphs.Tick) + p.words(wording.Brief(t))
		if col := s.column(t); r.Fits(col, len([]rune(text))) {
			r.Put(col, text, paint.Faint)
		}
	}
	return r
}

func (p *Picture) words(text string) string {
	if p.Glyphs.ASCII {
		return wording.PlainASCII(text)
	}
	return text
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
			same = same && (l.Name == laneTokens || p.DrawnAlike(l.Name, k, p.Drawn[run][i]))
		}
		if same {
			return k
		}
	}
	return -1
}

// DrawnAlike reports whether a row of another run looks the same.
func (p *Picture) DrawnAlike(name string, other int, r paint.Row) bool {
	for i := range p.Rows[other] {
		if l := &p.Rows[other][i]; l.Name == name {
			return slices.Equal(p.Drawn[other][i], r)
		}
	}
	return false
}

// Legend explains the signs that the pictures of these runs use.
func (p *Picture) Legend(run int) []string {
	g := p.Glyphs
	used := map[rune]bool{}
	for i := range p.Rows[run] {
		l := &p.Rows[run][i]
		if l.kind == timeline.LaneLevel { // it is of words and numbers
			used[g.TooFew] = used[g.TooFew] || l.threshold != nil
			changes := slices.ContainsFunc(p.Drawn[run][i], func(c paint.Cell) bool { return c.Rune == g.Changes })
			used[g.Changes] = used[g.Changes] || changes
			continue
		}
		for _, c := range p.Drawn[run][i] {
			if c.Rune != g.Granted || strings.HasSuffix(l.Name, tell.GrantLane("")) { // what lives for long looks like a grant
				used[c.Rune] = true
			}
		}
	}
	var list []string
	add := func(sign rune, meaning string) {
		if used[sign] {
			list = append(list, string(sign)+" "+meaning)
		}
	}
	add(g.Waits, "waits")
	add(g.Believes, "believes")
	add(g.Paused, "paused")
	add(g.Down, "down")
	add(g.Granted, "granted by the service")
	add(g.Lapsed, "believed but not granted")
	if slices.ContainsFunc(g.Levels[:7], func(r rune) bool { return used[r] }) {
		wedge := string(g.Levels[7]) + string(g.Levels[4]) + string(g.Levels[1])
		what := p.Runs[run].View.Servers().Entry()
		if p.Runs[run].View.Servers().Holds() == "session" {
			what = "session"
		}
		list = append(list, wedge+" the "+what+"'s time to live")
	}
	add(g.TooFew, "fewer than a majority")
	add(g.Changes, "changes")
	add(g.Expired, "expired")
	add(g.Deleted, "deleted")
	add(g.Travels, undecided(p.Runs[run].View))
	effects := p.effects(run)
	for _, sign := range []struct{ sign, meaning string }{
		{"R", "read"}, {"W", "write"}, {"C", "check"},
		{g.Accepted, "accepted"}, {g.Refused, "refused"}, {g.Harmful, "damage"}, {g.Unsure, "never done"},
	} {
		if strings.Contains(effects, sign.sign) {
			list = append(list, sign.sign+" "+sign.meaning)
		}
	}
	list = append(list, "time is stretched where labels need room")
	if p.skips(run) {
		list = append(list, "numbers that are missing are of the pictures below")
	}
	return list
}

// skips reports whether the list of a run leaves out numbers, which other runs of its schedule have.
func (p *Picture) skips(run int) bool {
	seen, last := map[int]bool{}, 0
	for i := range p.Runs[run].Moments {
		n := p.Runs[run].Moments[i].Number
		seen[n] = n > 0
		last = max(last, n)
	}
	for n := 1; n < last; n++ {
		if !seen[n] {
			return true
		}
	}
	return false
}

// effects is all that stands on the storage lanes of this run and of those that share its picture.
func (p *Picture) effects(run int) string {
	var b strings.Builder
	for _, lanes := range p.Rows[run:] {
		for i := range lanes {
			for k := range lanes[i].marks {
				if lanes[i].Name == tell.StorageLane {
					b.WriteString(lanes[i].marks[k].text)
				}
			}
		}
	}
	return b.String()
}
