package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Rows for numbers that change: how many servers have a client's key, how far a replica is behind, who leads, how wrong
// a clock is, the largest token that the resource has seen.

func laneVotes(who string) string  { return who + " votes" }
func laneLag(node string) string   { return node + " lag" }
func laneClock(node string) string { return node + " clock" }

const (
	laneLeads  = "leads"
	laneTokens = "max token"
)

// change is by how much a number changes at a moment.
type change struct {
	at trace.Instant
	by int64
}

// sum is what a number is after each of its changes, in words too unless it is nothing.
func sum(changes []change, text func(int64) string) []Level {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var list []Level
	n := int64(0)
	for i, c := range changes {
		n += c.by
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		if last := len(list) - 1; last < 0 && n != 0 || last >= 0 && list[last].Value != n {
			list = append(list, Level{c.at, n, ""})
			if n != 0 {
				list[last+1].Text = text(n)
			}
		}
	}
	return list
}

// drawn is the part of levels that is drawn: the last one before it becomes its first.
func (v *view) drawn(levels []Level) []Level {
	var list []Level
	for _, l := range levels {
		if l.At > v.to {
			break
		}
		if l.At = max(l.At, v.from); len(list) > 0 && list[len(list)-1].At == l.At {
			list = list[:len(list)-1]
		}
		list = append(list, l)
	}
	return list
}

// votesLane shows how many servers have a client's key, where a majority of them grants the lock.
func (v *view) votesLane(who string, k ink) lane {
	l := lane{name: laneVotes(who), kind: LaneLevel, node: who, ink: k}
	servers := v.servers().Masters
	if !v.votes() {
		return l
	}
	var changes []change
	for i := range v.h.Copies {
		if c := &v.h.Copies[i]; v.holder(c.Acquisition, c.Client) == who && c.From < c.To {
			changes = append(changes, change{c.From, 1}, change{c.To, -1})
		}
	}
	l.levels = v.drawn(sum(changes, func(n int64) string { return fmt.Sprintf("%d of %d", n, servers) }))
	majority := int64(servers/2 + 1)
	l.threshold = &Level{v.from, majority, fmt.Sprintf("majority %d", majority)}
	return l
}

// votes reports whether clients ask several servers that know nothing of each other.
func (v *view) votes() bool {
	s := v.servers()
	if s.Kind != "redis" || s.Masters < 2 || s.Cluster {
		return false
	}
	asked := map[history.ID]string{}
	return slices.ContainsFunc(v.h.Asks, func(a history.Ask) bool {
		node, known := asked[a.Acquisition]
		asked[a.Acquisition] = a.Node
		return known && node != a.Node
	})
}

// tokensLane shows the largest token that the resource has seen, if several came to it.
func (v *view) tokensLane() lane {
	l := lane{name: laneTokens, kind: LaneLevel}
	var seen []*history.Access
	for i := range v.h.Accesses {
		if a := &v.h.Accesses[i]; a.Applied != trace.Never {
			seen = append(seen, a)
		}
	}
	slices.SortStableFunc(seen, func(a, b *history.Access) int { return cmp.Compare(a.Applied, b.Applied) })
	var levels []Level
	largest := uint64(0)
	for _, a := range seen {
		token := a.MaxToken
		if !v.h.Fencing.NeedsToken() {
			token = a.Token // it is not compared, but there it is
		}
		if token > largest {
			largest = token
			levels = append(levels, Level{a.Applied, int64(largest), tokenText(largest)})
		}
	}
	if slices.ContainsFunc(seen, func(a *history.Access) bool { return a.Token != seen[0].Token }) {
		l.levels = v.drawn(levels)
	}
	return l
}

// rivals are the places of a lane on which several lead at once: these need room to be named, however short it was.
func (l *lane) rivals() []stop {
	if l.name != laneLeads || !slices.ContainsFunc(l.levels, func(l Level) bool { return l.Value > 1 }) {
		return nil
	}
	list := make([]stop, len(l.levels))
	for i, level := range l.levels {
		list[i] = stop{level.At, 1}
		if level.Value > 1 {
			list[i].width = min(Columns(level.Text)+2, mostRivalColumns)
		}
	}
	return list
}

// jumps reports whether a level is the same until it changes, and all that shows a change is what is written there: a
// clock drifts, tokens change with every grant, and votes have their threshold.
func (l *lane) jumps() bool {
	return l.threshold == nil && l.name != laneClock(l.node) && l.name != laneTokens
}

// mostRivalColumns is the most room that names of those who lead at once may take.
const mostRivalColumns = 24

// drawLevels writes what a number is where it changes, if there is room, and goes on with a line: a broken one where
// the number is too small.
func (p *picture) drawLevels(r row, l *lane) {
	said := "" // what stands there already
	for i := range l.levels {
		level := &l.levels[i]
		if level.Text == "" {
			said = ""
			continue
		}
		from := p.scale.column(level.At)
		to, room := p.scale.column(p.scale.at[len(p.scale.at)-1])+1, len(r)
		if i+1 < len(l.levels) {
			to = p.scale.column(l.levels[i+1].At)
			room = to
		}
		if !isNumber(level.Text) {
			room = p.free(r, l.levels[i+1:])
		}
		room = min(room, from-from%p.scale.panel+p.scale.panel) - from
		line := p.g.enough
		if l.threshold != nil && level.Value < l.threshold.Value {
			line = p.g.tooFew
		}
		for col := from; col < to; col++ {
			r[col] = cell{line, l.ink}
		}
		if text := fitting(p.words(level.Text), room); text != "" && text != said {
			r.put(from, text, l.ink)
			said = text
		} else if text == "" && i > 0 && l.jumps() && level.Text != said {
			r.put(from, string(p.g.changes), l.ink)
			said = ""
		}
	}
}

// free is how far a name may reach into the emptiness behind it.
func (p *picture) free(r row, levels []Level) int {
	i := slices.IndexFunc(levels, func(l Level) bool { return l.Text != "" })
	if i < 0 {
		return len(r)
	}
	return p.scale.column(levels[i].At)
}

// fitting is a text, or if there is no room for it and some of the line its first word if that has a number, or
// nothing.
func fitting(text string, room int) string {
	first, _, _ := strings.Cut(text, " ")
	switch {
	case Columns(text) < room:
		return text
	case Columns(first) < room && strings.ContainsAny(first, digits):
		return first
	}
	return ""
}

const digits = "0123456789"

func isNumber(text string) bool { return strings.IndexAny(text, "+-"+digits) == 0 }
