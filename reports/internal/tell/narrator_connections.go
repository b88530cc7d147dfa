package tell

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// unnoticed says that a database still keeps what a dead client held by its connection, which is the client's own without a pooler; "" of
// other entries.
func (t *narrator) unnoticed(c *history.Copy, who string) string {
	if t.v.Servers().Holds() != "connection" || t.v.Servers().Pool > 0 || c.Expires != trace.Never {
		return ""
	}
	return ": " + c.Node + " does not know that " + who + "'s connection is dead"
}

// deadConnection says the same of a client whose machine has lost its power, where no entry shows what keeps out the one whose last request is
// not answered; "" if there is none, or if servers look for dead connections.
func (t *narrator) deadConnection(w *history.Wait) string {
	s := t.v.Servers()
	var last *model.Sent
	for i := range t.v.Messages {
		if m := &t.v.Messages[i]; !m.Reply && m.From == w.Client && t.v.IsServer(m.To) && w.From <= m.Sent && m.Sent <= t.until {
			last = m
		}
	}
	if s.Holds() != "connection" || s.Pool > 0 || s.KeepAlive > 0 || s.IdleTimeout > 0 || last == nil || last.Executed > t.until || t.v.Answered(last) <= t.until {
		return ""
	}
	for i := range t.v.Faults {
		f := &t.v.Faults[i]
		dies := f.Kind == sim.Crash && f.Of != nil && f.Of.Action.Host && f.Begin < last.Sent
		if dies && slices.ContainsFunc(t.v.Messages, func(m model.Sent) bool {
			return !m.Reply && m.From == f.Node && m.To == last.To && m.Executed != trace.Never && m.Sent < f.Begin
		}) {
			return last.To + " does not know that the connection of " + f.Node + " is dead, and "
		}
	}
	return ""
}
