package layout

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
)

// seen is what a reader sees on the lanes of a run.
type seen struct {
	signs   map[timeline.Sign]bool
	wedge   bool // a life of which some is over
	tooFew  bool // a number that may be below its threshold
	changes bool // a number that changes where there is no room for it
	hidden  []bool
}

// look notes what is seen of a lane: a bar is seen where no later bar and no mark stands over it.
func (p *Picture) look(s *seen, l *Lane) {
	if l.kind == timeline.LaneLevel {
		s.tooFew = s.tooFew || l.Threshold != nil
		s.changes = s.changes || slices.ContainsFunc(p.Said(l), func(text string) bool { return text == Changes })
		return
	}
	clear(s.hidden)
	columns := p.Columns(l)
	for i := range slices.Backward(l.Marks) {
		m := &l.Marks[i]
		if s.hide(columns[i], columns[i]+wording.Columns(m.Text), func(int) {}) && m.number == 0 && m.label == "" {
			s.signs[m.sign] = true
		}
	}
	for i := range slices.Backward(l.Bars) {
		b := &l.Bars[i]
		if b.Sign == timeline.SignTint {
			continue
		}
		from, to := p.Span(b)
		if b.Last != timeline.SignNone && s.hide(to, to+1, func(int) {}) {
			s.signs[b.Last] = true
		}
		if s.hide(from, to, func(col int) { s.wedge = s.wedge || p.falls(b, col) }) {
			s.signs[b.Sign] = true
		}
	}
}

// hide hides columns, calls see with those that were seen until now, and reports whether there were any.
func (s *seen) hide(from, to int, see func(col int)) (found bool) {
	for col := from; col < min(to, len(s.hidden)); col++ {
		if !s.hidden[col] {
			s.hidden[col], found = true, true
			see(col)
		}
	}
	return found
}

// falls reports whether a bar shows a life in a column of which some is over.
func (p *Picture) falls(b *Bar, col int) bool {
	if b.Sign != timeline.SignLife {
		return false
	}
	left, whole := b.Left(max(p.Scale.Moment(col), b.From))
	return whole > 0 && p.Glyphs.Level(left, whole) != p.Glyphs.Level(whole, whole)
}

// Legend explains the signs that the pictures of these runs use.
func (p *Picture) Legend(run int) []string {
	g, v := p.Glyphs, p.Runs[run].View
	s := &seen{signs: map[timeline.Sign]bool{}, hidden: make([]bool, p.Scale.Width)}
	for _, lanes := range p.Rows[run:] { // also of those that share its picture
		for i := range lanes {
			p.look(s, &lanes[i])
		}
	}
	var list []string
	add := func(used bool, sign, meaning string) {
		if used {
			list = append(list, sign+" "+meaning)
		}
	}
	sign := func(sign timeline.Sign, meaning string) { add(s.signs[sign], string(g.Of(sign)), meaning) }
	sign(timeline.SignWaits, "waits")
	sign(timeline.SignBelieves, "believes")
	sign(timeline.SignEnds, "believes no longer")
	sign(timeline.SignDies, "dies")
	sign(timeline.SignPaused, "paused")
	sign(timeline.SignDown, "down")
	sign(timeline.SignGranted, "granted by the service")
	sign(timeline.SignLapsed, "believed but not granted")
	what := v.Servers().Entry()
	if v.Servers().Holds() == "session" {
		what = "session"
	}
	add(s.wedge, string([]rune{g.Levels[7], g.Levels[4], g.Levels[1]}), "the "+what+"'s time to live")
	add(s.tooFew, string(g.TooFew), "fewer than a majority")
	add(s.changes, string(g.Changes), "changes")
	sign(timeline.SignExpired, "expired")
	sign(timeline.SignDeleted, "deleted")
	sign(timeline.SignTravels, undecided(v))
	sign(timeline.SignFated, "violated in all futures played")
	effects := p.effects(run)
	for _, e := range []struct{ sign, meaning string }{
		{"R", "read"}, {"W", "write"}, {"C", "check"},
		{g.Accepted, "accepted"}, {g.Refused, "refused"}, {g.Harmful, "damage"}, {g.Unsure, "never done"},
	} {
		add(strings.Contains(effects, e.sign), e.sign, e.meaning)
	}
	for _, who := range v.Scope.Holders {
		if client, task, several := strings.Cut(who, "/"); several && task != "0" {
			add(true, who, "task "+task+" of "+client+", counted over all lives of its process")
			break
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
			for k := range lanes[i].Marks {
				if lanes[i].Name == moments.StorageLane {
					b.WriteString(lanes[i].Marks[k].Text)
				}
			}
		}
	}
	return b.String()
}
