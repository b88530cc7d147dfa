package search

import (
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Pauses reports whether a holder may stand still for long enough to lose the lock, so that others can take and release
// it before it goes on.
func (m *FaultModel) Pauses() bool { return m.Base == nil && m.Within == 0 && m.has(ClientPause) }

// between draws, in as many scenarios as the fault model says, a holder that stands still until it has lost the lock: in its
// critical section, or in the middle of a call. Others take the lock meanwhile, and nothing else goes wrong, except that
// such a call may have lost a request, or had one refused.
//
// A lock that takes a missing key for its own does no harm unless another client has held the lock meanwhile, and one that
// compares in one request and deletes in the next does none unless another client holds it then. Faults that are drawn
// independently seldom meet so.
func (g *generator) between() bool {
	if g.model.Between == 0 || !g.model.Pauses() || !oneIn(g, g.model.Between) {
		return false
	}
	if oneIn(g, 2) {
		g.betweenRequests()
	} else {
		g.betweenSteps()
	}
	return true
}

// betweenSteps has the holder stand still in its critical section. The others have little to do, so that one of them has mostly
// acquired and released the lock when the holder goes on, and they come back then.
func (g *generator) betweenSteps() {
	ttl, holder := g.ttl, g.clients[0]
	g.takeTurns(pick(g, 4*ttl, ttl/2), ttl/100, 0, ttl/10) // it goes on with its work, or is done and releases
	g.standStill(sim.Trigger{
		When: sim.After, Step: sim.Pattern{Node: holder, Does: trace.Acquired}, Plus: pick(g, ttl/100, 0, ttl/20),
	}, 2*ttl, ttl+ttl/2, 3*ttl)
}

// betweenRequests has the holder stand still while an answer is under way to it, or before it sends a request. The others have
// more to do, so that one of them mostly holds the lock when it goes on.
func (g *generator) betweenRequests() {
	ttl, holder, purposes := g.ttl, g.clients[0], []string{trace.ToRelease, trace.ToAcquire}
	if g.model.Renews {
		purposes = append(purposes, trace.ToRenew)
	}
	purpose := pick(g, purposes...)
	work := pick(g, ttl/10, ttl/2)
	if purpose == trace.ToRenew {
		work = 2 * ttl
	}
	g.takeTurns(work, ttl/2, ttl-eps, ttl/10)
	request := sim.Pattern{Node: holder, Does: trace.Send, What: purpose, Peer: g.anyHost()}
	nth := pick(g, 0, 0, 0, 2)
	if g.model.has(Break) && oneIn(g, 2) {
		g.add(Break, sim.Fault{
			Trigger: sim.Trigger{When: sim.Before, Step: request, Nth: nth},
			Action:  sim.Action{Kind: sim.Break, This: true, RST: oneIn(g, 2), Lose: pick(g, sim.LoseRequest, sim.LoseReply)},
		})
		nth = max(nth, 1) + 1 // the request that follows
	}
	g.standStill(sim.Trigger{When: pick(g, sim.After, sim.Before), Step: request, Nth: nth}, ttl+ttl/5, ttl+ttl/2, 2*ttl)
}

// takeTurns gives the holder, who comes first, one section, and the others one or several, of which work has the lengths to
// choose from. They wait for each other.
func (g *generator) takeTurns(holders time.Duration, others ...time.Duration) {
	ttl := g.ttl
	for i := range g.scenario.Clients {
		c := &g.scenario.Clients[i]
		c.Tasks, c.Enters, c.Wait, c.Hangs, c.Read, c.Write = 1, 0, locks.Forever, false, 0, nil
		c.Again, c.Retry.Delay = ttl/10, ttl/10
		if i == 0 {
			c.Sections, c.Work = 1, holders
			continue
		}
		c.Start = pick(g, ttl/10, ttl/2)
		c.Sections, c.Think = 1+upTo(g, 2), pick(g, ttl/10, 0, ttl/2, ttl)
		c.Work = pick(g, others...)
	}
}

// standStill pauses the holder for one of some times, all longer than its lease.
func (g *generator) standStill(t sim.Trigger, times ...time.Duration) {
	g.add(ClientPause, sim.Fault{
		Trigger: t, Action: sim.Action{Kind: sim.Pause, Node: g.clients[0]}, For: pick(g, times...),
	})
}
