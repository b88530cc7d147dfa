package explore

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// ofLink lists what holds up a link just before something is sent on it.
func (m *model) ofLink(k search.Kind, p *point) []sim.Fault {
	s := &p.step
	if p.trigger.When != sim.Before || s.Does != trace.Send && s.Does != trace.Reply {
		return nil
	}
	from, to := m.roles[s.Node], m.roles[s.Peer]
	link := sim.Link{From: []string{s.Node}, To: []string{s.Peer}}
	switch {
	case k == search.Partition && from == server && to == server:
		link.To = slices.DeleteFunc(slices.Clone(m.servers), func(name string) bool { return name == s.Node })
	case k == search.SessionCut && from == client && to == server:
		link.To = m.servers
	case k == search.SessionCut && from == server && to == client:
		link.From, link.To = link.To, m.servers
	case (k == search.Cut || k == search.Stall) && (from == client || to == client):
	default:
		return nil
	}
	action := sim.Cut
	if k == search.Stall {
		action = sim.Stall
	}
	return each(m.lasting, func(d time.Duration) sim.Fault {
		return sim.Fault{Action: sim.Action{Kind: action, Link: link}, For: d}
	})
}

// ofMessage lists what happens to a message just before it is received, or executed. It makes no difference where on its
// way that happens.
func (m *model) ofMessage(k search.Kind, p *point) []sim.Fault {
	if p.trigger.When != sim.Before {
		return nil
	}
	by, from := m.roles[p.step.Node], m.roles[p.step.Peer]
	received := p.step.Does == trace.Receive
	switch {
	case received && k == search.Delay && (by == client || from == client),
		received && k == search.Lag && by == server && from == server:
		return each(m.lasting, func(d time.Duration) sim.Fault {
			return sim.Fault{Action: sim.Action{Kind: sim.Delay, By: d}}
		})
	case received && k == search.Break && by == server && from == client:
		return []sim.Fault{broken(sim.LoseRequest), broken(sim.LoseNothing)}
	case received && k == search.Break && by == client && from == server:
		return []sim.Fault{broken(sim.LoseReply)}
	case p.step.Does == trace.Execute && k == search.Error && by == server && from == client:
		return []sim.Fault{{Action: sim.Action{Kind: sim.Error, Text: m.refusal}}}
	}
	return nil
}

func broken(lose sim.Loss) sim.Fault {
	return sim.Fault{Action: sim.Action{Kind: sim.Break, This: true, Lose: lose}}
}

// ofService lists what the lock's servers decide, or are told to do, after a step with which they may have changed: the
// execution of a request. The end of a session is a matter of its client, too.
func (m *model) ofService(k search.Kind, p *point) []sim.Fault {
	s := &p.step
	if p.trigger.When != sim.After {
		return nil
	}
	changed := s.Does == trace.Execute && slices.Contains(m.keepers, s.Node)
	switch {
	case k == search.EndSession && m.roles[s.Node] == client:
		return []sim.Fault{command(sim.EndSession, s.Node)}
	case k == search.EndSession && changed && m.roles[s.Peer] == client:
		return []sim.Fault{command(sim.EndSession, s.Peer)}
	case k == search.Evict && changed:
		return []sim.Fault{command(sim.Evict, s.Node)}
	case k == search.Snapshot && changed:
		return []sim.Fault{command(sim.Snapshot, s.Node)}
	case k == search.Failover && changed:
		return m.failovers()
	}
	return nil
}

func command(action sim.ActionKind, node string) sim.Fault {
	return sim.Fault{Action: sim.Action{Kind: action, Node: node}}
}

// failovers make each server the leader, or each replica the master. Of a new master all clients learn, or only one.
func (m *model) failovers() (list []sim.Fault) {
	for _, node := range m.keepers[m.masters:] {
		list = append(list, command(sim.Promote, node))
		for _, name := range m.clients {
			if m.facts.Has(backend.Redirect) {
				f := command(sim.Promote, node)
				f.Action.Nodes = []string{name}
				list = append(list, f)
			}
		}
	}
	return list
}
