package search

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

func (g *generator) addClients() {
	g.brief = g.model.Overrun > 0 && g.scenario.Lock.Renew == 0 && !oneIn(g, g.model.Overrun)
	longest := time.Duration(0)
	which := 0
	for i := range 2 + upTo(g, g.model.Clients-2) {
		c := g.client(i)
		if len(g.model.Beside) > 0 {
			which = g.mix(&c, which)
		}
		longest = max(longest, c.Work)
		g.clients = append(g.clients, c.Name)
		g.scenario.Clients = append(g.scenario.Clients, c)
	}
	if g.left != unlimited && !g.model.Renewed {
		g.left -= longest
	}
	if g.model.Uneven {
		g.spread()
	}
}

func (g *generator) client(i int) scenarios.Client {
	ttl := g.ttl
	c := scenarios.Client{
		Name: string(rune('a' + i)), Count: 1,
		Tasks: 1 + upTo(g, g.model.Tasks-1), Sections: 1 + upTo(g, g.model.Sections-1),
		Wait: locks.Forever, Again: ttl / 4,
		Retry: scenarios.Retry{Delay: pick(g, ttl/4, ttl/10)},
		Work:  g.work(),
	}
	if c.Sections > 1 {
		c.Think = pick(g, 0, ttl/10)
	}
	if i > 0 {
		c.Start = pick(g, 0, ttl/10, ttl/2, ttl-eps, ttl+eps)
	}
	g.patience(&c)
	if oneIn(g, 4) {
		c.Read = pick(g, 0, c.Work/2, c.Work)
	}
	if oneIn(g, 2) {
		write := pick(g, c.Read, c.Read+(c.Work-c.Read)/2)
		c.Write = &write
	}
	prolongs := g.model.Renews || g.scenario.Lock.Renew > 0
	if slices.Contains(g.model.Faults, ClientPause) && g.kind.Hangs && !prolongs && g.forGood(64) {
		// A client whose session is alive may hold forever, and so may one whose library prolongs its leases; a lease by itself
		// is there to end. That a watchdog of one's own outlives its worker is a story of the catalogue's.
		c.Work, c.Hangs = 0, true
	}
	if g.model.Enters > 1 {
		c.Enters = 1 + upTo(g, g.model.Enters-1)
	}
	if g.kind.Has(backend.Home) && len(g.servers) > 1 {
		c.Servers = g.home()
	}
	if g.model.Stays {
		c.Stays = oneIn(g, 2)
		if c.Sections > 1 && oneIn(g, 3) {
			c.Think = 2 * ttl
		}
	}
	if g.model.Repeats && c.Enters <= 1 && oneIn(g, 3) {
		c.Unlock = pick(g, ttl/10, ttl/100, ttl/2, ttl+eps)
	}
	g.mistakes(&c)
	return c
}

// mistakes draws which of the fault model's mistakes a client makes.
func (g *generator) mistakes(c *scenarios.Client) {
	if g.model.has(LateRenewal) && g.scenario.Lock.Renew > 0 && oneIn(g, 2) {
		c.Late = pick(g, g.ttl, g.ttl-g.scenario.Lock.Renew, g.ttl/2, g.ttl/10)
	}
	if g.model.has(ForgottenToken) && !g.model.Guarded {
		c.Forgets = oneIn(g, 2)
	}
	if g.model.has(PassedToken) && !g.model.Guarded && !c.Hangs && oneIn(g, 2) {
		c.Passes = pick(g, g.ttl/10, g.ttl/100, g.ttl/2, g.ttl+eps)
	}
}

// mix draws which lock a client has, by number: the fault model's own is 0. The second client's differs from the first one's.
func (g *generator) mix(c *scenarios.Client, before int) int {
	beside := g.model.Beside
	which := int(g.Below(int64(1 + len(beside))))
	if len(g.clients) == 1 && which == before {
		which = (which + 1) % (1 + len(beside))
	}
	if which > 0 {
		own := &beside[which-1]
		c.Lock.Algorithm = own.Name
		if own.Extends {
			c.Lock.Renew = g.scenario.Lock.Renew
		}
	}
	return which
}

// patience draws how long a client's Acquire waits, and whether it is called again when it has given up.
func (g *generator) patience(c *scenarios.Client) {
	if !g.model.Waits && !g.model.GivesUp {
		return
	}
	c.Wait = pick(g, locks.Forever, locks.Try, g.ttl/10, g.ttl+eps)
	switch {
	case g.model.Waits:
		c.Again = pick(g, g.ttl/4, 0)
	case c.Wait != locks.Forever:
		c.Again = 0
	}
}

// forGood says once in a number of times that something is not over before the run is.
func (g *generator) forGood(once int64) bool { return g.model.ForGood && oneIn(g, once) }

// home draws which servers a client connects to: all of them, one only, or one before the others.
func (g *generator) home() []string {
	from := upTo(g, len(g.servers)-1)
	switch g.Below(3) {
	case 1:
		return []string{g.servers[from]}
	case 2:
		return slices.Concat(g.servers[from:], g.servers[:from])
	default:
		return nil
	}
}

// work draws the length of a section.
func (g *generator) work() time.Duration {
	limit, ttl := g.left, g.ttl
	if g.model.Renewed {
		limit = 3 * ttl
	}
	if g.brief {
		return pick(g, ttl/10, 0, ttl/100, ttl/2, ttl*9/10)
	}
	return pick(g, within(limit, ttl/10, 0, ttl/100, ttl/2, ttl-eps, ttl+eps, 2*ttl)...)
}

// spread puts clients near to some servers and far from the others: the votes of a majority then split.
func (g *generator) spread() {
	for _, c := range g.clients {
		far := some(g, g.keepers)
		if len(far) == len(g.keepers) {
			continue
		}
		g.scenario.Network.Links = append(g.scenario.Network.Links, scenarios.Link{
			Link: sim.Link{From: []string{c}, To: far}, Latency: sim.Constant(pick(g, 5*time.Millisecond, 10*time.Millisecond)),
		})
	}
}
