package promise

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Some promises are of what happens leases after a holder has lost the lock. Their clients and faults are told here, but
// for their moments: drawn at random they would hardly ever come together.

// worker is a client that waits for the lock and has one section.
func (s *Subject) worker(name string, start, work time.Duration) scenarios.Client {
	return scenarios.Client{
		Name: name, Count: 1, Tasks: 1, Sections: 1, Start: start, Work: work,
		Wait: locks.Forever, Again: s.TTL / 4, Retry: scenarios.Retry{Delay: s.TTL / 10},
	}
}

// some draws a part of a time.
func some(src search.Source, of time.Duration) time.Duration {
	return of / 100 * time.Duration(1+src.Below(100))
}

// whenHolding is a moment after a client has acquired.
func whenHolding(client string, plus time.Duration) sim.Trigger {
	return sim.Trigger{When: sim.After, Step: sim.Pattern{Node: client, Does: trace.Acquired}, Plus: plus}
}

// told is the fault model of a promise whose clients and faults are told: it draws what is around them.
func (s *Subject) told() search.FaultModel {
	m := search.FaultModel{}
	if s.facts().Has(backend.Masters) {
		m.Persistence = onDisk
	}
	return m
}

// expiry has a holder die beside another that has lost the lock, does not notice, and works on.
func (s *Subject) expiry() Promise {
	model, brief := s.told(), 5*s.TTL
	model.Progress = 10 // up to six hold rightly, and a lock may ask again seldom, as for Progress; a client that revives the lock works longer
	return Promise{
		Name: Expiry, Property: checker.Progress, Share: 2, Model: model,
		Extend: func(src search.Source, of *scenarios.Scenario) {
			of.Clients = []scenarios.Client{
				s.worker("a", 0, 14*s.TTL), s.worker("b", s.TTL/10, brief), s.worker("c", 2*s.TTL, s.TTL/10),
			}
			of.Faults = []sim.Fault{{
				Trigger: whenHolding("a", some(src, s.TTL)),
				Action:  sim.Action{Kind: sim.Pause, Node: "a"}, For: s.tooLong() + some(src, s.TTL),
			}, {
				Trigger: whenHolding("b", some(src, 3*s.TTL)), Action: sim.Action{Kind: sim.Crash, Node: "b"},
			}}
		},
		Keeps: func(of *scenarios.Scenario) bool { // a client that works for so long, and has not lost the lock, holds it rightly
			return !slices.ContainsFunc(of.Clients, func(c scenarios.Client) bool {
				return c.Work > brief && !s.loses(of, c.Name)
			})
		},
		Forgives: func(h *history.History, v *checker.Violation) bool { // a client that was paused has not lost what nobody took
			return !slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool { return a.Outcome == history.OK && a.Crashed <= v.At })
		},
		Why: `A lease that its holder does not renew any more is over in time, since nobody else may renew it.`,
	}
}

// loses reports whether a client that holds stands still until its lease is over.
func (s *Subject) loses(of *scenarios.Scenario, client string) bool {
	return slices.ContainsFunc(of.Faults, func(f sim.Fault) bool {
		return f.Action.Kind == sim.Pause && f.Action.Node == client && f.For >= s.tooLong() &&
			f.Trigger.Step.Does == trace.Acquired && f.Trigger.Step.Node == client
	})
}

// tooLong is a time after which a lease is over that has not been renewed, whatever was still under way.
func (s *Subject) tooLong() time.Duration { return s.TTL + s.TTL/10 }

// lateRelease has a release come late, when another client holds, or be repeated then, since its answer was lost, of a lock
// of which only beliefs can be judged: if it ends the other's hold, the next client comes to hold beside that one.
func (s *Subject) lateRelease() Promise {
	return Promise{
		Name: ReleaseSafety, Property: checker.MutualExclusion, Share: 2, Model: s.told(),
		Extend: func(src search.Source, of *scenarios.Scenario) {
			of.Clients = []scenarios.Client{
				s.worker("a", 0, s.TTL/10), s.worker("b", s.TTL/10, s.TTL/2), s.worker("c", s.TTL/5, s.TTL/2),
			}
			if !s.Expires || src.Below(2) == 1 { // no stall outlasts what does not end
				of.Clients[0].Unlock = some(src, s.TTL/4)
				of.Faults = []sim.Fault{{
					Trigger: sim.Trigger{
						When: sim.After, Step: sim.Pattern{Node: "a", Does: trace.Release},
						Plus: 100 * time.Microsecond * time.Duration(src.Below(40)), // about as long as a request takes
					},
					Action: sim.Action{Kind: sim.Break, RST: true, Lose: sim.LoseReply, Link: sim.Link{From: []string{"a"}, To: of.Servers.Names()}},
				}}
				return
			}
			of.Faults = []sim.Fault{{
				Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: "a", Does: trace.Release}},
				Action:  sim.Action{Kind: sim.Stall, Link: sim.Link{From: []string{"a"}, To: of.Servers.Names(), OneWay: true}},
				For:     s.TTL + some(src, s.TTL/2),
			}}
		},
		Keeps: func(of *scenarios.Scenario) bool {
			return !slices.ContainsFunc(of.Clients, func(c scenarios.Client) bool { return c.Work > s.TTL/2 }) &&
				!slices.ContainsFunc(of.Faults, func(f sim.Fault) bool {
					return f.Action.Kind != sim.Stall && f.Action.Kind != sim.Break || f.Trigger.Step.Does != trace.Release
				})
		},
		Why: `A release ends one acquisition. If it is late, and that has ended, it ends nothing.`,
	}
}

// noticeOfLoss has a holder lose the lock, and another one come when it has long been told.
func (s *Subject) noticeOfLoss() Promise {
	model, long := s.told(), 12*s.TTL
	model.Styles = heeding
	return Promise{
		Name: Notice, Property: checker.MutualExclusion, Share: 2, Model: model,
		Extend: func(src search.Source, of *scenarios.Scenario) {
			asks := s.worker("c", s.TTL/20, 0) // and is refused, which says that the lock was held
			asks.Wait, asks.Again = locks.Try, 0
			of.Clients = []scenarios.Client{s.worker("a", 0, 20*s.TTL), s.worker("b", long, s.TTL/10), asks}
			if of.Faults = []sim.Fault{s.loss(src)}; s.Expires && src.Below(4) == 0 {
				of.Faults = nil // what is not renewed, or only its holder believes to be, is over in time as well
			}
		},
		Keeps: func(of *scenarios.Scenario) bool { // the holder alone waits so early: else nobody may have been told yet
			early := 0
			for i := range of.Clients {
				if c := &of.Clients[i]; c.Start < long && (c.Wait != locks.Try || c.Again != 0) {
					early += c.Count * c.Tasks * c.Sections
				}
			}
			return early <= 1
		},
		Forgives: func(_ *history.History, v *checker.Violation) bool { return v.At < trace.Instant(long) }, // nobody has lost it by then
		Why:      `A lease that states a notice gives it: some leases after the holder has lost the lock it has stopped.`,
	}
}

// loss draws how the holder loses the lock.
func (s *Subject) loss(src search.Source) sim.Fault {
	f := sim.Fault{Trigger: whenHolding("a", s.TTL/10+some(src, s.TTL))}
	if s.Asks || s.InSession() && src.Below(2) == 1 {
		f.Action = sim.Action{Kind: sim.EndSession, Node: "a"}
		return f
	}
	f.Action, f.For = sim.Action{Kind: sim.Pause, Node: "a"}, s.TTL*time.Duration(2+src.Below(2))
	return f
}
