package search

import (
	"slices"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Strategy says how a generator chooses among the kinds of faults, and where it places them. What clients do and how
// servers are deployed is drawn alike in all of them. Package internal/search/strategies compares them.
type Strategy uint8

// The strategies.
const (
	StepKeyed Strategy = iota // a part of the kinds in each scenario, mostly at steps of the protocol, for telling times
	Swarm                     // a part of the kinds in each scenario, at any moment, for any time
	Uniform                   // all kinds in every scenario, likewise
)

var strategyNames = []string{"step-keyed", "swarm", "uniform"}

// String returns the strategy's name.
func (s Strategy) String() string { return strategyNames[s] }

// Where steps tell nothing, faults strike within a number of leases, last up to a number of leases, and hit one of a number of messages
// of a client.
const (
	momentLeases   = 4
	durationLeases = 2
	manyMessages   = 32
)

// kinds draws the kinds of faults that the scenario may have.
func (g *generator) kinds() []Kind {
	if g.menu.Strategy == Uniform {
		return g.possible()
	}
	return some(g, g.possible())
}

// blind says that a fault's moment and duration are drawn without regard to what happens in the run.
func (g *generator) blind() bool { return g.menu.Strategy != StepKeyed }

// anyMoment draws when a fault strikes whatever happens then.
func (g *generator) anyMoment() sim.Trigger {
	return sim.Trigger{At: eps * time.Duration(g.Below(int64(momentLeases*g.ttl/eps)))}
}

// length draws how long something takes, at most to a limit: one of the telling times, or any.
func (g *generator) length(limit time.Duration, telling ...time.Duration) time.Duration {
	if g.blind() {
		return eps * time.Duration(1+g.Below(int64(min(limit, durationLeases*g.ttl)/eps)))
	}
	return pick(g, within(limit, telling...)...)
}

// anyMessage draws a message that a fault hits, whatever it says.
func (g *generator) anyMessage(k Kind) sim.Trigger {
	server := g.anyHost()
	if slices.Contains(g.menu.Storage, k) && oneIn(g, 2) {
		server = scenarios.Storage
	}
	t := sim.Trigger{When: sim.Before, Nth: upTo(g, manyMessages-1), Step: sim.Pattern{
		Node: pick(g, g.clients...), Does: pick(g, trace.Send, trace.Receive), Peer: server,
	}}
	if t.Nth > 0 {
		t.Nth++ // 0 is the first already
	}
	return t
}

// anyRequest draws a request that a server refuses, whatever it asks for.
func (g *generator) anyRequest(k Kind) sim.Trigger {
	t := g.anyMessage(k)
	t.Step.Node, t.Step.Does, t.Step.Peer = t.Step.Peer, trace.Execute, t.Step.Node
	return t
}
