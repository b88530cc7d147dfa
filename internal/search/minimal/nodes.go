package minimal

import (
	"slices"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// fewerClients takes out client processes, with what refers to them.
func (r *reducer) fewerClients() {
	for i := 0; i < len(r.now.Clients); {
		if r.fewerOf(i) || r.doWithout(func(s *scenarios.Scenario) bool { return dropClient(s, i) }) {
			continue
		}
		i++
	}
}

// fewerOf makes one of several alike clients do.
func (r *reducer) fewerOf(i int) bool {
	c := r.now.Clients[i]
	for n := 1; n < c.Count; n++ {
		ok := r.doWithout(func(s *scenarios.Scenario) bool {
			s.Clients[i].Count = n
			kept := s.Clients[i].Names()
			forget(s, func(name string) bool { return slices.Contains(c.Names(), name) && !slices.Contains(kept, name) })
			return true
		})
		if ok {
			return true
		}
	}
	return false
}

func dropClient(s *scenarios.Scenario, i int) bool {
	if len(s.Clients) == 1 {
		return false
	}
	gone := s.Clients[i].Names()
	s.Clients = slices.Delete(s.Clients, i, i+1)
	forget(s, func(name string) bool { return slices.Contains(gone, name) })
	return true
}

// forget takes out what refers to nodes that are gone.
func forget(s *scenarios.Scenario, gone func(name string) bool) {
	for i := len(s.Faults) - 1; i >= 0; i-- {
		if !forgetIn(&s.Faults[i], gone) {
			dropFaults(s, i, i+1)
		}
	}
	s.Clocks = slices.DeleteFunc(s.Clocks, func(c scenarios.Clock) bool { return gone(c.Node) })
	for i := len(s.Network.Links) - 1; i >= 0; i-- {
		if !forgetOn(&s.Network.Links[i].Link, gone) {
			s.Network.Links = slices.Delete(s.Network.Links, i, i+1)
		}
	}
	for i := range s.Clients {
		s.Clients[i].Servers = without(s.Clients[i].Servers, gone)
	}
}

// forgetIn takes nodes out of a fault; false if nothing is left of it.
func forgetIn(f *sim.Fault, gone func(name string) bool) bool {
	t, a := &f.Trigger, &f.Action
	if gone(a.Node) || gone(t.Step.Node) {
		return false
	}
	if gone(t.Step.Peer) {
		t.Step.Peer = ""
	}
	a.Nodes = without(a.Nodes, gone)
	if a.Kind == sim.SameRandom && len(a.Nodes) < 2 {
		return false
	}
	return len(a.Link.From) == 0 || forgetOn(&a.Link, gone)
}

// forgetOn takes nodes out of a link; false if an end has none left.
func forgetOn(l *sim.Link, gone func(name string) bool) bool {
	l.From, l.To = without(l.From, gone), without(l.To, gone)
	return len(l.From) > 0 && len(l.To) > 0
}

// without returns a list of its own, without some names; nil if none is left.
func without(list []string, gone func(name string) bool) []string {
	var kept []string
	for _, name := range list {
		if !gone(name) {
			kept = append(kept, name)
		}
	}
	return kept
}

// rename calls nodes by other names, wherever they are named.
func rename(s *scenarios.Scenario, to func(name string) string) {
	all := func(list []string) []string {
		list = slices.Clone(list)
		for i := range list {
			list[i] = to(list[i])
		}
		return list
	}
	for i := range s.Faults {
		t, a := &s.Faults[i].Trigger, &s.Faults[i].Action
		a.Node, t.Step.Node, t.Step.Peer = to(a.Node), to(t.Step.Node), to(t.Step.Peer)
		a.Nodes, a.Link.From, a.Link.To = all(a.Nodes), all(a.Link.From), all(a.Link.To)
	}
	for i := range s.Clocks {
		s.Clocks[i].Node = to(s.Clocks[i].Node)
	}
	for i := range s.Network.Links {
		l := &s.Network.Links[i]
		l.From, l.To = all(l.From), all(l.To)
	}
	for i := range s.Clients {
		s.Clients[i].Servers = all(s.Clients[i].Servers)
	}
}
