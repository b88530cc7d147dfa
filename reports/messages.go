package reports

import (
	"cmp"
	"path"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// sent is a message as it travelled.
type sent struct {
	Message
	executed trace.Instant // by a server; Never if it was not
	answer   int           // where in the list its reply is; -1 if it has none
}

// answered is when the answer to a request was received; Never if it was not.
func (v *view) answered(m *sent) trace.Instant {
	if m.answer < 0 {
		return trace.Never
	}
	return v.all[m.answer].Received
}

// conversation is what two nodes said of one thing, in the order in which they said it.
type conversation struct{ server, client, what, purpose string }

// messagesOf are all messages of a run, in the order in which they were sent, and which replies are of which requests:
// on a connection servers answer in the order in which they were asked.
func messagesOf(r *Run) []sent {
	last, count := uint64(0), 0
	for i := range r.Events {
		if e := &r.Events[i]; e.Msg != 0 && (e.Does == trace.Send || e.Does == trace.Reply) {
			last, count = max(last, e.Msg), count+1
		}
	}
	place := make([]int, last+1) // of a message in the list, from 1, by what links its steps
	asked := map[conversation][]int{}
	list := make([]sent, 0, count)
	for i := range r.Events {
		e := &r.Events[i]
		switch {
		case e.Msg == 0:
		case e.Does == trace.Send || e.Does == trace.Reply:
			place[e.Msg] = len(list) + 1
			about := conversation{e.Node, e.Peer, e.What, e.Alt}
			if open := asked[about]; e.Does == trace.Reply && len(open) > 0 {
				list[open[0]].answer = len(list)
				asked[about] = open[1:]
			}
			list = append(list, sent{Message: Message{
				ID: e.Msg, From: e.Node, To: e.Peer, Sent: e.At, Received: trace.Never, What: e.What, Purpose: e.Alt,
				Detail: e.Detail, Reply: e.Does == trace.Reply,
			}, executed: trace.Never, answer: -1})
		case e.Does == trace.Receive || e.Does == trace.Execute:
			if e.Msg > last || place[e.Msg] == 0 {
				continue
			}
			k := place[e.Msg] - 1
			list[k].Received = min(list[k].Received, e.At)
			if e.Does == trace.Execute && list[k].executed == trace.Never {
				list[k].executed = e.At
				about := conversation{e.Node, e.Peer, e.What, e.Alt}
				asked[about] = append(asked[about], k)
			}
		}
	}
	return list
}

// messages are the messages of a run within what is drawn of it.
func (v *view) messages() []Message {
	w := witness{v: v, matters: make([]bool, len(v.all))}
	w.hear()
	list := []Message{}
	for i := range v.all {
		m := v.all[i].Message
		if m.Sent > v.to || m.Received < v.from {
			continue
		}
		if isAccess(m.What) {
			m.Detail = v.renumbered(m.Detail)
		}
		held := v.heldUp(&m)
		m.Late, m.OnItsWay = held != nil, v.onItsWay(&m)
		m.Matters = w.matters[i] || m.Late && (writesLock(m.Purpose) || isAccess(m.What) || held.kind == "delay")
		list = append(list, m)
	}
	return list
}

// witness finds the messages without which a story cannot be told: with which those who take part in it came by the
// lock, turned to the resource and gave the lock back; with which that reached other servers; and with which a server
// became the master. Renewals are not among them, nor tries that came to nothing.
type witness struct {
	v       *view
	matters []bool
}

func (w *witness) hear() {
	told := len(w.v.scope.witnesses) == 0 // where nothing was violated, all are alike
	for i := range w.v.h.Acquisitions {
		if a := &w.v.h.Acquisitions[i]; told || w.v.scope.witnesses[a.ID] {
			w.called(a.Client, a.Invoked, min(a.Returned, w.v.h.End))
			if a.Unlocked != trace.Never {
				w.called(a.Client, a.Unlocked, min(a.Released, w.v.h.End))
			}
		}
	}
	executed := map[place]bool{}
	for i := range w.v.h.Accesses {
		if a := &w.v.h.Accesses[i]; told || w.v.scope.witnesses[a.Acquisition] {
			executed[place{a.Client, a.Applied}] = true
			executed[place{a.Client, a.Invoked}] = true
		}
	}
	for i := range w.v.h.Removals {
		if r := &w.v.h.Removals[i]; r.Ended != 0 && (w.v.scope.witnesses[r.By] || w.v.scope.witnesses[r.Ended]) {
			executed[place{r.Client, r.At}] = true
		}
	}
	for i := range w.v.h.Asks {
		if a := &w.v.h.Asks[i]; a.Granted && w.v.scope.witnesses[a.Acquisition] {
			executed[place{a.Client, a.At}] = true
		}
	}
	w.mark(executed)
	w.passOn()
	w.promotions()
}

// place is somebody at a moment.
type place struct {
	node string
	at   trace.Instant
}

// called marks the last request of each purpose that a client sent to each server during a call of the lock's code.
func (w *witness) called(client string, from, to trace.Instant) {
	type aim struct{ server, purpose string }
	last := map[aim]int{}
	i, _ := slices.BinarySearchFunc(w.v.all, from, func(m sent, t trace.Instant) int { return cmp.Compare(m.Sent, t) })
	for ; i < len(w.v.all) && w.v.all[i].Sent <= to; i++ {
		if m := &w.v.all[i]; m.From == client && (writesLock(m.Purpose) || m.Purpose == "look") {
			last[aim{m.To, m.Purpose}] = i
		}
	}
	for _, i := range last {
		w.matters[i] = true
	}
}

// mark marks what clients sent at certain moments, or what was executed for them then, and all answers.
func (w *witness) mark(executed map[place]bool) {
	for i := range w.v.all {
		m := &w.v.all[i]
		told := executed[place{m.From, m.executed}] || isAccess(m.What) && executed[place{m.From, m.Sent}]
		if told && !m.Reply && m.Purpose != "renew" && m.Purpose != "look" {
			w.matters[i] = true
		}
	}
	for i := range w.v.all {
		if w.matters[i] && w.v.all[i].answer >= 0 {
			w.matters[w.v.all[i].answer] = true
		}
	}
}

// passOn marks what a server tells others of a request that matters, until it answers.
func (w *witness) passOn() {
	for i := range w.v.all {
		m := &w.v.all[i]
		if !w.matters[i] || m.Reply || m.executed == trace.Never || w.v.isServer(m.From) || !writesLock(m.Purpose) {
			continue
		}
		answered := m.executed
		if m.answer >= 0 {
			answered = w.v.all[m.answer].Sent
		}
		for k := i + 1; k < len(w.v.all) && w.v.all[k].Sent <= answered; k++ {
			other := &w.v.all[k]
			between := w.v.isServer(other.From) && w.v.isServer(other.To)
			if between && other.Sent >= m.executed && other.Purpose == m.Purpose {
				w.matters[k] = true
			}
		}
	}
}

// promotions marks what a server hears and says at the moment at which it becomes the master or the leader.
func (w *witness) promotions() {
	promoted := map[place]bool{}
	for i := range w.v.roles {
		if e := &w.v.roles[i]; e.Does == trace.Promote && e.At > 0 {
			promoted[place{e.Node, e.At}] = true
		}
	}
	for i := range w.v.all {
		m := &w.v.all[i]
		w.matters[i] = w.matters[i] || promoted[place{m.To, m.Received}] || promoted[place{m.From, m.Sent}]
	}
}

// isAccess reports whether a message turns to the resource.
func isAccess(what string) bool {
	return what == history.Read.String() || what == history.Check.String() || what == history.Write.String()
}

// heldUp returns the fault that a message had to wait for; nil if there was none. What passes a link again only after
// it was cut has waited, and so has what never passes it.
func (v *view) heldUp(m *Message) *fault {
	for i := range v.faults {
		if f := &v.faults[i]; f.fired && (f.heldOnLink(m) || f.delayed(m)) {
			return f
		}
	}
	return nil
}

func (f *fault) heldOnLink(m *Message) bool {
	during := m.Sent < f.end && f.begin < m.Received && f.end <= m.Received
	return (f.kind == "cut" || f.kind == "stall") && during && f.link.joins(m.From, m.To)
}

func (f *fault) delayed(m *Message) bool {
	during := m.Sent <= f.begin && m.Received != trace.Never && m.Received.Sub(f.begin) >= f.by
	return f.kind == "delay" && during && f.of.tells(m)
}

// ends are the two ends of the links that a fault affects.
type ends struct {
	from, to []string
	oneWay   bool
}

func (l *ends) joins(from, to string) bool {
	return matches(l.from, from) && matches(l.to, to) || !l.oneWay && matches(l.from, to) && matches(l.to, from)
}

// matches reports whether one of several names, globs or roles may mean a node. Who plays a role changes.
func matches(names []string, node string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if name == "holder" || name == "master" || name == "leader" {
			return true
		}
		matched, err := path.Match(name, node)
		return name == node || err == nil && matched
	})
}

// about is what the trigger of a fault says of a message.
type about struct{ node, peer, what string }

func (a about) tells(m *Message) bool {
	one := (a.node == "" || matches([]string{a.node}, m.From)) && (a.peer == "" || matches([]string{a.peer}, m.To))
	other := (a.node == "" || matches([]string{a.node}, m.To)) && (a.peer == "" || matches([]string{a.peer}, m.From))
	what := a.what == "" || matches([]string{a.what}, m.What) || matches([]string{a.what}, m.Purpose)
	return what && (one || other)
}
