package locktest

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// allows reports whether a scenario is one in which the promise is to be kept: what is drawn from the fault model is, and what
// is made of that, or has been saved for another lock, need not be. A right lock may be broken by any other.
func (p *pledge) allows(s *scenarios.Scenario) bool {
	return p.allowsServers(&s.Servers) && slices.Contains(p.Model.TTLs, s.Lock.TTL) && p.allowsClocks(s) && slowest(s) <= p.longestMessage(s) &&
		(p.Model.Within == 0 || p.spent(s) <= s.Lock.TTL/100*time.Duration(p.Model.Within)) &&
		(p.Keeps == nil || p.Keeps(s))
}

// longestMessage is how long a message may be on its way: a section has a dozen beside its work, and more of them with several servers
// that are asked in turn, for which a fifth of the lease or two are left. What is asked on a new connection takes four, for which it waits.
func (p *pledge) longestMessage(s *scenarios.Scenario) time.Duration {
	if p.patience > 0 {
		return min(s.Lock.TTL/100, p.patience/5)
	}
	return s.Lock.TTL / 100
}

// slowest is how long a message may be on its way.
func slowest(s *scenarios.Scenario) time.Duration {
	slow := longest(s.Network.Latency)
	for i := range s.Network.Links {
		slow = max(slow, longest(s.Network.Links[i].Latency))
	}
	return slow
}

func longest(l sim.Latency) time.Duration {
	if len(l) == 0 {
		l = sim.LAN()
	}
	return l[len(l)-1].Delay
}

// allowsServers reports whether servers are in the fault model. Too few of them cannot survive what more can.
func (p *pledge) allowsServers(v *scenarios.Servers) bool {
	m, facts := &p.Model, v.Facts()
	switch {
	case v.Kind != m.Servers:
		return false
	case facts.Has(backend.Masters):
		persistence, disk := v.Persistence, v.Disk
		if persistence == "" && slices.Contains(m.Persistence, "none") {
			persistence = "none" // which it is
		}
		return offers(m.Masters, v.Masters, 1) && offers(m.Replicas, v.Replicas, 0) &&
			offers(m.FullSyncs, v.FullSync, 0) && offers(m.Persistence, persistence, "") &&
			(offers(m.Disk, disk, "honest") || disk == "honest")
	case facts.Has(backend.Leader):
		nodes := scenarios.Servers{Kind: v.Kind}.Count()
		return offers(m.Nodes, v.Count(), nodes) && offers(m.Ticks, v.Tick, 0) &&
			offers(m.SyncLimits, v.SyncLimit, 0) && offers(m.Persistence, v.Persistence, "")
	}
	return offers(m.KeepAlives, v.KeepAlive, 0)
}

// offers reports whether something is on a list, which if it is empty has the usual.
func offers[T comparable](list []T, x, usual T) bool {
	return slices.Contains(list, x) || len(list) == 0 && x == usual
}

// allowsClocks reports whether no clock runs faster or slower than the fault model has it.
func (p *pledge) allowsClocks(s *scenarios.Scenario) bool {
	far := func(rate int64) bool { return max(rate, -rate) > p.Model.Drift }
	return !slices.ContainsFunc(s.Clocks, func(c scenarios.Clock) bool { return far(c.Rate) }) &&
		!slices.ContainsFunc(s.Faults, func(f sim.Fault) bool { return far(f.Action.Rate) })
}

// spent is how long sections and faults can hold somebody up together, as the fault model counts it: a cut twice, and so the time
// that a server is down.
func (p *pledge) spent(s *scenarios.Scenario) time.Duration {
	longest, clients := time.Duration(0), []string(nil)
	for i := range s.Clients {
		c := &s.Clients[i]
		clients = append(clients, c.Names()...)
		if longest = max(longest, c.Work, c.Read); c.Write != nil {
			longest = max(longest, *c.Write)
		}
	}
	if p.Model.Renewed {
		longest = 0
	}
	for i := range s.Faults {
		switch f := &s.Faults[i]; f.Action.Kind {
		case sim.Pause, sim.Stall:
			longest += f.For
		case sim.Cut:
			longest += 2 * f.For
		case sim.Delay:
			longest += f.Action.By
		case sim.Crash:
			if !slices.Contains(clients, f.Action.Node) { // who is dead holds up nobody
				longest += 2 * f.Action.Restart
			}
		default:
		}
	}
	return longest
}
