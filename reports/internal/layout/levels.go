package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Rows for numbers that change: how many servers have a client's key, how far a replica is behind, who leads, how wrong
// a clock is, the largest token that the resource has seen.

func laneVotes(who string) string { return who + " votes" }

func laneLag(node string) string { return node + " lag" }

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
func sum(changes []change, text func(int64) string) []timeline.Level {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var list []timeline.Level
	n := int64(0)
	for i, c := range changes {
		n += c.by
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		if last := len(list) - 1; last < 0 && n != 0 || last >= 0 && list[last].Value != n {
			list = append(list, timeline.Level{At: c.at, Value: n, Text: ""})
			if n != 0 {
				list[last+1].Text = text(n)
			}
		}
	}
	return list
}

// drawn is the part of levels that is drawn: the last one before it becomes its first.
func drawn(v *model.View, levels []timeline.Level) []timeline.Level {
	var list []timeline.Level
	for _, l := range levels {
		if l.At > v.To {
			break
		}
		if l.At = max(l.At, v.From); len(list) > 0 && list[len(list)-1].At == l.At {
			list = list[:len(list)-1]
		}
		list = append(list, l)
	}
	return list
}

// votesLane shows how many servers have a client's key, where a majority of them grants the lock.
func votesLane(v *model.View, who string, k paint.Ink) Lane {
	l := Lane{Name: laneVotes(who), kind: timeline.LaneLevel, Node: who, Ink: k}
	servers := v.Servers().Masters
	if !v.Votes() {
		return l
	}
	var changes []change
	for i := range v.History.Copies {
		if c := &v.History.Copies[i]; v.Holder(c.Acquisition, c.Client) == who && c.From < c.To {
			changes = append(changes, change{c.From, 1}, change{c.To, -1})
		}
	}
	l.Levels = drawn(v, sum(changes, func(n int64) string { return fmt.Sprintf("%d of %d", n, servers) }))
	majority := int64(servers/2 + 1)
	l.Threshold = &timeline.Level{At: v.From, Value: majority, Text: fmt.Sprintf("majority %d", majority)}
	return l
}

// tokensLane shows the largest token that the resource of a lock has seen, if several came to it.
func tokensLane(v *model.View, lock string) Lane {
	l := Lane{Name: moments.KeyLane(laneTokens, lock), kind: timeline.LaneLevel}
	var seen []*history.Access
	accesses := v.History.Accesses
	if lock != "" {
		accesses = v.History.AccessesOf(lock)
	}
	for i := range accesses {
		if a := &accesses[i]; a.Applied != trace.Never {
			seen = append(seen, a)
		}
	}
	slices.SortStableFunc(seen, func(a, b *history.Access) int { return cmp.Compare(a.Applied, b.Applied) })
	var levels []timeline.Level
	largest := uint64(0)
	for _, a := range seen {
		token := a.MaxToken
		if !v.History.Fencing.NeedsToken() {
			token = a.Token // it is not compared, but there it is
		}
		if token > largest {
			largest = token
			levels = append(levels, timeline.Level{At: a.Applied, Value: int64(largest), Text: wording.TokenText(largest)})
		}
	}
	if slices.ContainsFunc(seen, func(a *history.Access) bool { return a.Token != seen[0].Token }) {
		l.Levels = drawn(v, levels)
	}
	return l
}

// rivals are the places of a lane on which several lead at once: these need room to be named, however short it was.
func (l *Lane) rivals() []stop {
	if l.Name != laneLeads || !slices.ContainsFunc(l.Levels, func(l timeline.Level) bool { return l.Value > 1 }) {
		return nil
	}
	list := make([]stop, len(l.Levels))
	for i, level := range l.Levels {
		list[i] = stop{level.At, 1}
		if level.Value > 1 {
			list[i].width = min(wording.Columns(level.Text)+2, mostRivalColumns)
		}
	}
	return list
}

// jumps reports whether a level is the same until it changes, and all that shows a change is what is written there: a
// clock drifts, tokens change with every grant, and votes have their threshold.
func (l *Lane) jumps() bool {
	return l.Threshold == nil && l.Name != laneClock(l.Node) && !strings.HasPrefix(l.Name, laneTokens)
}

// mostRivalColumns is the most room that names of those who lead at once may take.
const mostRivalColumns = 24

// Changes stands where a number changes and has no room.
const Changes = "\x00"

// Said is what stands where the number of a lane changes: the number if there is room for it, else that it changes, or
// nothing.
func (p *Picture) Said(l *Lane) []string {
	list := make([]string, len(l.Levels))
	said := "" // what stands there already
	for i := range l.Levels {
		level := &l.Levels[i]
		if level.Text == "" {
			said = ""
			continue
		}
		from, room := p.Scale.Column(level.At), p.Scale.Width
		if next := l.Levels[i+1:]; !isNumber(level.Text) {
			room = p.free(next)
		} else if len(next) > 0 {
			room = p.Scale.Column(next[0].At)
		}
		room = min(room, from-from%p.Scale.Panel+p.Scale.Panel) - from
		if text := fitting(p.Words(level.Text), room); text != "" && text != said {
			list[i], said = text, text
		} else if text == "" && i > 0 && l.jumps() && level.Text != said {
			list[i], said = Changes, ""
		}
	}
	return list
}

// free is how far a name may reach into the emptiness behind it.
func (p *Picture) free(levels []timeline.Level) int {
	i := slices.IndexFunc(levels, func(l timeline.Level) bool { return l.Text != "" })
	if i < 0 {
		return p.Scale.Width
	}
	return p.Scale.Column(levels[i].At)
}

// fitting is a text, or if there is no room for it and some of the line its first word if that has a number, or
// nothing.
func fitting(text string, room int) string {
	first, _, _ := strings.Cut(text, " ")
	switch {
	case wording.Columns(text) < room:
		return text
	case wording.Columns(first) < room && strings.ContainsAny(first, digits):
		return first
	}
	return ""
}

const digits = "0123456789"

func isNumber(text string) bool { return strings.IndexAny(text, "+-"+digits) == 0 }
