// Package search makes scenarios and runs many of them.
//
// Call [Generate] for a scenario: it makes one from a [Menu] of what may happen and a [Source] of choices. Random
// numbers, the bytes of a fuzzer and a property-based test all drive the same generator. [Promises] lists what each
// lock of the catalogue promises and [Limits] where its promises end, as menus with the property that survives, or
// does not survive, what is on them.
//
// Nearly every known violation of a lock needs few faults at the right step of the protocol, and is all but never
// met by faults at random moments. So most faults hang on steps: after a client has acquired, before its release is
// executed. Each scenario draws a part of the menu's kinds (swarm testing: Groce et al. 2012), so that some
// scenarios have much of what others would drown out, and times are drawn from telling ones about the lease.
package search

import (
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Generate makes a scenario of what is on the menu. It is complete, as if it had been read from a file, and a function
// of the choices alone.
func Generate(s Source, m Menu) *scenarios.Scenario {
	g := &generator{Source: s, menu: m.withDefaults()}
	g.deploy()
	g.addClients()
	g.addFaults()
	g.scenario.Seed = 1 + uint64(s.Below(1<<16))
	return &g.scenario
}

// A run ends after so many leases at the latest, and is cut short, which says nothing, by bounds that no scenario of
// the generator should reach.
const (
	leases       = 40
	mostSteps    = 1_000_000
	mostMessages = 1_000_000
)

const unlimited time.Duration = math.MaxInt64

// eps is how close to the end of a lease a telling time comes.
const eps = time.Millisecond

// generator is one scenario in the making.
type generator struct {
	Source
	menu     Menu
	scenario scenarios.Scenario
	ttl      time.Duration
	clients  []string
	servers  []string
	left     time.Duration // what faults may still take; unlimited if they may take any time
}

// deploy sets up everything but clients and faults.
func (g *generator) deploy() {
	m := &g.menu
	g.ttl = pick(g, m.TTLs...)
	g.left = unlimited
	if m.Within > 0 {
		g.left = g.ttl / 100 * time.Duration(m.Within)
	}
	g.scenario = scenarios.Scenario{
		Name:  "generated",
		Title: "A scenario drawn for " + m.Lock,
		Lock:  scenarios.Lock{Algorithm: m.Lock, TTL: g.ttl, Key: "lock"},
		Servers: scenarios.Servers{
			Kind: "redis", Masters: pick(g, m.Masters...), Persistence: pick(g, m.Persistence...), Disk: pick(g, m.Disk...),
		},
		Resource: scenarios.Resource{Fencing: m.Fencing, Registers: 1 + upTo(g, m.Registers-1)},
		Network:  scenarios.Network{Latency: g.latency()},
		Styles:   m.Styles,
		Progress: g.ttl * time.Duration(m.Progress),
		Until:    g.ttl * leases,
		Bounds:   scenarios.Bounds{Steps: mostSteps, Messages: mostMessages},
	}
	if s := &g.scenario.Servers; s.Persistence == "none" {
		s.Disk = "honest" // nothing is written that it could lie about
	}
	if share := pick(g, m.Timeouts...); share > 0 {
		g.scenario.Lock.Timeout = g.ttl / time.Duration(share)
	}
	g.servers = g.scenario.Servers.Names()
}

func (g *generator) latency() sim.Latency {
	return pick(g, sim.Constant(time.Millisecond), sim.LAN(), sim.UniformLatency(time.Millisecond, 5*time.Millisecond))
}

func (g *generator) addClients() {
	longest := time.Duration(0)
	for i := range 2 + upTo(g, g.menu.Clients-2) {
		c := g.client(i)
		longest = max(longest, c.Work)
		g.clients = append(g.clients, c.Name)
		g.scenario.Clients = append(g.scenario.Clients, c)
	}
	if g.left != unlimited && !g.menu.Renewed {
		g.left -= longest
	}
	if g.menu.Uneven {
		g.spread()
	}
}

func (g *generator) client(i int) scenarios.Client {
	ttl := g.ttl
	c := scenarios.Client{
		Name: string(rune('a' + i)), Count: 1,
		Tasks: 1 + upTo(g, g.menu.Tasks-1), Sections: 1 + upTo(g, g.menu.Sections-1),
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
	if g.menu.Waits {
		c.Wait = pick(g, locks.Forever, locks.Try, ttl/10, ttl+eps)
		c.Again = pick(g, ttl/4, 0)
	}
	if oneIn(g, 4) {
		c.Read = pick(g, 0, c.Work/2, c.Work)
	}
	if oneIn(g, 2) {
		write := pick(g, c.Read, c.Read+(c.Work-c.Read)/2)
		c.Write = &write
	}
	return c
}

// work draws the length of a section.
func (g *generator) work() time.Duration {
	limit, ttl := g.left, g.ttl
	if g.menu.Renewed {
		limit = 3 * ttl
	}
	return pick(g, within(limit, ttl/10, 0, ttl/100, ttl/2, ttl-eps, ttl+eps, 2*ttl)...)
}

// spread puts clients near to some servers and far from the others: the votes of a majority then split.
func (g *generator) spread() {
	for _, c := range g.clients {
		far := some(g, g.servers)
		if len(far) == len(g.servers) {
			continue
		}
		g.scenario.Network.Links = append(g.scenario.Network.Links, scenarios.Link{
			Link: sim.Link{From: []string{c}, To: far}, Latency: sim.Constant(pick(g, 5*time.Millisecond, 10*time.Millisecond)),
		})
	}
}

// addFaults draws the kinds that this scenario may have, and then the faults.
func (g *generator) addFaults() {
	kinds := some(g, g.menu.Faults)
	if slices.Contains(kinds, Drift) {
		g.drift()
	}
	if len(kinds) == 0 {
		return
	}
	for range upTo(g, g.menu.Most) {
		if f, ok := g.fault(pick(g, kinds...)); ok {
			g.scenario.Faults = append(g.scenario.Faults, f)
		}
	}
}

// drift gives clocks a rate from the start on.
func (g *generator) drift() {
	for _, node := range slices.Concat(g.clients, g.servers) {
		if rate := pick(g, 0, g.menu.Drift, -g.menu.Drift, g.menu.Drift/2); rate != 0 {
			g.scenario.Clocks = append(g.scenario.Clocks, scenarios.Clock{Node: node, Rate: rate})
		}
	}
}

// anyTime draws a time that no bound applies to.
func (g *generator) anyTime() time.Duration {
	ttl := g.ttl
	return pick(g, ttl/100, ttl/10, ttl/2, ttl-eps, ttl+eps, 2*ttl, 10*ttl)
}

// spend draws how long a fault takes, out of what is left for all of them; false if nothing is. A fault counts as
// often as it can hold somebody up: a cut twice, since the sender's kernel may send again as late as one outage after
// it is over.
func (g *generator) spend(times time.Duration) (time.Duration, bool) {
	if g.left == unlimited {
		return g.anyTime(), true
	}
	limit := g.left / times
	if limit < eps {
		return 0, false
	}
	ttl := g.ttl
	d := pick(g, within(limit, ttl/100, ttl/10, ttl/2, ttl-eps)...)
	g.left -= d * times
	return d, true
}
