package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// lagLane shows how many writes of the lock a server has been sent by its master or leader, and has not received: with
// a failover they are lost. What takes no longer than anything else on the network is not counted.
func (v *view) lagLane(node string) lane {
	l := lane{name: laneLag(node), kind: LaneLevel, node: node}
	var changes []change
	for _, m := range v.replicated(node) {
		if v.lags(node, m) {
			changes = append(changes, change{m.Sent, 1}, change{m.Received, -1})
		}
	}
	l.levels = v.drawn(sum(changes, func(n int64) string { return counted(int(n), "write") }))
	return l
}

// lags reports whether a write is under way for long enough to be seen, or until its server has been promoted.
func (v *view) lags(node string, m Message) bool {
	return min(m.Received, v.h.End)-m.Sent > (v.to-v.from)/50 || slices.ContainsFunc(v.roles, func(e trace.Event) bool {
		return e.Does == trace.Promote && e.Node == node && m.Sent < e.At && e.At <= m.Received
	})
}

// replicated are the writes of the lock that were sent to a server by whom it follows. What never arrived is no longer
// missing from when the server is master itself, or has synchronised with one: Received is then that moment.
func (v *view) replicated(node string) []Message {
	var list []Message
	synchronised := v.synchronised(node)
	for i := range v.all {
		m := v.all[i].Message
		if m.To != node || !m.Reply || !v.isServer(m.From) || !writesLock(m.Purpose) {
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
func (v *view) synchronised(node string) []Message {
	var list []Message
	for i := range v.all {
		m := v.all[i].Message
		if m.To == node && m.Received != trace.Never && synchronises(m.What) {
			list = append(list, m)
		}
	}
	for i := range v.roles {
		if e := &v.roles[i]; e.Does == trace.Promote && e.Node == node {
			list = append(list, Message{From: node, Sent: e.At, Received: e.At})
		}
	}
	slices.SortStableFunc(list, func(a, b Message) int { return cmp.Compare(a.Received, b.Received) })
	return list
}

func (v *view) isServer(name string) bool { return slices.Contains(v.names, name) }

// writesLock reports whether a message of that purpose changes the lock.
func writesLock(purpose string) bool {
	return purpose == "acquire" || purpose == "renew" || purpose == "release"
}

// synchronises reports whether a server has what its master or leader has when it has received such a message.
func synchronises(what string) bool {
	return slices.Contains([]string{"FULLRESYNC", "CONTINUE", "NEWLEADER", "UPTODATE"}, what)
}
