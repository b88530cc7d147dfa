package model

import (
	"path"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Sent is a message as it travelled.
type Sent struct {
	timeline.Message
	Executed trace.Instant // by a server; Never if it was not
	Answer   int           // where in the list its reply is; -1 if it has none
	For      history.ID    // the acquisition that sent it; 0 if the trace does not say so
}

// Answered is when the answer to a request was received; Never if it was not.
func (v *View) Answered(m *Sent) trace.Instant {
	if m.Answer < 0 {
		return trace.Never
	}
	return v.Messages[m.Answer].Received
}

// conversation is what two nodes said of one thing, in the order in which they said it.
type conversation struct{ server, client, what, purpose string }

// messagesOf are all messages of a run, in the order in which they were sent, and which replies are of which requests:
// on a connection servers answer in the order in which they were asked.
func messagesOf(r *Run) []Sent {
	last, count := uint64(0), 0
	for i := range r.Events {
		if e := &r.Events[i]; e.Msg != 0 && (e.Does == trace.Send || e.Does == trace.Reply) {
			last, count = max(last, e.Msg), count+1
		}
	}
	place := make([]int, last+1) // of a message in the list, from 1, by what links its steps
	asked := map[conversation][]int{}
	list := make([]Sent, 0, count)
	for i := range r.Events {
		e := &r.Events[i]
		switch {
		case e.Msg == 0:
		case e.Does == trace.Send || e.Does == trace.Reply:
			place[e.Msg] = len(list) + 1
			about := conversation{e.Node, e.Peer, e.What, e.Alt}
			if open := asked[about]; e.Does == trace.Reply && len(open) > 0 {
				list[open[0]].Answer = len(list)
				asked[about] = open[1:]
			}
			list = append(list, Sent{Message: timeline.Message{
				ID: e.Msg, From: e.Node, To: e.Peer, Sent: e.At, Received: trace.Never, What: e.What, Purpose: e.Alt,
				Detail: e.Detail, Reply: e.Does == trace.Reply,
			}, Executed: trace.Never, Answer: -1, For: history.ID(e.For)})
		case e.Does == trace.Receive || e.Does == trace.Execute:
			if e.Msg > last || place[e.Msg] == 0 {
				continue
			}
			k := place[e.Msg] - 1
			list[k].Received = min(list[k].Received, e.At)
			if e.Does == trace.Execute && list[k].Executed == trace.Never {
				list[k].Executed = e.At
				about := conversation{e.Node, e.Peer, e.What, e.Alt}
				asked[about] = append(asked[about], k)
			}
		}
	}
	return list
}

// HeldUp returns the fault that a message had to wait for; nil if there was none. What passes a link again only after
// it was cut has waited, and so has what never passes it.
func (v *View) HeldUp(m *timeline.Message) *Fault {
	for i := range v.Faults {
		if f := &v.Faults[i]; f.heldOnLink(m) || f.delayed(m) {
			return f
		}
	}
	return nil
}

func (f *Fault) heldOnLink(m *timeline.Message) bool {
	during := m.Sent < f.End && f.Begin < m.Received && f.End <= m.Received
	return (f.Kind == sim.Cut || f.Kind == sim.Stall) && during && f.joins(m.From, m.To)
}

func (f *Fault) delayed(m *timeline.Message) bool {
	late := m.Sent <= f.Begin && m.Received != trace.Never
	return f.Kind == sim.Delay && late && m.Received.Sub(f.Begin) >= f.Of.Action.By && f.triggeredBy(m)
}

// Silences reports whether a fault keeps servers from hearing of a client's machine: it is off, or cut off.
func (f *Fault) Silences(client string, servers []string) bool {
	switch {
	case !f.Fired || f.Of == nil:
		return false
	case f.Kind == sim.Crash:
		return f.Concerns(client)
	}
	return f.Kind == sim.Cut && slices.ContainsFunc(servers, func(server string) bool { return f.joins(client, server) })
}

// joins reports whether a fault affects the link from one node to another.
func (f *Fault) joins(from, to string) bool {
	l := &f.Of.Action.Link
	return matches(l.From, from) && matches(l.To, to) || !l.OneWay && matches(l.From, to) && matches(l.To, from)
}

// matches reports whether one of several names, globs or roles may mean a node. The node that plays a role changes.
func matches(names []string, node string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if name == "holder" || name == "master" || name == "leader" {
			return true
		}
		matched, err := path.Match(name, node)
		return name == node || err == nil && matched
	})
}

// triggeredBy reports whether the trigger of a fault may mean a message.
func (f *Fault) triggeredBy(m *timeline.Message) bool {
	what := f.Of.Trigger.Step.What
	return f.between(m) && (what == "" || matches([]string{what}, m.What) || matches([]string{what}, m.Purpose))
}

// between reports whether a message is between the nodes that the trigger of a fault names.
func (f *Fault) between(m *timeline.Message) bool {
	s := &f.Of.Trigger.Step
	means := func(name, node string) bool { return name == "" || matches([]string{name}, node) }
	return means(s.Node, m.From) && means(s.Peer, m.To) || means(s.Node, m.To) && means(s.Peer, m.From)
}

// Refused reports whether a server refused a request: it answered nil, zero, or an error.
func Refused(detail string) bool {
	_, answer, ok := strings.Cut(detail, " -> ")
	return ok && IsRefusal(answer)
}

// IsRefusal reports whether that is what an answer says.
func IsRefusal(answer string) bool {
	return answer == "(nil)" || answer == "(integer) 0" || strings.HasPrefix(answer, "(error)")
}
