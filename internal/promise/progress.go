package promise

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// progressOnRedis is of clients that wait for a holder that is gone.
func (s *Subject) progressOnRedis() Promise {
	p := Promise{
		Name: Progress, Property: checker.Progress, Focus: deaths, Extend: s.lateAtMost, Keeps: s.isLateAtMost, Model: search.FaultModel{
			Faults:      slow(search.ServerCrash, search.Stall, search.Delay, search.Break, search.Error),
			Persistence: onDisk, Progress: 10, Uneven: s.Several(),
		}, Why: `A key that nobody will release, of a dead holder or a late request, is gone after one lease.`,
	}
	if !s.Expires || s.Algorithm.Authority != locks.OneNode {
		return p
	}
	return p.played("progress", func(m *search.FaultModel) {
		if m.Timeouts = timeouts[1:]; !s.Reentrant { // a client that waits for its lock asks again when the lease is over
			m.Progress = 8
		}
	})
}

// availability is of a majority of servers while the others fail.
func (s *Subject) availability() Promise {
	return Promise{Name: Availability, Property: checker.Availability, Model: search.FaultModel{
		Faults:  []search.Kind{search.ServerPause, search.ServerCrash, search.PowerLoss},
		Masters: []int{5}, Persistence: onDisk, Progress: 8, Most: 2,
	}, Why: `Two servers of five fail at most, and no client waits for an answer for long: three can grant the lock.`}
}

// lateAtMost bounds how late one message may be: a client without time-outs waits for it, and no fault is over meanwhile.
func (s *Subject) lateAtMost(_ search.Source, of *scenarios.Scenario) {
	for i := range of.Faults {
		if a := &of.Faults[i].Action; a.Kind == sim.Delay {
			a.By = min(a.By, s.TTL)
		}
	}
}

// isLateAtMost reports whether lateAtMost has nothing to bound.
func (s *Subject) isLateAtMost(of *scenarios.Scenario) bool {
	return !slices.ContainsFunc(of.Faults, func(f sim.Fault) bool { return f.Action.Kind == sim.Delay && f.Action.By > s.TTL })
}

// shortestHandover is the lease below which a handover cannot be told from the end of a lease: clients poll as often as
// five times a second.
const shortestHandover = time.Second

// unending is how long a client may wait for a lock that is free, where grants do not end by themselves: clients may pause for long between
// two tries.
const unending = time.Minute

// often is how many sections show what happens to locks that are used often.
const often = 101

// handover has clients wait for each other without faults, one of them with less patience than it may take or none, and
// stay up when they are done, or come back later. Of several servers it lets a majority execute requests whose answers are
// lost, so that failed tries are to be cleaned up.
func (s *Subject) handover() Promise {
	bound := s.TTL - s.TTL/10
	if !s.Expires && !s.InSession() { // what is left behind stays for good, and is told from pauses between two tries
		bound = unending
	}
	return Promise{
		Name: Handover, Property: checker.Progress, Share: 50, Model: search.FaultModel{Within: 20, Progress: 1},
		Extend: func(src search.Source, of *scenarios.Scenario) {
			of.Progress = bound
			n := int64(len(of.Clients))
			if i := src.Below(2 * n); i < n && !s.facts().Delays { // else a session that is given up delays the next one
				c := &of.Clients[i]
				if c.Wait = s.TTL / 10; src.Below(2) == 1 {
					c.Wait = locks.Try
				}
				if src.Below(2) == 1 {
					c.Again = 0
				}
			}
			if src.Below(2) == 1 { // one comes while another leaves
				of.Clients[n-1].Start = of.Clients[0].Start + of.Clients[0].Work + time.Millisecond*time.Duration(src.Below(8))
			}
			after := src.Below(3)
			for i := range of.Clients { // nothing is free because a process is over, or kept because one ends before it has sent a release
				c := &of.Clients[i]
				if c.Stays = true; after > 1 {
					c.Sections, c.Think = 2, 2*s.TTL
				}
			}
			if s.Several() && src.Below(2) == 1 {
				of.Faults = append(of.Faults, lostAnswers(src, of)...)
			}
			if src.Below(32) == 0 { // names that are not padded sort otherwise from the tenth on
				c := &of.Clients[0]
				c.Wait, c.Sections, c.Work, c.Think = locks.Forever, often, s.TTL/1000, 0
			}
		},
		Keeps: func(of *scenarios.Scenario) bool { // several that come and go may keep each other from a queue's head
			impatient := 0
			for i := range of.Clients {
				c := &of.Clients[i]
				if !c.Stays {
					return false
				}
				if c.Wait != locks.Forever {
					if impatient += c.Count * c.Tasks; c.Wait < s.TTL/10 && c.Wait != locks.Try {
						return false
					}
				}
			}
			return impatient <= 1 && (impatient == 0 || !s.facts().Delays)
		},
		Forgives: func(h *history.History, v *checker.Violation) bool {
			since := v.At.Add(-bound) // that may have been refused a moment later
			if s.Algorithm.Authority == locks.OneNode && slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
				a := h.Acquisition(g.Acquisition) // that may be returned later on purpose, when others have stopped
				return since < g.From && g.From <= v.At && a != nil && a.Outcome == history.OK && v.At < a.Returned && a.Returned.Sub(g.From) > s.TTL/10
			}) {
				return true
			}
			return slices.ContainsFunc(h.Waits, func(w history.Wait) bool { // who doubles its pauses may wait as long again as it has waited
				return w.Ended == history.GotIt && w.From <= since && v.At <= w.To && w.To.Sub(since) <= since.Sub(w.From)*5/4
			})
		},
		Why: `Nobody holds for longer than a fifth of a lease, and a release, or the clean-up after a try that failed, frees the
			lock at once: a client that waits need not wait until a lease has ended, or another client is gone.`,
	}
}

// lostAnswers breaks one client's connections to a majority of the servers when they have granted it the lock.
func lostAnswers(src search.Source, of *scenarios.Scenario) []sim.Fault {
	client := of.Clients[src.Below(int64(len(of.Clients)))].Name
	servers := of.Servers.Names()
	first, nth := int(src.Below(int64(len(servers)))), int(src.Below(2))
	var faults []sim.Fault
	for i := range len(servers)/2 + 1 {
		server := servers[(first+i)%len(servers)]
		faults = append(faults, sim.Fault{
			Trigger: sim.Trigger{When: sim.Before, Nth: nth, Step: sim.Pattern{
				Node: server, Does: trace.Execute, What: trace.ToAcquire, Peer: client,
			}},
			Action: sim.Action{Kind: sim.Break, This: true, RST: true, Lose: sim.LoseReply},
		})
	}
	return faults
}

// mostAsked is how many requests per second a client that waits may send. One that pauses for a millisecond between two tries sends
// fewer, though it asks five servers at once; one that does not pause sends 10,000 to a server from which it is 50 µs away.
const mostAsked = 5000

// waiterLoad lets one client wait for another, in a network that takes 50 µs. In half of the runs the other one dies while it holds, and
// the wait includes the rest of its lease or session, and the lock-delay.
func (s *Subject) waiterLoad() Promise {
	return Promise{
		Name: WaiterLoad, Property: checker.RequestLoad, Share: 1, Model: search.FaultModel{Clients: 2, Waits: true},
		Extend: func(src search.Source, of *scenarios.Scenario) {
			of.Network = scenarios.Network{Latency: sim.Constant(50 * time.Microsecond)}
			of.Load.Waiter = mostAsked
			for i := range of.Clients {
				c := &of.Clients[i]
				c.Start, c.Wait, c.Sections, c.Work = time.Duration(i)*s.TTL/100, locks.Forever, 1, 2*time.Second
			}
			if holder := of.Clients[0].Name; src.Below(2) == 1 {
				of.Faults = []sim.Fault{{Trigger: whenHolding(holder, 0), Action: sim.Action{Kind: sim.Crash, Node: holder}}}
			}
		},
		Why: `A client that waits is told, or pauses before it asks again: others need the servers too.`,
	}
}
