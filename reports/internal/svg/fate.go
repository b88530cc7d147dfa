package svg

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// fate is what became of a message.
type fate int

const (
	arrived  fate = iota
	lost          // nobody will ever receive it
	waits         // on a link that is stalled until the run ends
	underway      // the run ended before it could arrive
)

// String says it of a message that did not arrive, behind the message's name.
func (f fate) String() string {
	return [...]string{arrived: "arrived", lost: "lost", waits: "waits", underway: "on its way"}[f]
}

func (p *panel) fateOf(m *timeline.Message) fate {
	switch {
	case m.Received != trace.Never:
		return arrived
	case m.Late && p.stalled(m.Sent):
		return waits
	case m.OnItsWay:
		return underway
	default:
		return lost
	}
}

// stalled reports whether what was sent on some link at a moment or before still waits there when the run ends.
func (p *panel) stalled(sent trace.Instant) bool {
	end := min(p.axis.To, p.schedule.End)
	holds := func(b timeline.Bar) bool { return b.Label == "stalled" && sent < b.To && b.To >= end }
	return slices.ContainsFunc(p.run.Lanes, func(l timeline.Lane) bool {
		return l.Kind == timeline.LaneNetwork && slices.ContainsFunc(l.Bars, holds)
	})
}

// isClient reports whether a node is a client: it believes something, or would if it had a lane.
func (p *panel) isClient(node string) bool {
	believes := func(l timeline.Lane) bool {
		owner, _, _ := strings.Cut(l.Node, "/") // of a task: its client
		return l.Kind == timeline.LaneBelief && owner == node
	}
	return slices.ContainsFunc(p.run.Lanes, believes) || slices.Contains(p.schedule.More.Clients, node)
}

// message is what the picture calls a message whose lanes do not tell: of an answer what it answers, of what a server
// passes on whom to.
func (p *panel) message(a arrow) string {
	what := wording.Visible(a.What)
	switch {
	case a.answers:
		return "answer to " + what
	case a.Reply:
		return what + " to " + wording.Visible(a.To)
	default:
		return what
	}
}
