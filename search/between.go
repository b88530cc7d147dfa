package search

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Pauses reports whether a holder may stand still for long enough to lose the lock, so that others can take and release
// it before it goes on.
func (m *Menu) Pauses() bool { return m.Base == nil && m.Within == 0 && m.has(ClientPause) }

// between draws, in as many scenarios as the menu says, a holder that stands still in its critical section until it has
// lost the lock. The others have little to do, so that one of them has mostly acquired and released the lock when the
// holder goes on, and they come back then. Nothing else goes wrong.
//
// A lock that takes a missing key for its own does no harm unless another client has held the lock meanwhile. Faults that are
// drawn independently seldom leave the lock free again at the moment at which a late release or renewal arrives.
func (g *generator) between() bool {
	if g.menu.Between == 0 || g.blind() || !g.menu.Pauses() || !oneIn(g, g.menu.Between) {
		return false
	}
	ttl, holder := g.ttl, g.clients[0]
	for i := range g.scenario.Clients {
		c := &g.scenario.Clients[i]
		c.Tasks, c.Enters, c.Wait, c.Hangs, c.Read, c.Write = 1, 0, locks.Forever, false, 0, nil
		c.Again, c.Retry.Delay = ttl/10, ttl/10
		if c.Name == holder {
			c.Sections, c.Work = 1, pick(g, 4*ttl, ttl/2) // it goes on with its work, or is done and releases
			continue
		}
		c.Start = pick(g, ttl/10, ttl/2)
		c.Sections, c.Think = 1+upTo(g, 2), pick(g, ttl/10, 0, ttl/2, ttl)
		c.Work = pick(g, ttl/100, 0, ttl/10)
	}
	g.add(ClientPause, sim.Fault{
		Action: sim.Action{Kind: sim.Pause, Node: holder}, For: pick(g, 2*ttl, ttl+ttl/2, 3*ttl),
		Trigger: sim.Trigger{
			When: sim.After, Step: sim.Pattern{Node: holder, Does: trace.Acquired}, Plus: pick(g, ttl/100, 0, ttl/20),
		},
	})
	return true
}
