package promise

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// lostWaiters takes clients' places away while another is well inside its section, so that nothing that they have asked
// before can still be answered when it leaves.
func (s *Subject) lostWaiters(model search.FaultModel) Promise {
	model.Clients, model.Waits, model.Renewed = 4, false, true
	model.Faults, model.Storage, model.Styles, model.Fencing = nil, nil, nil, nil
	return Promise{
		Name: ExclusionOfLostWaiters, Property: checker.MutualExclusion, Model: model, Keeps: s.losesWaitersOnly,
		Extend: func(src search.Source, of *scenarios.Scenario) {
			of.Resource.Registers = 1
			for i := range of.Clients {
				of.Clients[i].Work = max(of.Clients[i].Work, s.TTL/2)
				of.Clients[i].Read, of.Clients[i].Write = 0, nil
				of.Clients[i].Start = min(of.Clients[i].Start, s.TTL/10)
			}
			for range 1 + src.Below(2) {
				of.Faults = append(of.Faults, s.lossOfPlace(src, of))
			}
		},
		Why: `A client that waits when its session ends has lost its place, and finds that out before it holds. No holder loses its own:
			what happens begins while another one holds.`,
	}
}

// lossOfPlace draws how a client that waits is lost.
func (s *Subject) lossOfPlace(src search.Source, of *scenarios.Scenario) sim.Fault {
	n := int64(len(of.Clients))
	holder := src.Below(n)
	waiter := of.Clients[(holder+1+src.Below(n-1))%n].Name
	f := sim.Fault{Trigger: sim.Trigger{
		When: sim.After, Step: sim.Pattern{Node: of.Clients[holder].Name, Does: trace.Acquired},
		Nth: int(src.Below(2)), Plus: s.TTL / 100 * time.Duration(1+src.Below(20)),
	}}
	ways := int64(3)
	if s.facts().Answers { // and a client that pauses reads that it holds when it goes on
		ways = 2
	}
	switch src.Below(ways) {
	case 0:
		f.Action = sim.Action{Kind: sim.EndSession, Node: waiter}
	case 1:
		f.Action = sim.Action{Kind: sim.Crash, Node: waiter}
	default:
		f.Action, f.For = sim.Action{Kind: sim.Pause, Node: waiter}, s.TTL*time.Duration(2+src.Below(2))
	}
	return f
}

// losesWaitersOnly reports whether each fault takes the place of a client that waits, as lostWaiters draws it.
func (s *Subject) losesWaitersOnly(of *scenarios.Scenario) bool {
	for i := range of.Clients {
		if c := &of.Clients[i]; c.Work < s.TTL/2 || c.Read > 0 || c.Write != nil || c.Start > s.TTL/10 {
			return false
		}
	}
	for i := range of.Faults {
		t, a := &of.Faults[i].Trigger, &of.Faults[i].Action
		if t.When != sim.After || t.Step.Does != trace.Acquired || t.Step.Node == "" || t.Step.Node == a.Node ||
			t.Plus < s.TTL/100 || t.Plus > s.TTL/5 || a.Kind == sim.Pause && of.Faults[i].For < 2*s.TTL {
			return false
		}
	}
	return true
}
