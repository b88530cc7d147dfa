package layout

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// messages are the messages of a run within what is drawn of it, or those of them that matter, without their details.
func messages(v *model.View, matter bool) []timeline.Message {
	w := witness{v: v, matters: make([]bool, len(v.Messages))}
	w.hear()
	list := []timeline.Message{}
	for i := range v.Messages {
		m := v.Messages[i].Message
		if m.Sent > v.To || m.Received < v.From {
			continue
		}
		held := v.HeldUp(&m)
		m.Late, m.OnItsWay = held != nil, v.OnItsWay(&m)
		m.Matters = w.matters[i] || m.Late && (writesLock(m.Purpose) || isAccess(m.What) || held.Kind == sim.Delay)
		switch {
		case matter && !m.Matters:
			continue
		case matter:
			m.Detail = ""
		case isAccess(m.What):
			m.Detail = v.Renumbered(m.Detail)
		}
		list = append(list, m)
	}
	return list
}

// witness finds the messages without which a story cannot be told: with which those who take part in it came by the
// lock, turned to the resource and gave the lock back; with which that reached other servers; and with which a server
// became the master. Renewals are not among them, nor tries that came to nothing.
type witness struct {
	v       *model.View
	matters []bool
}

func (w *witness) hear() {
	told := len(w.v.Scope.Witnesses) == 0 // where nothing was violated, all are alike
	for i := range w.v.History.Acquisitions {
		if a := &w.v.History.Acquisitions[i]; told || w.v.Scope.Witnesses[a.ID] {
			w.called(a.Client, a.Invoked, min(a.Returned, w.v.History.End))
			if a.Unlocked != trace.Never {
				w.called(a.Client, a.Unlocked, min(a.Released, w.v.History.End))
			}
		}
	}
	executed := map[place]bool{}
	for i := range w.v.History.Accesses {
		if a := &w.v.History.Accesses[i]; told || w.v.Scope.Witnesses[a.Acquisition] {
			executed[place{a.Client, a.Applied}] = true
			executed[place{a.Client, a.Invoked}] = true
		}
	}
	for i := range w.v.History.Removals {
		if r := &w.v.History.Removals[i]; r.Ended != 0 && (w.v.Scope.Witnesses[r.By] || w.v.Scope.Witnesses[r.Ended]) {
			executed[place{r.Client, r.At}] = true
		}
	}
	for i := range w.v.History.Asks {
		if a := &w.v.History.Asks[i]; a.Granted && w.v.Scope.Witnesses[a.Acquisition] {
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
	i, _ := slices.BinarySearchFunc(w.v.Messages, from, func(m model.Sent, t trace.Instant) int { return cmp.Compare(m.Sent, t) })
	for ; i < len(w.v.Messages) && w.v.Messages[i].Sent <= to; i++ {
		if m := &w.v.Messages[i]; m.From == client && (writesLock(m.Purpose) || m.Purpose == trace.ToLook) {
			last[aim{m.To, m.Purpose}] = i
		}
	}
	for _, i := range last {
		w.matters[i] = true
	}
}

// mark marks what clients sent at certain moments, or what was executed for them then, and all answers.
func (w *witness) mark(executed map[place]bool) {
	for i := range w.v.Messages {
		m := &w.v.Messages[i]
		told := executed[place{m.From, m.Executed}] || isAccess(m.What) && executed[place{m.From, m.Sent}]
		if told && !m.Reply && m.Purpose != trace.ToRenew && m.Purpose != trace.ToLook {
			w.matters[i] = true
		}
	}
	for i := range w.v.Messages {
		if w.matters[i] && w.v.Messages[i].Answer >= 0 {
			w.matters[w.v.Messages[i].Answer] = true
		}
	}
}

// passOn marks what a server tells others of a request that matters, until it answers.
func (w *witness) passOn() {
	for i := range w.v.Messages {
		m := &w.v.Messages[i]
		if !w.matters[i] || m.Reply || m.Executed == trace.Never || w.v.IsServer(m.From) || !writesLock(m.Purpose) {
			continue
		}
		answered := m.Executed
		if m.Answer >= 0 {
			answered = w.v.Messages[m.Answer].Sent
		}
		for k := i + 1; k < len(w.v.Messages) && w.v.Messages[k].Sent <= answered; k++ {
			other := &w.v.Messages[k]
			between := w.v.IsServer(other.From) && w.v.IsServer(other.To)
			if between && other.Sent >= m.Executed && other.Purpose == m.Purpose {
				w.matters[k] = true
			}
		}
	}
}

// promotions marks what a server hears and says at the moment at which it becomes the master or the leader.
func (w *witness) promotions() {
	promoted := map[place]bool{}
	for i := range w.v.Roles {
		if e := &w.v.Roles[i]; e.Does == trace.Promote && e.At > 0 {
			promoted[place{e.Node, e.At}] = true
		}
	}
	for i := range w.v.Messages {
		m := &w.v.Messages[i]
		w.matters[i] = w.matters[i] || promoted[place{m.To, m.Received}] || promoted[place{m.From, m.Sent}]
	}
}

// isAccess reports whether a message turns to the resource.
func isAccess(what string) bool {
	return what == history.Read.String() || what == history.Check.String() || what == history.Write.String()
}

// writesLock reports whether a message of that purpose changes the lock.
func writesLock(purpose string) bool {
	return purpose == trace.ToAcquire || purpose == trace.ToRenew || purpose == trace.ToRelease
}
