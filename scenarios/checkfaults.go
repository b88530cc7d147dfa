package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// checkFaults refuses faults that could not act as they are meant to.
func (a *audit) checkFaults() {
	names := make([]string, len(a.Faults))
	for i, f := range a.Faults {
		names[i] = f.NameAt(i)
	}
	for i, f := range a.Faults {
		at := fmt.Sprintf("faults[%d]", i)
		if !a.known.sound(at) {
			continue
		}
		if slices.Contains(names[:i], names[i]) {
			a.report(at+".name", "names of their own", "two faults are called %s", names[i])
		}
		if f.Trigger.When == sim.At {
			a.checkMoment(at+".at", f.Trigger.At)
		} else {
			a.checkStep(at+"."+f.Trigger.When.String(), f.Trigger.Step, names, i)
		}
		refuseForeign(a, at, &faultFields, "")
		if field, _ := faultFields.field(f.Action.Kind.String()); field.knownTo(a.Servers.Kind) {
			a.checkAction(at, f)
		}
	}
}

func (a *audit) checkMoment(at string, moment time.Duration) {
	if a.known.sound("until") && moment > a.End() {
		a.report(at, "a time up to "+Brief(a.End())+", the scenario's until", "%s is after the run's end", Brief(moment))
	}
}

// stepsOf returns the class of nodes that take a step; other steps can be taken by any node.
func (d *directory) stepsOf(does trace.Does) class {
	switch {
	case does == trace.Execute || does == trace.Reply:
		return isServer | isStorage
	case does == trace.Send && !d.peers:
		return isClient // a server replies
	case does == trace.Send:
		return isClient | isServer
	case does >= trace.Start && does <= trace.Done:
		return isClient
	case does >= trace.Expire && does <= trace.Fsync:
		return isServer
	}
	return anyNode
}

// checkStep refuses steps that no node takes.
func (a *audit) checkStep(at string, p sim.Pattern, faults []string, self int) {
	if p.Does == trace.Begin || p.Does == trace.End {
		a.checkOtherFault(at, p, faults, self)
		return
	}
	if isElection(p.Does) && !a.Servers.elects() {
		a.report(at+".does", "servers of which one is master or leader", "none of the servers ever takes the step %q", p.Does)
		return
	}
	who := a.nodes.stepsOf(p.Does)
	if p.Node != "" {
		if !a.mustFind(at+".node", p.Node, true) {
			return
		}
		if who &= a.nodes.find(p.Node); who == 0 {
			a.report(at+".node", "one of the "+a.nodes.stepsOf(p.Does).String(), "%s does not take the step %q", p.Node, p.Does)
			return
		}
	}
	if p.Peer != "" && a.mustFind(at+".peer", p.Peer, true) {
		a.checkPeer(at+".peer", p, who)
	}
}

// checkPeer refuses peers to which the node that takes the step has no connection.
func (a *audit) checkPeer(at string, p sim.Pattern, who class) {
	peer := a.nodes.find(p.Peer)
	switch {
	case p.Does > trace.Reply:
		a.report(at, "peer for send, receive, execute or reply", "the step %q has no other end", p.Does)
	case !a.nodes.connected(who, peer):
		a.report(at, a.nodes.ends(), "%s never connect to %s", who, peer)
	}
}

func (a *audit) checkOtherFault(at string, p sim.Pattern, faults []string, self int) {
	if p.What == "" {
		return
	}
	if !slices.ContainsFunc(faults, func(name string) bool { return sim.Glob(p.What, name) }) {
		a.report(at+".what", didYouMean("one of "+listing(faults[:min(len(faults), 20)]), p.What, faults), "no fault %q", p.What)
	} else if p.What == faults[self] {
		a.report(at+".what", "another fault", "%s waits for itself", p.What)
	}
}

func (a *audit) checkAction(at string, f sim.Fault) {
	action := f.Action
	field := at + "." + action.Kind.String()
	needsMessage := action.Kind == sim.Delay || action.Kind == sim.Error || action.Kind == sim.Break && action.This
	if needsMessage && !isMessage(f.Trigger) {
		a.report(field, "before or after a send, receive, reply or execute", "the trigger is not the step of a message")
	}
	switch action.Kind {
	case sim.Pause, sim.Crash, sim.SetClock:
		if a.mustFind(field, action.Node, false) {
			a.checkNodeAction(at, action)
		}
	case sim.Cut, sim.Stall:
		a.checkEnds(field, action.Link.From, action.Link.To)
	case sim.Break:
		if !action.This {
			a.checkEnds(field, action.Link.From, action.Link.To)
		}
	case sim.SameRandom:
		a.checkTwins(field, action.Nodes)
		if f.Trigger.When != sim.At || f.Trigger.At != 0 {
			a.report(field, "at: 0s", "same-random acts from the start of the run")
		}
	case sim.Error:
		a.checkAnswered(field, f.Trigger)
		if known := a.Servers.Facts().Errors; len(known) > 0 && !slices.Contains(known, action.Text) {
			a.report(field, didYouMean("one of "+listing(known), action.Text, known), "%s has no error %q", a.Servers.Facts().Title, action.Text)
		}
	case sim.Promote, sim.Evict, sim.Snapshot, sim.EndSession:
		if a.mustFind(field, action.Node, false) {
			a.checkCommand(at, action)
		}
	case sim.Delay:
	}
	a.checkHealing(at, f)
}

func isMessage(t sim.Trigger) bool {
	return t.When != sim.At && t.Step.Does >= trace.Send && t.Step.Does <= trace.Reply
}

// checkAnswered refuses triggers at which there is no request that could be answered instead of being executed.
func (a *audit) checkAnswered(at string, t sim.Trigger) {
	const allowed = "a request on its way: send, the server's receive, or before its execute"
	p := t.Step
	switch {
	case t.When == sim.At:
	case p.Does == trace.Reply, p.Does == trace.Receive && p.Node != "" && a.nodes.find(p.Node) == isClient:
		a.report(at, allowed, "the trigger is the step of a reply")
	case p.Does == trace.Execute && t.When == sim.After:
		a.report(at, allowed, "the request has been executed by then")
	}
}

func (a *audit) checkNodeAction(at string, action sim.Action) {
	if action.Kind == sim.SetClock {
		a.checkHasClock(at+".clock", action.Node)
	}
	if action.Kind == sim.SetClock && action.Step == 0 && action.Rate == 0 {
		a.report(at+".clock", "step, rate or both, and not 0", "the clock is not changed")
	}
	if action.Keep != "" && a.nodes.find(action.Node)&isClient != 0 {
		a.report(at+".keep", "keep for servers only", "%s is a client, which keeps nothing", action.Node)
	}
	if action.Keep != "" && action.Node == Storage {
		a.report(at+".keep", "keep for servers of the lock only", "%s keeps all that it has accepted", Storage)
	}
}

// checkCommand refuses what cannot be done to a node, and clients that cannot be told.
func (a *audit) checkCommand(at string, action sim.Action) {
	field := at + "." + action.Kind.String()
	switch is := a.nodes.find(action.Node); {
	case action.Kind == sim.EndSession && is != isClient:
		a.report(field, "a client", "%s has no session", action.Node)
	case action.Kind == sim.EndSession:
	case is != isServer:
		a.report(field, "a server", "%s is no server of the lock", action.Node)
	case !sim.IsRole(action.Node) && !a.Servers.keeps(action.Node):
		a.report(field, "a server that has the lock", "%s only watches others", action.Node)
	case action.Kind == sim.Promote && !a.Servers.elects():
		a.report(field, "servers that replicate each other", "%s is not one of several of which one leads", action.Node)
	case action.Kind == sim.Snapshot && !a.Servers.Shape().Snapshots:
		a.report(field, "persistence rdb", "the servers take no snapshots")
	}
	if action.Kind != sim.Promote {
		return
	}
	if a.isMasterAnyway(action.Node) {
		a.report(field, "a replica", "%s is the master already, and stays it", action.Node)
	}
	for i, name := range action.Nodes {
		here := entryPath(at+".redirect", action.Nodes, i)
		if a.mustFind(here, name, true) && a.nodes.find(name) != isClient {
			a.report(here, "clients", "%s is no client", name)
		}
	}
}

// checkHealing refuses "for" where there is nothing to heal.
func (a *audit) checkHealing(at string, f sim.Fault) {
	if f.For == 0 {
		return
	}
	switch f.Action.Kind {
	case sim.Pause, sim.SetClock, sim.Cut, sim.Stall:
	case sim.Crash:
		a.report(at+".for", "restart, which says after how long the node is up again", "a crash does not heal")
	default:
		a.report(at+".for", "for beside pause, clock, cut or stall", "%s is done at once and does not heal", f.Action.Kind)
	}
}

func (a *audit) checkTwins(at string, nodes []string) {
	if len(nodes) < 2 {
		a.report(at, "two or more client processes", "only one process is named")
	}
	for i, name := range nodes {
		here := fmt.Sprintf("%s[%d]", at, i)
		if slices.Contains(nodes[:i], name) {
			a.report(here, "each process once", "%s is listed twice", name)
		} else if !sim.IsRole(name) && !a.mustFind(here, name, false) {
			continue
		} else if a.nodes.class[name] != isClient {
			a.report(here, "client processes", "%s is no client process", name)
		}
	}
}

// checkEnds refuses links that connect nothing.
func (a *audit) checkEnds(at string, from, to []string) {
	var ends [2]class
	found := true
	for i, name := range slices.Concat(from, to) {
		found = a.mustFind(endPath(at, from, to, i), name, true) && found
		ends[min(i/len(from), 1)] |= a.nodes.find(name)
	}
	switch {
	case !found:
	case len(from) == 1 && len(to) == 1 && from[0] == to[0] && !isGlob(from[0]):
		a.report(at, "two nodes", "a link from %s to itself", from[0])
	case !a.nodes.connected(ends[0], ends[1]):
		a.report(at, a.nodes.ends(), "%s never connect to %s", ends[0], ends[1])
	}
}

// endPath is the path of the i-th name of both ends of a link.
func endPath(at string, from, to []string, i int) string {
	if i < len(from) {
		return entryPath(at+".from", from, i)
	}
	return entryPath(at+".to", to, i-len(from))
}

// entryPath is the path of the i-th name of a list, which a single name may stand for.
func entryPath[V any](at string, list []V, i int) string {
	if len(list) == 1 {
		return at
	}
	return fmt.Sprintf("%s[%d]", at, i)
}

// mustFind refuses names of nodes that do not exist.
func (a *audit) mustFind(at, name string, globs bool) bool {
	if isGlob(name) && !globs {
		a.report(at, "the name of one node", "a glob where one node is meant")
		return false
	}
	if a.nodes.find(name) != 0 {
		return true
	}
	if sim.IsRole(name) {
		allowed := "a node, or the role of " + listing(a.nodes.roles)
		a.report(at, allowed, "none of these servers has the role of %s", name)
		return false
	}
	what := "no node is called "
	if isGlob(name) {
		what = "no node matches "
	}
	a.report(at, didYouMean(a.nodeNames(), name, a.nodes.few()), "%s", what+shown(name))
	return false
}

// nodeNames lists the nodes as far as a line has room for them.
func (a *audit) nodeNames() string {
	const most = 12
	if len(a.nodes.names) <= most {
		return "one of " + listing(a.nodes.names)
	}
	servers := a.Servers.Names()
	if len(servers) > 1 {
		servers = []string{servers[0] + " to " + servers[len(servers)-1]}
	}
	return fmt.Sprintf("a client, %s, %s or %s", servers[0], Storage, listing(a.nodes.roles))
}

// String names the nodes of the classes.
func (c class) String() string {
	var parts []string
	if c&isClient != 0 {
		parts = append(parts, "clients")
	}
	if c&isServer != 0 {
		parts = append(parts, "servers")
	}
	if c&isStorage != 0 {
		parts = append(parts, Storage)
	}
	return strings.Join(parts, " and ")
}
