// Package search makes scenarios and runs many of them.
//
// Call [Generate] for a scenario: it makes one from a [FaultModel] of what may happen and a [Source] of choices. Random
// numbers, the bytes of a fuzzer and a property-based test all drive the same generator.
//
// Nearly every known violation of a lock needs few faults at the right step of the protocol, and is almost never
// met by faults at random moments. So most faults hang on steps: after a client has acquired, before its release is
// executed. Each scenario draws a part of the fault model's kinds (swarm testing: Groce et al. 2012), so that some
// scenarios have much of what others would drown out, and times are drawn from telling ones about the lease.
package search

import (
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Generate makes a scenario of what is in the fault model. It is complete, as if it had been read from a file, and a function
// of the choices alone.
func Generate(s Source, m FaultModel) *scenarios.Scenario { return &generate(s, m).scenario }

func generate(s Source, m FaultModel) *generator {
	g := &generator{Source: s}
	g.model, g.kind = m.withDefaults()
	if m.Base != nil {
		g.adopt(m.Base)
	} else {
		g.begin()
		g.deploy()
		g.surround()
		g.addClients()
	}
	g.addFaults()
	g.scenario.Seed = 1 + uint64(s.Below(1<<16))
	g.connect()
	return g
}

// unconnected is in how many scenarios once clients open their connections themselves that could begin with them.
const unconnected = 8

// connect draws whether clients begin with connections, last: everything else is drawn as if they could not.
func (g *generator) connect() {
	s, m := &g.scenario, &g.model
	other := func(l locks.Algorithm) bool { return !l.Connects }
	if !m.Connects || m.Base != nil || slices.ContainsFunc(m.Beside, other) || s.Servers.Sentinels > 0 || s.Servers.Cluster || oneIn(g, unconnected) {
		return
	}
	for i := range s.Clients {
		s.Clients[i].Connected = true
	}
}

// Drawn returns which kinds of faults the scenario of the same choices has, and which of the fault model's can hit what it
// deploys.
func Drawn(s Source, m FaultModel) (drawn, possible []Kind) {
	g := generate(s, m)
	return g.drawn, g.possible()
}

// A run ends after this many leases at the latest, and is cut short, which says nothing, by bounds that no scenario of
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
	model    FaultModel
	kind     *backend.Facts
	shape    backend.Shape
	scenario scenarios.Scenario
	ttl      time.Duration
	clients  []string
	servers  []string      // all of them, first those that keep the lock's data
	keepers  []string      // those
	hosts    []string      // those that clients talk to
	peers    []string      // those that have connections to each other
	role     string        // "master", "leader", or "" if nobody plays such a role
	left     time.Duration // what faults may still take; unlimited if they may take any time
	brief    bool          // all work is over before a lease is
	gone     int           // servers that are never up again
	drawn    []Kind        // of the faults, and of the clocks that drift
}

// begin sets up everything but servers, clients and faults.
func (g *generator) begin() {
	m := &g.model
	g.ttl = pick(g, m.TTLs...)
	g.bound()
	g.scenario = scenarios.Scenario{
		Name:     "generated",
		Title:    "A scenario drawn for " + m.Lock,
		Lock:     scenarios.Lock{Algorithm: m.Lock, TTL: g.ttl, Key: "lock"},
		Styles:   m.Styles,
		Progress: g.ttl * time.Duration(m.Progress),
		Until:    g.ttl * leases,
		Bounds:   scenarios.Bounds{Steps: mostSteps, Messages: mostMessages},
	}
}

// bound sets how long all faults may take.
func (g *generator) bound() {
	g.left = unlimited
	if within := g.model.Within; within > 0 {
		g.left = g.ttl / 100 * time.Duration(within)
	}
}

// adopt takes a scenario as it is for faults to be added to.
func (g *generator) adopt(base *scenarios.Scenario) {
	g.scenario = *base
	s := &g.scenario
	s.Name, s.Title = "generated", "Faults added to "+base.Name
	s.Story, s.Source, s.Claims, s.Finding = "", "", "", ""
	s.Expect, s.Measures, s.Variants = nil, nil, nil
	s.Styles, s.Resource.Fencing = g.model.Styles, g.model.Fencing
	s.Faults, s.Clocks = slices.Clip(s.Faults), slices.Clip(s.Clocks)
	if g.model.Progress > 0 {
		s.Progress = base.Lock.TTL * time.Duration(g.model.Progress)
	}
	g.ttl = base.Lock.TTL
	g.bound()
	g.lookAround()
	for i := range s.Clients {
		g.clients = append(g.clients, s.Clients[i].Names()...)
	}
}

// surround draws what is around lock and servers, and how the lock is told to behave.
func (g *generator) surround() {
	m, s := &g.model, &g.scenario
	if m.Guardable && oneIn(g, 4) {
		m.Guarded, m.Storage = true, nil
	}
	s.Resource = scenarios.Resource{Fencing: m.Fencing, Registers: 1 + upTo(g, m.Registers-1), Guarded: m.Guarded}
	if m.AtHand {
		s.Resource.Latency = sim.Constant(0)
	}
	s.Network = scenarios.Network{Latency: g.latency()}
	if share := pick(g, m.Timeouts...); share > 0 {
		s.Lock.Timeout = g.ttl / time.Duration(share)
	}
	if m.Extends && oneIn(g, 3) {
		s.Lock.Renew = g.ttl / 3
	}
	s.Lock.Library, s.Lock.Acks = choose(g, m.Libraries), min(choose(g, m.Acks), s.Servers.Replicas)
	if len(m.LockDelays) > 0 {
		delay := pick(g, m.LockDelays...)
		s.Lock.LockDelay = &delay
	}
}

func (g *generator) latency() sim.Latency {
	return pick(g, sim.Constant(time.Millisecond), sim.LAN(), sim.UniformLatency(time.Millisecond, 5*time.Millisecond))
}

// addFaults draws the kinds that this scenario may have, and then the faults.
func (g *generator) addFaults() {
	kinds := some(g, g.possible())
	if slices.Contains(kinds, Drift) {
		g.drift()
	}
	if len(kinds) == 0 || g.pair() || g.between() {
		return
	}
	for range upTo(g, g.model.Most) {
		k := pick(g, kinds...)
		if f, ok := g.fault(k); ok {
			g.add(k, f)
		}
	}
}

func (g *generator) add(k Kind, f sim.Fault) {
	g.scenario.Faults, g.drawn = append(g.scenario.Faults, f), append(g.drawn, k)
}

// drift gives clocks a rate from the start on.
func (g *generator) drift() {
	g.drawn = append(g.drawn, Drift)
	for _, node := range slices.Concat(g.clients, g.servers) {
		if rate := pick(g, 0, g.model.Drift, -g.model.Drift, g.model.Drift/2); rate != 0 {
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
	ttl := g.ttl
	return g.spendAbout(times, ttl/100, ttl/10, ttl/2, ttl-eps, ttl+eps, 2*ttl, 10*ttl)
}

// spendAbout is spend with other telling times.
func (g *generator) spendAbout(times time.Duration, telling ...time.Duration) (time.Duration, bool) {
	if g.left == unlimited {
		return pick(g, telling...), true
	}
	limit := g.left / times
	if limit < eps {
		return 0, false
	}
	d := pick(g, within(limit, telling...)...)
	g.left -= d * times
	return d, true
}
