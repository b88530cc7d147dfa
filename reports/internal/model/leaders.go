package model

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Reign is the time during which a server leads.
type Reign struct {
	Node     string
	Epoch    uint64 // 0 if it has none
	From, To trace.Instant
}

// Reigns are those of the servers of one master's dataset, or of an ensemble.
func (v *View) Reigns() []Reign {
	of, first := v.electorate()
	if len(of) == 0 {
		return nil
	}
	list := []Reign{first}
	for i := range v.Roles {
		e := &v.Roles[i]
		if !slices.Contains(of, e.Node) {
			continue
		}
		for k := range list {
			if list[k].Node == e.Node {
				list[k].To = min(list[k].To, e.At)
			}
		}
		if e.Does == trace.Promote {
			list = append(list, Reign{Node: e.Node, Epoch: e.Sum, From: e.At, To: trace.Never})
		}
	}
	if role, _ := v.Servers().Role(); role == "leader" { // a master is one again when it comes back
		for i := range list {
			list[i].To = min(list[i].To, v.crashes(list[i].Node, list[i].From))
		}
	}
	return list
}

// crashes returns when a server first goes down after a moment; Never if it does not.
func (v *View) crashes(node string, after trace.Instant) trace.Instant {
	first := trace.Never
	for i := range v.Faults {
		if f := &v.Faults[i]; f.Kind == sim.Crash && f.Node == node && f.Begin >= after {
			first = min(first, f.Begin)
		}
	}
	return first
}

// electorate are the servers of which one is to lead, and the reign of that which leads at first.
func (v *View) electorate() (of []string, first Reign) {
	servers := v.Servers()
	first = Reign{Epoch: 1, To: trace.Never}
	switch role, nodes := servers.Role(); {
	case !nodes:
		of, first.Node = v.Names, v.Names[0]
	case role == "leader":
		of, first.Node = v.Names, v.Names[cmp.Or(servers.Leader, servers.Count())-1]
	case role == "master" && servers.Shape().Masters == 1 && servers.Replicas == 0 && servers.Shape().Replicates:
		of, first.Node, first.Epoch = v.Names, v.Names[0], 0
	case role == "master" && servers.Replicas > 0:
		// The lock's key is of the first master.
		of = append([]string{v.Names[0]}, v.Names[servers.Masters:servers.Masters+servers.Replicas]...)
		first.Node, first.Epoch = of[0], 0
	}
	return of, first
}
