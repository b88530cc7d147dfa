package search

import (
	"slices"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// faultOfService draws a fault of what servers do together, or decide about a client.
func (g *generator) faultOfService(k Kind) (sim.Fault, bool) {
	switch k {
	case Failover:
		return g.failover(), true
	case Partition:
		return g.partition()
	case Lag:
		return g.lag()
	case SessionCut:
		return g.sessionCut()
	case EndSession:
		client := pick(g, g.clients...)
		return sim.Fault{Action: sim.Action{Kind: sim.EndSession, Node: client}, Trigger: g.trigger(client)}, true
	case Evict:
		if g.role != "" { // replicas leave that to their master
			return g.told(sim.Evict, g.role), true
		}
		return g.told(sim.Evict, pick(g, g.keepers...)), true
	default:
		return g.told(sim.Snapshot, pick(g, g.keepers...)), true
	}
}

func promotes(f sim.Fault) bool { return f.Action.Kind == sim.Promote }

// failover makes another server the master or leader. All clients learn of it, or some, and the old master is told, or
// goes on as one.
func (g *generator) failover() sim.Fault {
	if g.role == "" { // one node stands for all servers
		return g.told(sim.Promote, g.keepers[0])
	}
	able := g.keepers
	if !slices.ContainsFunc(g.scenario.Faults, promotes) {
		able = g.keepers[g.shape.Masters:] // the first is the master already
	}
	f := sim.Fault{
		Action: sim.Action{Kind: sim.Promote, Node: pick(g, able...)},
		// Who is to be promoted does little before it by itself that a fault could hang on.
		Trigger: g.trigger(pick(g, append([]string{g.role}, g.clients...)...)),
	}
	if !g.kind.Has(backend.Redirect) {
		return f
	}
	if oneIn(g, 2) {
		f.Action.Nodes = some(g, g.clients)
	}
	if oneIn(g, 2) {
		f.Action.Demote = g.anyTime()
	}
	return f
}

// told has a server carry out a command.
func (g *generator) told(command sim.ActionKind, node string) sim.Fault {
	return sim.Fault{Action: sim.Action{Kind: command, Node: node}, Trigger: g.trigger(node)}
}

// partition cuts a server off from its peers; half of the time also from all clients, or from some.
func (g *generator) partition() (sim.Fault, bool) {
	node := g.peerOrRole()
	link := sim.Link{From: []string{node}, To: []string{g.glob()}}
	if oneIn(g, 2) {
		link.To = append(link.To, some(g, g.clients)...)
	}
	d, ok := g.spend(2)
	return sim.Fault{Action: sim.Action{Kind: sim.Cut, Link: link}, For: d, Trigger: g.trigger(node)}, ok
}

// lag holds up what a server tells its peers, or what they tell it; or one message of it.
func (g *generator) lag() (sim.Fault, bool) {
	node := g.peerOrRole()
	d, ok := g.spend(1)
	if oneIn(g, 3) {
		t := sim.Trigger{When: pick(g, sim.Before, sim.After), Nth: g.nth(), Step: g.amongServers(node)}
		if t.Step.Does == trace.Receive {
			t.When = sim.Before
		}
		return sim.Fault{Action: sim.Action{Kind: sim.Delay, By: d}, Trigger: t}, ok
	}
	link := sim.Link{From: []string{node}, To: []string{g.glob()}, OneWay: true}
	if oneIn(g, 2) {
		link.From, link.To = link.To, link.From
	}
	return sim.Fault{Action: sim.Action{Kind: sim.Stall, Link: link}, For: d, Trigger: g.trigger(node)}, ok
}

// peerOrRole draws a server that keeps data, or the one that leads.
func (g *generator) peerOrRole() string {
	return pick(g, append(slices.Clone(g.keepers), g.role)...)
}

// sessionCut cuts a client off from all servers for about as long as they wait for it.
func (g *generator) sessionCut() (sim.Fault, bool) {
	client := pick(g, g.clients...)
	d, ok := g.spendAbout(2, g.ttl+eps, g.ttl*2/3+eps, g.ttl*4/3, g.ttl-eps, g.ttl*3/2, 2*g.ttl+eps)
	link := sim.Link{From: []string{client}, To: []string{g.anyHost()}}
	return sim.Fault{Action: sim.Action{Kind: sim.Cut, Link: link}, For: d, Trigger: g.trigger(client)}, ok
}
