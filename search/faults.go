package search

import (
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
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
		return g.pause(g.server(k))
	case ServerAhead:
		return g.clock(pick(g, g.servers...), 1, oneIn(g, 4)), true
	case ServerBack:
		return g.clock(pick(g, g.servers...), -1, false), true
	case Drift:
		return g.rate()
	case Cut:
		return g.onLink(k, sim.Cut, 2)
	case Stall:
		return g.onLink(k, sim.Stall, 1)
	case Delay:
		return g.delay(k)
	case Break:
		return g.breakUp(k), true
	case Error:
		return g.refuse(k), true
	default:
		return g.sameRandom(), true
	}
}

// server draws who is befallen by a kind of fault that befalls servers.
func (g *generator) server(k Kind) string {
	if slices.Contains(g.menu.Storage, k) {
		return pick(g, append(slices.Clone(g.servers), scenarios.Storage)...)
	}
	return pick(g, g.servers...)
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

// serverCrash lets a server come back always: one that stays away forgets nothing and grants nothing.
func (g *generator) serverCrash(k Kind, host bool) (sim.Fault, bool) {
	node := g.server(k)
	restart, ok := g.spend(2)
	return sim.Fault{
		Action:  sim.Action{Kind: sim.Crash, Node: node, Host: host, Restart: restart},
		Trigger: g.trigger(node),
	}, ok
}

func (g *generator) pause(node string) (sim.Fault, bool) {
	d, ok := g.spend(1)
	return sim.Fault{Action: sim.Action{Kind: sim.Pause, Node: node}, For: d, Trigger: g.trigger(node)}, ok
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
	f := sim.Fault{Action: sim.Action{Kind: sim.SetClock, Node: node, Rate: pick(g, g.menu.Drift, -g.menu.Drift)}}
	if oneIn(g, 2) {
		f.For = g.anyTime()
	}
	f.Trigger = g.trigger(node)
	return f, g.menu.Drift > 0
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

// link draws the connections between one client and servers.
func (g *generator) link(k Kind) sim.Link {
	link := sim.Link{From: []string{pick(g, g.clients...)}}
	if slices.Contains(g.menu.Storage, k) && oneIn(g, 3) {
		link.To = []string{scenarios.Storage}
		return link
	}
	link.To = some(g, g.servers)
	if len(link.To) == len(g.servers) && len(g.servers) > 1 {
		link.To = []string{"redis-*"}
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
	server := g.server(k)
	return sim.Fault{
		Trigger: sim.Trigger{When: sim.Before, Nth: g.nth(), Step: sim.Pattern{
			Node: server, Does: pick(g, trace.Execute, trace.Receive), What: pick(g, g.whats(server)...), Peer: g.anyClient(),
		}},
		Action: sim.Action{Kind: sim.Error, Text: pick(g, errorTexts...)},
	}
}

// errorTexts are what Redis says while it starts, and when it may not write.
var errorTexts = []string{
	"LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica.",
}

// anyClient draws one client or, being simplest, leaves open which.
func (g *generator) anyClient() string { return pick(g, append([]string{""}, g.clients...)...) }

func (g *generator) sameRandom() sim.Fault {
	return sim.Fault{Action: sim.Action{Kind: sim.SameRandom, Nodes: []string{g.clients[0], g.clients[1]}}}
}

// trigger draws a moment for a fault that befalls a node: mostly a step of that node, else a step of another one, of
// another fault, or a time.
func (g *generator) trigger(node string) sim.Trigger {
	switch g.Below(8) {
	case 5:
		return g.stepOf(pick(g, g.nodes()...))
	case 6:
		if n := len(g.scenario.Faults); n > 0 {
			return g.besideFault(upTo(g, n-1))
		}
		return g.stepOf(node)
	case 7:
		return sim.Trigger{At: g.ttl / 10 * time.Duration(g.Below(40))}
	default:
		return g.stepOf(node)
	}
}

func (g *generator) nodes() []string {
	return append(slices.Concat(g.clients, g.servers), scenarios.Storage)
}

// stepOf draws a step of a node.
func (g *generator) stepOf(node string) sim.Trigger {
	if slices.Contains(g.clients, node) {
		return g.about(g.clientStep(node))
	}
	return g.about(g.serverStep(node))
}

// clientStep draws a step of a client: what it tells of its section, or a message.
func (g *generator) clientStep(node string) sim.Pattern {
	if oneIn(g, 2) {
		return g.message(node, g.peer(), trace.Send, trace.Receive)
	}
	steps := []sim.Pattern{
		{Does: trace.Acquired}, {Does: trace.Access, What: "write"}, {Does: trace.Access, What: "read"},
		{Does: trace.Release}, {Does: trace.Released}, {Does: trace.Start},
	}
	if g.menu.Waits {
		steps = append(steps, sim.Pattern{Does: trace.Refused})
	}
	if slices.Contains(g.menu.Styles, history.Careful) {
		steps = append(steps, sim.Pattern{Does: trace.Check})
	}
	p := pick(g, steps...)
	p.Node = node
	return p
}

// serverStep draws a step of a server or of storage.
func (g *generator) serverStep(node string) sim.Pattern {
	if node != scenarios.Storage && oneIn(g, 6) {
		return sim.Pattern{Node: node, Does: pick(g, trace.Expire, trace.Fsync)}
	}
	return g.message(node, g.anyClient(), trace.Execute, trace.Receive, trace.Reply)
}

// peer draws whom a client talks to: a server, any of them, or storage.
func (g *generator) peer() string {
	return pick(g, slices.Concat(g.servers, []string{"redis-*", scenarios.Storage})...)
}

// message draws a step of a message between a node and another.
func (g *generator) message(node, peer string, does ...trace.Does) sim.Pattern {
	about := node
	if peer == scenarios.Storage {
		about = peer
	}
	return sim.Pattern{Node: node, Does: pick(g, does...), What: pick(g, g.whats(about)...), Peer: peer}
}

// sends names what locks send besides requests that acquire and release.
var sends = map[string]string{
	"get-then-set": "look", "set-nx-get-del": "look", "setnx-expire": "renew", "watchdog": "renew",
}

// whats names the messages between clients and a server.
func (g *generator) whats(server string) []string {
	switch {
	case server == scenarios.Storage && slices.Contains(g.menu.Fencing, history.CheckThenWrite):
		return []string{"write", "read", "check"}
	case server == scenarios.Storage:
		return []string{"write", "read"}
	case sends[g.menu.Lock] != "":
		return []string{"acquire", "release", "", sends[g.menu.Lock]}
	default:
		return []string{"acquire", "release", ""}
	}
}

// about draws when a fault acts, given the step that it hangs on.
func (g *generator) about(p sim.Pattern) sim.Trigger {
	t := sim.Trigger{When: pick(g, sim.After, sim.Before), Step: p, Nth: g.nth()}
	if t.When == sim.After && oneIn(g, 3) {
		t.Plus = g.anyTime()
	}
	return t
}

// nth draws which match it is; 0 is the first.
func (g *generator) nth() int { return pick(g, 0, 0, 2, 3) }

// besideFault hangs a fault on the step that another one hangs on, on its beginning, or on its end.
func (g *generator) besideFault(i int) sim.Trigger {
	what := pick(g, trace.None, trace.Begin, trace.End)
	if what == trace.None {
		return g.scenario.Faults[i].Trigger
	}
	t := sim.Trigger{When: sim.After, Step: sim.Pattern{Does: what, What: "fault-" + strconv.Itoa(i+1)}}
	if oneIn(g, 2) {
		t.Plus = g.anyTime()
	}
	return t
}

// mayBefall reports whether a kind of fault may befall the message that a trigger hangs on.
func (g *generator) mayBefall(k Kind, t *sim.Trigger) bool {
	isMessage := t.When != sim.At && t.Step.Does <= trace.Reply
	toStorage := t.Step.Node == scenarios.Storage || t.Step.Peer == scenarios.Storage
	return isMessage && (!toStorage || slices.Contains(g.menu.Storage, k))
}

// onMessage draws the step of a message for a fault that befalls that message: while it is about to be sent, received,
// executed or answered, or has just been sent. It may be one that another fault befalls, too.
func (g *generator) onMessage(k Kind) sim.Trigger {
	if n := len(g.scenario.Faults); n > 0 && oneIn(g, 4) {
		if t := g.scenario.Faults[n-1].Trigger; g.mayBefall(k, &t) {
			return t
		}
	}
	client := pick(g, g.clients...)
	server := g.server(k)
	t := sim.Trigger{When: sim.Before, Nth: g.nth(), Step: sim.Pattern{What: pick(g, g.whats(server)...)}}
	atClient := []trace.Does{trace.Send, trace.Receive}
	atServer := []trace.Does{trace.Execute, trace.Receive, trace.Reply}
	if oneIn(g, 2) {
		t.Step.Node, t.Step.Does, t.Step.Peer = server, pick(g, atServer...), client
	} else {
		t.Step.Node, t.Step.Does, t.Step.Peer = client, pick(g, atClient...), server
	}
	if (t.Step.Does == trace.Send || t.Step.Does == trace.Reply) && oneIn(g, 2) {
		t.When = sim.After
	}
	return t
}
