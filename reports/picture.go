package reports

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/trace"
)

// picture is the timeline of one schedule, which several runs may share: the same case under several fencing modes.
type picture struct {
	runs  []*narrative // with moments that are numbered alike
	rows  [][]lane     // the lanes of each run
	drawn [][]row      // what stands on them
	scale *scale
	g     *glyphs
	label int // width of the names of the lanes
	color bool
	more  int // moments without a number
}

func newPicture(runs []Run, width int, color bool, g *glyphs) *picture {
	p := &picture{g: g, color: color}
	runs = keptTogether(runs)
	s := newScope(runs)
	for i := range runs {
		p.runs = append(p.runs, newNarrative(newView(&runs[i], s), g, i > 0))
	}
	p.runs[0].cite()
	p.number()
	p.layOut(width)
	if p.scale.width > thinPanels*p.scale.panel {
		p.thin()
		p.layOut(width)
	}
	for _, lanes := range p.rows {
		drawn := make([]row, len(lanes))
		for i := range lanes {
			drawn[i] = p.draw(&lanes[i])
		}
		p.drawn = append(p.drawn, drawn)
	}
	return p
}

// thinPanels is how often a picture may start again on the left before what has no number is left out of it.
const thinPanels = 2

// layOut builds the lanes, and a scale on which they have room.
func (p *picture) layOut(width int) {
	p.rows, p.label = nil, 0
	var stops [][]stop
	for _, told := range p.runs {
		lanes := told.lanes()
		p.rows = append(p.rows, lanes)
		for k := range lanes {
			stops = append(stops, lanes[k].stops())
			p.label = max(p.label, Columns(lanes[k].heading()))
		}
	}
	p.label = min(p.label, 20)
	s := p.runs[0].v.scope
	p.scale = newScale(max(width-p.label-2, 20), s.from, max(s.to, s.from+1), stops, p.idle)
}

// thin forgets the moments without a number.
func (p *picture) thin() {
	for _, told := range p.runs {
		told.moments = slices.DeleteFunc(told.moments, func(m moment) bool { return m.number == 0 })
	}
}

// idle reports whether nothing goes on in a stretch of time, in any of the runs.
func (p *picture) idle(from, to trace.Instant) bool {
	for _, lanes := range p.rows {
		for i := range lanes {
			for k := range lanes[i].bars {
				b := &lanes[i].bars[k]
				if !b.quiet && b.sign != SignTint && b.from < to && b.to > from {
					return false
				}
			}
		}
	}
	return true
}

// draw paints one lane.
func (p *picture) draw(l *lane) row {
	r := newRow(p.scale.width)
	for i := range l.bars {
		b := &l.bars[i]
		from, to := p.scale.column(b.from), p.scale.column(b.to)
		if to == from {
			to++
		}
		for col := from; col < to && col < len(r); col++ {
			switch b.sign {
			case SignTint:
				if r[col].r != ' ' && r[col].ink != faint {
					r[col].ink = b.ink
				}
			case SignLife:
				r[col] = cell{b.levelAt(p.g, max(p.scale.moment(col), b.from)), b.ink}
			default:
				r[col] = cell{p.g.of(b.sign), b.ink}
			}
		}
		if b.last != SignNone && to < len(r) {
			r[to] = cell{p.g.of(b.last), b.ink}
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
func (p *picture) drawMarks(r row, l *lane) {
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
		col := p.scale.column(m.at)
		if m.at == last {
			col = max(col, free)
		}
		r.put(col, m.text, m.ink)
		last, free = m.at, col+len([]rune(m.text))
	}
}

// drawLabel writes into a bar what it means, if the bar shows nothing but itself where the words would stand.
func (p *picture) drawLabel(r row, b *bar) {
	if b.label == "" {
		return
	}
	text := " " + b.label + " "
	n := len([]rune(text))
	from, to := p.scale.column(b.from), min(p.scale.column(b.to), len(r))
	run := 0
	for col := from; col < to; col++ {
		run++
		if r[col].r != p.g.of(b.sign) || col%p.scale.panel == 0 {
			run = 0
		}
		if run == n+2 {
			r.put(col-n, text, b.ink)
			return
		}
	}
}

// axis paints the ticks, and where the scale is cut short.
func (p *picture) axis() row {
	r := newRow(p.scale.width)
	s := p.scale
	for i, cut := range s.cut {
		if !cut {
			continue
		}
		text := string(p.g.gap) + " " + Precise(s.at[i+1].Sub(s.at[i])) + " " + string(p.g.gap)
		if n := len([]rune(text)); s.col[i+1]-s.col[i] < n+2 {
			text = string(p.g.gap)
		}
		n := len([]rune(text))
		col := (s.col[i] + s.col[i+1] - n) / 2
		if r.fits(col, n) {
			r.put(col, text, faint)
		}
	}
	for col := s.panel; col < s.width; col += s.panel { // every panel says where it begins
		r.put(col, string(p.g.tick)+p.words(Precise(s.moment(col).Sub(0))), faint)
	}
	for _, t := range s.ticks() {
		text := string(p.g.tick) + p.words(brief(t))
		if col := s.column(t); r.fits(col, len([]rune(text))) {
			r.put(col, text, faint)
		}
	}
	return r
}

func (p *picture) words(text string) string {
	if p.g.ascii {
		return PlainASCII(text)
	}
	return text
}

// write prints the picture of one run; like is the run whose rows need not be shown again, or -1.
func (p *picture) write(out *strings.Builder, run, like int) {
	type line struct {
		name string
		ink  ink
		row  row
	}
	lines := []line{{"", faint, p.axis()}}
	for i := range p.rows[run] {
		l := &p.rows[run][i]
		r := p.drawn[run][i]
		if r.blank() {
			continue
		}
		if like >= 0 && p.drawnAlike(l.name, like, r) {
			continue
		}
		lines = append(lines, line{p.nameOf(l), l.ink, r})
	}
	for from := 0; from < p.scale.width; from += p.scale.panel {
		if from > 0 {
			out.WriteString("\n")
		}
		for i, l := range lines {
			part := l.row[from:min(from+p.scale.panel, len(l.row))]
			if part.blank() && i > 0 && p.scale.width > p.scale.panel {
				continue
			}
			out.WriteString(inked(p.color, l.ink, Pad(l.name, p.label)))
			out.WriteString(" " + string(p.g.bar))
			out.WriteString(part.text(p.color))
			out.WriteString("\n")
		}
	}
}

// nameOf is what stands before a lane. Of a long one the name of the node is cut, never what the lane is about.
func (p *picture) nameOf(l *lane) string {
	name := l.heading()
	about, of := strings.CutPrefix(name, l.node)
	if Columns(name) <= p.label || !of || l.node == "" || Columns(about)+Columns(p.g.ellipsis) >= p.label {
		return cutTo(name, p.label)
	}
	return cutTo(l.node, p.label-Columns(about)-Columns(p.g.ellipsis)) + p.g.ellipsis + about
}

// told is the set of lines that a run's list of events has.
func (p *picture) told(run int) map[string]bool {
	lines := map[string]bool{}
	for i := range p.runs[run].moments {
		if m := &p.runs[run].moments[i]; m.number > 0 {
			lines[m.line()] = true
		}
	}
	return lines
}

// line tells a moment apart from what else may have happened at its place.
func (m *moment) line() string { return strconv.Itoa(m.number) + m.who + m.text }

// twinOf returns an earlier run that went just as this one did; -1 if there is none.
func (p *picture) twinOf(run int) int {
	for k := range run {
		same := maps.Equal(p.told(k), p.told(run)) && len(p.rows[k]) == len(p.rows[run])
		for i := range p.rows[run] {
			l := &p.rows[run][i]
			same = same && (l.name == laneTokens || p.drawnAlike(l.name, k, p.drawn[run][i]))
		}
		if same {
			return k
		}
	}
	return -1
}

// drawnAlike reports whether a row of another run looks the same.
func (p *picture) drawnAlike(name string, other int, r row) bool {
	for i := range p.rows[other] {
		if l := &p.rows[other][i]; l.name == name {
			return slices.Equal(p.drawn[other][i], r)
		}
	}
	return false
}

// legend explains the signs that the pictures of these runs use.
func (p *picture) legend(run int) []string {
	g := p.g
	used := map[rune]bool{}
	for i := range p.rows[run] {
		l := &p.rows[run][i]
		if l.kind == LaneLevel { // it is of words and numbers
			used[g.tooFew] = used[g.tooFew] || l.threshold != nil
			changes := slices.ContainsFunc(p.drawn[run][i], func(c cell) bool { return c.r == g.changes })
			used[g.changes] = used[g.changes] || changes
			continue
		}
		for _, c := range p.drawn[run][i] {
			if c.r != g.granted || strings.HasSuffix(l.name, laneTruth("")) { // what lives for long looks like a grant
				used[c.r] = true
			}
		}
	}
	var list []string
	add := func(sign rune, meaning string) {
		if used[sign] {
			list = append(list, string(sign)+" "+meaning)
		}
	}
	add(g.waits, "waits")
	add(g.believes, "believes")
	add(g.paused, "paused")
	add(g.down, "down")
	add(g.granted, "granted by the service")
	add(g.lapsed, "believed but not granted")
	if slices.ContainsFunc(g.levels[:7], func(r rune) bool { return used[r] }) {
		wedge := string(g.levels[7]) + string(g.levels[4]) + string(g.levels[1])
		what := p.runs[run].v.servers().Entry()
		if p.runs[run].v.servers().Holds() == "session" {
			what = "session"
		}
		list = append(list, wedge+" the "+what+"'s time to live")
	}
	add(g.tooFew, "fewer than a majority")
	add(g.changes, "changes")
	add(g.expired, "expired")
	add(g.deleted, "deleted")
	add(g.travels, p.runs[run].v.undecided())
	effects := p.effects(run)
	for _, sign := range []struct{ sign, meaning string }{
		{"R", "read"}, {"W", "write"}, {"C", "check"},
		{g.accepted, "accepted"}, {g.refused, "refused"}, {g.harmful, "damage"}, {g.unsure, "never done"},
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
func (p *picture) skips(run int) bool {
	seen, last := map[int]bool{}, 0
	for i := range p.runs[run].moments {
		n := p.runs[run].moments[i].number
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
func (p *picture) effects(run int) string {
	var b strings.Builder
	for _, lanes := range p.rows[run:] {
		for i := range lanes {
			for k := range lanes[i].marks {
				if lanes[i].name == laneStorage {
					b.WriteString(lanes[i].marks[k].text)
				}
			}
		}
	}
	return b.String()
}
