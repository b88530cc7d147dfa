package search

import (
	"slices"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// fault draws a fault of a kind; false if what is left of the time for faults does not allow one.
func (g *generator) fault(k Kind) (sim.Fault, bool) {
	switch k {
	case ClientCrash:
		return g.clientCrash()
	case ClientPause:
		return g.pause(pick(g, g.clients...))
	case ClientClock:
		return g.clock(pick(g, g.clients...), pick[time.Duration](g, 1, -1), oneIn(g, 4)), true
	case ServerCrash:
		return g.serverCrash(k, false)
	case PowerLoss:
		return g.serverCrash(k, true)
	case ServerPause:
		return g.serverPause(k)
	case ServerAhead:
		return g.clock(pick(g, g.servers...), 1, oneIn(g, 4)), true
	case ServerBack:
		return g.clock(pick(g, g.servers...), -1, false), true
	case Drift:
		return g.rate()
	case Cut:
		return g.onLink(k, sim.Cut, 2)
	case Stall:
		return g.onLink(k, sim.Stall, g.timesOfStall())
	case Delay:
		return g.delay(k)
	case Break:
		return g.breakUp(k), true
	case Error:
		return g.refuse(k), true
	case SameRandom:
		return g.sameRandom(), true
	default:
		return g.faultOfService(k)
	}
}

// server draws which server a kind of fault hits. If one of several leads, it may be the leader at that time.
func (g *generator) server(k Kind) string {
	whom := slices.Clone(g.servers)
	if g.role != "" {
		whom = append(whom, g.role)
	}
	if slices.Contains(g.model.Storage, k) {
		whom = append(whom, scenarios.Storage)
	}
	return pick(g, whom...)
}

// host draws whom clients talk to.
func (g *generator) host(k Kind) string {
	if slices.Contains(g.model.Storage, k) {
		return pick(g, append(slices.Clone(g.hosts), scenarios.Storage)...)
	}
	return pick(g, g.hosts...)
}

func (g *generator) clientCrash() (sim.Fault, bool) {
	node := pick(g, g.clients...)
	f := sim.Fault{Action: sim.Action{Kind: sim.Crash, Node: node, Host: oneIn(g, 3)}}
	if oneIn(g, 2) { // a dead client holds up nobody, so its return costs nothing
		f.Action.Restart = g.anyTime()
	}
	f.Trigger = g.trigger(node)
	return f, true
}

// serverCrash lets a server come back, as a rule: one that stays away forgets nothing and grants nothing.
func (g *generator) serverCrash(k Kind, host bool) (sim.Fault, bool) {
	node := g.server(k)
	restart, ok := g.spend(2)
	if g.forGood(16) && g.spares(node) {
		restart = 0
	}
	return sim.Fault{
		Action:  sim.Action{Kind: sim.Crash, Node: node, Host: host, Restart: restart},
		Trigger: g.trigger(node),
	}, ok
}

// spares reports whether locks can do without a server for good, beside those that are gone already, and counts it among
// them then. Once the only server or a majority is gone, the rest of a run says nothing of the lock.
func (g *generator) spares(node string) bool {
	s := &g.scenario.Servers
	most := (len(g.keepers) - 1) / 2
	switch {
	case node != g.role && !slices.Contains(g.keepers, node): // the storage and Sentinels, but no pooler
		return !slices.Contains(g.hosts, node)
	case s.Sentinels > 0 || s.Cluster: // they replace one
		most = 1
	case s.Replicas > 0: // they are not promoted by themselves
		return slices.Index(g.keepers, node) >= s.Masters
	}
	g.gone++
	return g.gone <= most
}

func (g *generator) pause(node string) (sim.Fault, bool) {
	d, ok := g.spend(1)
	return sim.Fault{Action: sim.Action{Kind: sim.Pause, Node: node}, For: d, Trigger: g.trigger(node)}, ok
}

func (g *generator) serverPause(k Kind) (sim.Fault, bool) {
	node := g.server(k)
	f, ok := g.pause(node)
	if g.forGood(16) && g.spares(node) {
		f.For = 0
	}
	return f, ok
}

// clock lets a wall clock jump; heals says that it is put right later.
func (g *generator) clock(node string, direction time.Duration, heals bool) sim.Fault {
	f := sim.Fault{Action: sim.Action{Kind: sim.SetClock, Node: node, Step: direction * g.anyTime()}}
	if heals {
		f.For = g.anyTime()
	}
	f.Trigger = g.trigger(node)
	return f
}

// rate lets a clock run faster or slower from some moment on.
func (g *generator) rate() (sim.Fault, bool) {
	node := pick(g, slices.Concat(g.clients, g.servers)...)
	f := sim.Fault{Action: sim.Action{Kind: sim.SetClock, Node: node, Rate: pick(g, g.model.Drift, -g.model.Drift)}}
	if oneIn(g, 2) {
		f.For = g.anyTime()
	}
	f.Trigger = g.trigger(node)
	return f, g.model.Drift > 0
}

// onLink holds up what travels between a client and some servers.
func (g *generator) onLink(k Kind, action sim.ActionKind, times time.Duration) (sim.Fault, bool) {
	link := g.link(k)
	switch g.Below(3) {
	case 1:
		link.OneWay = true
	case 2:
		link.OneWay = true
		link.From, link.To = link.To, link.From
	}
	d, ok := g.spend(times)
	f := sim.Fault{Action: sim.Action{Kind: action, Link: link}, For: d}
	if oneIn(g, 2) {
		f.Trigger = g.trigger(pick(g, g.clients...))
	}
	return f, ok
}

// timesOfStall is how often a stall counts: beside a cut, which loses packets, the sender's kernel may send again as late as
// one stall after it is over.
func (g *generator) timesOfStall() time.Duration {
	if g.model.has(Cut) {
		return 2
	}
	return 1
}

// link draws the connections between one client and servers.
func (g *generator) link(k Kind) sim.Link {
	link := sim.Link{From: []string{pick(g, g.clients...)}}
	if slices.Contains(g.model.Storage, k) && oneIn(g, 3) {
		link.To = []string{scenarios.Storage}
		return link
	}
	if g.model.Watched.OneIn > 0 && g.scenario.Servers.Sentinels > 0 && oneIn(g, 3) {
		link.To = slices.Clone(g.servers[len(g.keepers):])
		return link
	}
	link.To = some(g, g.hosts)
	if len(link.To) == len(g.hosts) && len(g.hosts) > 1 {
		link.To = []string{g.glob()}
	}
	return link
}

func (g *generator) delay(k Kind) (sim.Fault, bool) {
	by, ok := g.spend(1)
	return sim.Fault{Action: sim.Action{Kind: sim.Delay, By: by}, Trigger: g.onMessage(k)}, ok
}

func (g *generator) breakUp(k Kind) sim.Fault {
	f := sim.Fault{Action: sim.Action{
		Kind: sim.Break, RST: oneIn(g, 2), Lose: pick(g, sim.LoseNothing, sim.LoseReply, sim.LoseRequest),
	}}
	if oneIn(g, 3) {
		f.Action.Link = g.link(k)
		f.Trigger = g.trigger(f.Action.Link.From[0])
		return f
	}
	f.Action.This = true
	f.Trigger = g.onMessage(k)
	return f
}

// refuse has a request answered with an error.
func (g *generator) refuse(k Kind) sim.Fault {
	return sim.Fault{
		Trigger: g.request(k),
		Action:  sim.Action{Kind: sim.Error, Text: pick(g, g.kind.Refuses...)},
	}
}

func (g *generator) sameRandom() sim.Fault {
	return sim.Fault{Action: sim.Action{Kind: sim.SameRandom, Nodes: []string{g.clients[0], g.clients[1]}}}
}
