package tell

import (
	"fmt"
	"slices"
	"strconv"

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
	if s.Holds() != "connection" || s.Pool > 0 || s.KeepAlive > 0 || s.IdleTimeout > 0 || last == nil || last.Executed > t.until || t.repliedTo(last) {
		return ""
	}
	for i := range t.v.Faults {
		f := &t.v.Faults[i]
		dies := f.Kind == sim.Crash && f.Of != nil && f.Of.Action.Host && f.Begin < last.Sent
		if dies && t.leavesOpen(f, last.To) {
			return last.To + " does not know that the connection of " + f.Node + " is dead, and "
		}
	}
	return ""
}

// repliedTo reports whether a server has answered a request, though that may be lost: it was not kept waiting then.
func (t *narrator) repliedTo(m *model.Sent) bool {
	return m.Answer >= 0 && t.v.Messages[m.Answer].Sent <= t.until
}

// leavesOpen reports whether the last request of a client that dies, which the server executed, was none that gives back what it has locked.
func (t *narrator) leavesOpen(f *model.Fault, server string) bool {
	for i := range slices.Backward(t.v.Messages) {
		m := &t.v.Messages[i]
		if !m.Reply && m.From == f.Node && m.To == server && m.Executed <= f.Begin {
			return m.Purpose != trace.ToRelease && m.What != "COMMIT" && m.What != "ROLLBACK"
		}
	}
	return false
}

// heldTwice says that a client took a lock of its connection or session more than once, which counts its holds, and gave back fewer of
// them; "" if not, or where servers do not count them. What has stayed though its release succeeded is counted.
func (t *narrator) heldTwice(a *history.Acquisition, c *history.Copy, who string) string {
	holds := t.v.Servers().Holds()
	kept := holds == "connection" && c.Expires == trace.Never || holds == "session" && a.Release == history.OK
	if !t.v.Servers().Facts().Counts || !kept {
		return ""
	}
	done := func(list []*model.Sent) (what string, n int) { // as the last of them, which succeeded
		said := ""
		for _, m := range slices.Backward(list) {
			if m.To == c.Node && m.Executed == c.From && t.v.Answered(m) == trace.Never && m.What == what {
				n++ // which has made the entry
			}
			if m.To != c.Node || t.v.Answered(m) > t.until {
				continue
			}
			if answer := t.v.Messages[m.Answer].Detail; said == "" || said == answer && m.What == what {
				said, what = answer, m.What
				n++
			}
		}
		return what, n
	}
	took, times := done(t.requests(a, a.Invoked, a.Returned, trace.ToAcquire))
	gave, back := done(t.requests(a, a.Unlocked, min(a.Released, t.until), trace.ToRelease))
	if times < 2 || back >= times || gave == "" {
		return ""
	}
	t.wrong(took, "is sent again")
	return fmt.Sprintf("%s has taken it %s (%s), which its %s counts, and gives it back %s (%s)", who, often(times), took, holds, often(back), gave)
}

// often says how many times.
func often(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}
