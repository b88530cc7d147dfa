package search

import (
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// aimed are the kinds of faults that act on one request or its answer, or on what a client and one server say to each other.
var aimed = []Kind{Break, Error, Delay, Cut, Stall}

// Aims reports whether any fault of the fault model is of those kinds, so that two can aim at one acquisition.
func (m *FaultModel) Aims() bool { return m.has(aimed...) }

// pair draws two faults that aim at one acquisition of a client, and nothing else, in as many scenarios as the fault model says:
// each of them loses, refuses or delays a request of it, or the answer, or all that the client and one server say from a
// request on; or the connection is lost while the leader's followers have not acknowledged the request. What takes two faults mostly takes two of these,
// and faults that are drawn by themselves seldom meet in one acquisition.
func (g *generator) pair() bool {
	if g.model.Pairs == 0 || !g.model.Aims() || !oneIn(g, g.model.Pairs) {
		return false
	}
	kinds := slices.DeleteFunc(slices.Clone(aimed), func(k Kind) bool { return !slices.Contains(g.model.Faults, k) })
	if slices.Contains(kinds, Break) {
		kinds = append(kinds, Break, Break) // what is lost matters most
	}
	a := aim{
		client: pick(g, g.clients...), nth: g.nth(), request: 1 + upTo(g, mostRequests-1), counted: oneIn(g, 2),
		hosts: slices.Clone(g.hosts),
	}
	if g.votes() {
		purposes := []string{trace.ToAcquire, trace.ToAcquire, trace.ToRelease}
		if g.model.Renews {
			purposes = append(purposes, trace.ToRenew)
		}
		a.what = pick(g, purposes...)
		if slices.Contains(kinds, Error) {
			kinds = append(kinds, Error) // one vote lost, and one refused
		}
	}
	// The client connects to the leader, which waits for its followers before it carries out what the client has asked for.
	pending := g.shape.Peers && !g.shape.Replicates && g.model.has(Lag) && g.model.has(Break) && oneIn(g, 2)
	if pending {
		a.counted, a.what, a.nth = false, trace.ToAcquire, upTo(g, mostRequests)
	}
	for _, k := range []Kind{Lag, Break} {
		if !pending {
			k = pick(g, kinds...)
		}
		if f, ok := g.aimed(k, &a); ok {
			g.add(k, f)
		}
		a.request += upTo(g, 2)
	}
	return true
}

// aim says at which acquisition of a client two faults aim.
type aim struct {
	client  string
	nth     int      // request of a purpose
	counted bool     // requests are counted whatever they are for …
	request int      // … up to this one; the second fault aims at it too, or at one of the next two
	what    string   // the purpose of both requests; "": each has its own
	hosts   []string // that are left to aim at
}

// votes reports whether two faults are to undo two votes of one acquisition: clients ask several servers that are independent of
// each other.
func (g *generator) votes() bool { return g.model.Votes && len(g.peers) == 0 && len(g.hosts) > 1 }

// mostRequests is about how many requests to one server an acquisition and its release take, of whatever purpose.
const mostRequests = 6

// aimed draws a fault of a request of the client, or of its answer. What lasts, or breaks all connections to a server, may
// also follow the first fault, and so act on whatever comes next.
func (g *generator) aimed(k Kind, a *aim) (sim.Fault, bool) {
	server := g.anyHost()
	if len(g.peers) == 0 {
		server = pick(g, a.hosts...)
	}
	if g.votes() {
		a.hosts = slices.DeleteFunc(a.hosts, func(host string) bool { return host == server })
	}
	link := sim.Link{From: []string{a.client}, To: []string{server}}
	f, ok, follows := sim.Fault{Trigger: g.aimedStep(server, a)}, true, len(g.scenario.Faults) > 0 && oneIn(g, 2)
	switch k {
	case Error:
		f.Action = sim.Action{Kind: sim.Error, Text: pick(g, g.kind.Refuses...)}
		return f, true
	case Delay:
		f.Action.Kind, f.Trigger.Step.Does = sim.Delay, pick(g, trace.Execute, trace.Reply)
		f.Action.By, ok = g.spend(1)
		return f, ok
	case Lag:
		f.Action.Kind, f.Action.Link = sim.Stall, sim.Link{From: []string{g.glob()}, To: []string{g.role}, OneWay: true}
		f.Trigger.When, f.Trigger.Plus = sim.After, eps*time.Duration(g.Below(3))
		f.For, ok = g.spend(1)
	case Cut:
		f.Action.Kind, f.Action.Link = sim.Cut, link
		f.For, ok = g.spend(2)
	case Stall:
		f.Action.Kind, f.Action.Link = sim.Stall, link
		f.For, ok = g.spend(g.timesOfStall())
	default:
		f.Action = sim.Action{Kind: sim.Break, RST: oneIn(g, 2), Lose: pick(g, sim.LoseReply, sim.LoseRequest)}
		if f.Action.This = !follows; follows {
			f.Action.Link = link
		}
	}
	if follows {
		f.Trigger = sim.Trigger{
			When: sim.After, Step: sim.Pattern{Does: trace.Begin, What: g.nameOf(len(g.scenario.Faults) - 1)},
			Plus: pick(g, eps*time.Duration(upTo(g, mostRequests)), g.ttl/100, g.ttl/10),
		}
	}
	return f, ok
}

// aimedStep draws the request that a fault aims at.
func (g *generator) aimedStep(server string, a *aim) sim.Trigger {
	t := sim.Trigger{When: sim.Before, Nth: a.nth, Step: sim.Pattern{Node: server, Does: trace.Execute, Peer: a.client}}
	if !a.counted {
		if t.Step.What = a.what; a.what == "" {
			t.Step.What = pick(g, g.whats(server)...)
		}
	} else if t.Nth = a.request; t.Nth == 1 {
		t.Nth = 0 // which is the first already
	}
	return t
}
