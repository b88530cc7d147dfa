package export

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

// handled is how long the slice of what takes no time is, if there is room before the next one: a flow begins and ends
// in slices.
const handled trace.Instant = 1000

// turn is what one node sends and receives at one moment.
type turn struct {
	node string
	at   trace.Instant
	text string
}

// messages are flows from a slice of the sender to one of the receiver. What one node sends and receives at one moment is
// one slice. A message that never arrives is a moment of its sender.
func (c *chrome) messages(list []timeline.Message) {
	turns := turnsOf(list)
	for i := range turns {
		t := &turns[i]
		until := t.at + handled
		if i+1 < len(turns) && turns[i+1].node == t.node {
			until = min(until, turns[i+1].at)
		}
		c.slice(t.node, "messages", t.at, until, t.text, "message")
	}
	for i := range list {
		m := &list[i]
		if m.Received == trace.Never {
			words := " never arrives at "
			if m.OnItsWay {
				words = " is on its way when the run ends, to "
			}
			c.instant(m.From, "messages", m.Sent, wordsOf(m)+words+m.To, "message", "t")
			continue
		}
		c.flow(m)
	}
}

// turnsOf are the turns of all nodes: by node, within each by time.
func turnsOf(list []timeline.Message) []turn {
	var turns []turn
	for i := range list {
		m := &list[i]
		turns = append(turns, turn{m.From, m.Sent, "sends " + wordsOf(m)})
		if m.Received != trace.Never {
			turns = append(turns, turn{m.To, m.Received, "receives " + wordsOf(m)})
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.at, b.at))
	})
	joined := turns[:0]
	for _, t := range turns {
		if n := len(joined) - 1; n >= 0 && joined[n].node == t.node && joined[n].at == t.at {
			joined[n].text += ", " + t.text
			continue
		}
		joined = append(joined, t)
	}
	return joined
}

func wordsOf(m *timeline.Message) string {
	text := m.What
	if m.Purpose != "" && m.Purpose != m.What {
		text += " (" + m.Purpose + ")"
	}
	if m.Reply {
		return "the answer to " + text
	}
	return text
}

// flow draws an arrow from one slice to another. What it carries stands at its beginning: viewers merge both ends.
func (c *chrome) flow(m *timeline.Message) {
	c.flows++
	from, to := c.process(m.From), c.process(m.To)
	e := event{
		Name: wordsOf(m), Cat: "message", Phase: phaseFlow, ID: strconv.Itoa(c.flows), At: micro(m.Sent), Pid: from.pid,
		Tid: from.track("messages").tid, Args: &arguments{Text: m.Detail, From: m.From, To: m.To},
	}
	c.events = append(c.events, e)
	e.Phase, e.Bind, e.At, e.Pid, e.Tid, e.Args = phaseFlowEnds, "e", micro(m.Received), to.pid, to.track("messages").tid, nil
	c.events = append(c.events, e)
}

// track returns the first track of that name.
func (p *processTracks) track(name string) *track {
	i := slices.IndexFunc(p.tracks, func(t *track) bool { return t.name == name })
	return p.tracks[i]
}
