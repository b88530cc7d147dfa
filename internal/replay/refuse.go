package replay

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/command"
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
	kind := stagingOf(s)
	switch {
	case p.Several():
		return &Refusal{"locks", "client processes on real servers take one lock only"}
	case kind == nil:
		return &Refusal{"servers", "no servers of the kind " + s.Servers.Kind + " are started"}
	}
	if refusal := kind.refuses(&s.Servers); refusal != nil {
		return refusal
	}
	for i := range s.Clients {
		if c := &s.Clients[i]; c.Busy {
			return &Refusal{"clients." + c.Name + ".cpu-bound", "work is staged as waiting, which a pause does not prolong"}
		}
	}
	for _, c := range p.Clients() {
		if why := badProgram(p, &c); why != "" {
			return &Refusal{"clients." + c.Name, why}
		}
	}
	for _, c := range s.Clocks {
		if why := kind.badClock(s, c.Node, c.Rate); why != "" {
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

// badProgram says why a client's program cannot be played; "" if it can, or has none.
func badProgram(p *harness.Plan, c *harness.Client) string {
	if c.Program == nil {
		return ""
	}
	if _, is := c.Program.(*command.Program); !is {
		return "it is a program for the simulation"
	}
	s := p.Case.Scenario
	for _, each := range s.Clocks {
		if sim.Glob(each.Node, c.Name) {
			return wrongProgramClock
		}
	}
	for _, f := range p.Faults() {
		switch a := &f.Action; {
		case a.Kind == sim.SetClock && (a.Node == "holder" || sim.Glob(a.Node, c.Name)):
			return wrongProgramClock
		case a.Kind == sim.SameRandom && sim.MatchesAny(a.Nodes, c.Name):
			return "the random values of a program are the machine's"
		}
	}
	return ""
}

const wrongProgramClock = "a program goes by the clocks of this machine, which cannot be wrong"

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
		return stagingOf(s).blind(s, f)
	case trace.Send, trace.Receive, trace.Execute, trace.Reply:
		if why := stagingOf(s).blind(s, f); why != "" {
			return why
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
	if why := stagingOf(s).unable(s, f); why != "" {
		return why
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
		return stagingOf(s).badClock(s, a.Node, a.Rate)
	case sim.Delay, sim.Error:
		if f.Trigger.Plus != 0 {
			return fmt.Sprintf("%s: the message has been passed on by then", a.Kind)
		}
		if a.Kind == sim.Error && toResource(f) {
			return "no errors of such servers are made up"
		}
	case sim.Break:
		if a.This && toResource(f) || slices.Contains(a.Link.To, resourceNode) || slices.Contains(a.Link.From, resourceNode) {
			return "the connection to the resource cannot be broken"
		}
	default:
	}
	return ""
}
