package search

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// anyClient draws one client or, being simplest, leaves open which.
func (g *generator) anyClient() string { return pick(g, append([]string{""}, g.clients...)...) }

// trigger draws a moment for a fault that hits a node: mostly a step of that node, else a step of another one, of
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

// nodes are those whose steps a fault may hang on.
func (g *generator) nodes() []string {
	list := slices.Concat(g.clients, g.servers, g.storage())
	if g.role != "" {
		list = append(list, g.role)
	}
	return list
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
	if g.model.Waits {
		steps = append(steps, sim.Pattern{Does: trace.Refused})
	}
	if slices.Contains(g.model.Styles, history.Careful) {
		steps = append(steps, sim.Pattern{Does: trace.Check})
	}
	p := pick(g, steps...)
	p.Node = node
	return p
}

// serverStep draws a step of a server or of storage. A server that has peers mostly talks to them, and fares as they do.
func (g *generator) serverStep(node string) sim.Pattern {
	watches := node != g.role && len(g.kind.Among) > 0 && slices.Contains(g.servers[len(g.keepers):], node)
	switch {
	case node != scenarios.Storage && oneIn(g, 6):
		return sim.Pattern{Node: node, Does: pick(g, g.serverSteps()...)}
	case watches || node != scenarios.Storage && len(g.peers) > 0 && oneIn(g, 2):
		return g.amongServers(node)
	case node != scenarios.Storage && len(g.peers) > 0 && oneIn(g, 2):
		node = g.anyHost()
	}
	return g.message(node, g.anyClient(), trace.Execute, trace.Receive, trace.Reply)
}

// serverSteps are what servers do besides talking.
func (g *generator) serverSteps() []trace.Does {
	if len(g.peers) > 0 || g.kind.Elects {
		return []trace.Does{trace.Expire, trace.Fsync, trace.Promote, trace.Demote}
	}
	return []trace.Does{trace.Expire, trace.Fsync}
}

// amongServers draws a step of a message between a server and its peers.
func (g *generator) amongServers(node string) sim.Pattern {
	return sim.Pattern{
		Node: node, Does: pick(g, trace.Receive, trace.Send), What: pick(g, g.kind.Among...), Peer: g.glob(),
	}
}

// peer draws whom a client talks to: a server, any of them, or storage.
func (g *generator) peer() string {
	if len(g.peers) > 0 && oneIn(g, 2) { // which of them a client is on is hard to guess
		return g.anyHost()
	}
	return pick(g, slices.Concat(g.hosts, []string{g.anyHost()}, g.storage())...)
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
	"get-then-set": trace.ToLook, "set-nx-get-del": trace.ToLook, "setnx-expire": trace.ToRenew, "watchdog": trace.ToRenew,
}

// whats names the messages between clients and a server.
func (g *generator) whats(server string) []string {
	switch {
	case server == scenarios.Storage && slices.Contains(g.model.Fencing, history.CheckThenWrite):
		return []string{"write", "read", "check"}
	case server == scenarios.Storage:
		return []string{"write", "read"}
	case sends[g.model.Lock] != "":
		return []string{trace.ToAcquire, trace.ToRelease, "", sends[g.model.Lock]}
	case g.model.Renews, g.scenario.Lock.Renew > 0:
		return []string{trace.ToAcquire, trace.ToRelease, "", trace.ToRenew}
	default:
		return append([]string{trace.ToAcquire, trace.ToRelease, ""}, g.kind.Says...)
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
	t := sim.Trigger{When: sim.After, Step: sim.Pattern{Does: what, What: g.nameOf(i)}}
	if oneIn(g, 2) {
		t.Plus = g.anyTime()
	}
	return t
}

// nameOf returns what another fault calls the i-th.
func (g *generator) nameOf(i int) string {
	return g.scenario.Faults[i].NameAt(i)
}

// mayHit reports whether a kind of fault may hit the message that a trigger hangs on.
func (g *generator) mayHit(k Kind, t *sim.Trigger) bool {
	isMessage := t.When != sim.At && t.Step.Does <= trace.Reply
	toStorage := t.Step.Node == scenarios.Storage || t.Step.Peer == scenarios.Storage
	return isMessage && (!toStorage || slices.Contains(g.model.Storage, k))
}

// onMessage draws the step of a message for a fault that hits that message: while it is about to be sent, received,
// executed or answered, or has just been sent. It may be one that another fault hits, too.
func (g *generator) onMessage(k Kind) sim.Trigger {
	if n := len(g.scenario.Faults); n > 0 && oneIn(g, 4) {
		if t := g.scenario.Faults[n-1].Trigger; g.mayHit(k, &t) {
			return t
		}
	}
	client := pick(g, g.clients...)
	server := g.host(k)
	if server != scenarios.Storage && len(g.peers) > 0 && oneIn(g, 2) {
		server = g.anyHost()
	}
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

// request draws a request that a server refuses.
func (g *generator) request(k Kind) sim.Trigger {
	server := g.host(k)
	return sim.Trigger{When: sim.Before, Nth: g.nth(), Step: sim.Pattern{
		Node: server, Does: pick(g, trace.Execute, trace.Receive), What: pick(g, g.whats(server)...), Peer: g.anyClient(),
	}}
}
