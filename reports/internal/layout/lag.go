package layout

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// lagLane shows how many writes of the lock a server has been sent by its master or leader, and has not received: with
// a failover they are lost. What takes no longer than anything else on the network is not counted.
func lagLane(v *model.View, node string) Lane {
	l := Lane{Name: laneLag(node), kind: timeline.LaneLevel, Node: node}
	var changes []change
	for _, m := range replicated(v, node) {
		if lags(v, node, m) {
			changes = append(changes, change{m.Sent, 1}, change{m.Received, -1})
		}
	}
	l.Levels = drawn(v, sum(changes, func(n int64) string { return wording.Counted(int(n), "write") }))
	return l
}

// lags reports whether a write is under way for long enough to be seen, or until its server has been promoted.
func lags(v *model.View, node string, m timeline.Message) bool {
	return min(m.Received, v.History.End)-m.Sent > (v.To-v.From)/50 || slices.ContainsFunc(v.Roles, func(e trace.Event) bool {
		return e.Does == trace.Promote && e.Node == node && m.Sent < e.At && e.At <= m.Received
	})
}

// replicated are the writes of the lock that were sent to a server by whom it follows. What never arrived is no longer
// missing from when the server is master itself, or has synchronised with one: Received is then that moment.
func replicated(v *model.View, node string) []timeline.Message {
	var list []timeline.Message
	synchronised := synchronised(v, node)
	for i := range v.Messages {
		m := v.Messages[i].Message
		if m.To != node || !m.Reply || !v.IsServer(m.From) || !writesLock(m.Purpose) {
			continue
		}
		followed := ""
		for _, s := range synchronised {
			if s.Received <= m.Sent {
				followed = s.From
			} else if s.Sent > m.Sent {
				m.Received = min(m.Received, s.Received)
			}
		}
		if followed == "" || followed == m.From {
			list = append(list, m)
		}
	}
	return list
}

// synchronised are the messages with which a server got what its master or leader has, and its own promotions: who
// leads lacks nothing.
func synchronised(v *model.View, node string) []timeline.Message {
	var list []timeline.Message
	for i := range v.Messages {
		m := v.Messages[i].Message
		if m.To == node && m.Received != trace.Never && synchronises(m.What) {
			list = append(list, m)
		}
	}
	for i := range v.Roles {
		if e := &v.Roles[i]; e.Does == trace.Promote && e.Node == node {
			list = append(list, timeline.Message{From: node, Sent: e.At, Received: e.At})
		}
	}
	slices.SortStableFunc(list, func(a, b timeline.Message) int { return cmp.Compare(a.Received, b.Received) })
	return list
}

// synchronises reports whether a server has what its master or leader has when it has received such a message.
func synchronises(what string) bool {
	return slices.Contains([]string{"FULLRESYNC", "CONTINUE", "NEWLEADER", "UPTODATE"}, what)
}
