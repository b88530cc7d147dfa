package replay

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Refusal names the part of a scenario that cannot be staged, and the reason.
type Refusal struct {
	What string // "servers", or a fault by its name
	Why  string
}

func (r *Refusal) Error() string { return r.What + ": " + r.Why }

// refuse says by name what cannot be staged; nil if all can.
func refuse(p *harness.Plan) error {
	s := p.Case.Scenario
	d := &s.Servers
	switch {
	case p.Programs():
		return &Refusal{"lock", "it is a program for the simulation"}
	case !slices.Contains(append(kinds, "etcd"), d.Kind):
		return &Refusal{"servers", "no servers of the kind " + d.Kind + " are started"}
	case d.Cluster:
		return &Refusal{"servers", "no cluster is started"}
	case d.Kind == "zookeeper" && d.Leader != 0 && d.Leader < d.Count()-1:
		why := fmt.Sprintf("zk-%d cannot be made leader: of equals the one with the largest number is", d.Leader)
		return &Refusal{"servers.leader", why}
	}
	for i := range s.Clients {
		if c := &s.Clients[i]; c.Busy {
			return &Refusal{"clients." + c.Name + ".cpu-bound", "work is staged as waiting, which a pause does not prolong"}
		}
	}
	for _, c := range s.Clocks {
		if why := badClock(s, c.Node, c.Rate); why != "" {
			return &Refusal{"clocks." + c.Node, why}
		}
	}
	for _, f := range p.Faults() {
		why := badTrigger(s, &f)
		if why == "" {
			why = badAction(s, &f)
		}
		if why != "" {
			return &Refusal{"fault " + f.Name, why}
		}
	}
	return nil
}

// badTrigger says why a fault's trigger is not seen here; "" if it is.
func badTrigger(s *scenarios.Scenario, f *sim.Fault) string {
	t := &f.Trigger
	if t.When == sim.At {
		return ""
	}
	switch t.Step.Does {
	case trace.Expire, trace.Promote, trace.Demote:
		return fmt.Sprintf("a server's step %s is not seen", t.Step.Does)
	case trace.Fsync:
		if s.Servers.Kind != "redis" || s.Servers.Persistence != "everysec" {
			return "when a disk takes what was written is not seen"
		}
	case trace.Send, trace.Receive, trace.Execute, trace.Reply:
		if s.Servers.Kind == "etcd" && !sim.Glob(resourceNode, t.Step.Peer) && t.Step.Node != resourceNode {
			return "what etcd and its clients say to each other is not read"
		}
		if s.Servers.Shape().Peers && isServer(s, t.Step.Node) && !isClient(s, t.Step.Peer) {
			return "what servers send each other cannot be read; name the client as peer"
		}
	default:
	}
	return ""
}

// badAction says why what a fault does cannot be done here; "" if it can.
func badAction(s *scenarios.Scenario, f *sim.Fault) string {
	a := &f.Action
	toResource := sim.Glob(resourceNode, f.Trigger.Step.Peer) || f.Trigger.Step.Node == resourceNode
	zookeeper := s.Servers.Kind == "zookeeper"
	servers := func(pattern string) bool { return isServer(s, pattern) }
	if s.Servers.Sentinels > 0 && slices.ContainsFunc(a.Link.From, servers) && slices.ContainsFunc(a.Link.To, servers) {
		return "servers that Sentinels watch have no proxies between them"
	}
	switch a.Kind {
	case sim.Pause, sim.Crash:
		if a.Node == resourceNode {
			return "the resource is part of the stage"
		}
	case sim.SetClock:
		if a.Step != 0 && a.Of == sim.BothClocks {
			return "a machine's monotonic clock cannot be made to jump"
		}
		return badClock(s, a.Node, a.Rate)
	case sim.Delay, sim.Error:
		if f.Trigger.Plus != 0 {
			return fmt.Sprintf("%s: the message has been passed on by then", a.Kind)
		}
		if a.Kind == sim.Error && (zookeeper || toResource) {
			return "no errors of such servers are made up"
		}
	case sim.Break:
		if a.This && toResource || slices.Contains(a.Link.To, resourceNode) || slices.Contains(a.Link.From, resourceNode) {
			return "the connection to the resource cannot be broken"
		}
	case sim.Promote, sim.EndSession:
		switch {
		case s.Servers.Kind == "etcd":
			return a.Kind.String() + " is not known to the one etcd server"
		case zookeeper && a.Kind == sim.Promote:
			return "no server of ZooKeeper can be made leader by hand"
		}
	default:
	}
	return ""
}

// badClock says why a node cannot be given a wrong clock.
func badClock(s *scenarios.Scenario, node string, rate int64) string {
	switch {
	case s.Servers.Kind == "redis":
		return ""
	case s.Servers.Kind == "etcd":
		return "etcd and its clients go by the machine's clock"
	case node == "leader" || isServer(s, node):
		return "Java does not start under libfaketime"
	case rate != 0:
		return "go-zookeeper goes by the machine's monotonic clock, whose rate cannot be changed"
	default:
		return ""
	}
}

func isServer(s *scenarios.Scenario, pattern string) bool {
	return pattern == "" || slices.ContainsFunc(s.Servers.Names(), func(n string) bool { return sim.Glob(pattern, n) })
}

// isClient reports whether a pattern stands for clients alone.
func isClient(s *scenarios.Scenario, pattern string) bool {
	return pattern != "" && !isServer(s, pattern) || pattern == "holder"
}
