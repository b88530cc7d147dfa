package explore

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// model is what may go wrong in runs of a base: actions of each kind, of a few telling magnitudes about the lease.
type model struct {
	kinds   []search.Kind
	facts   *backend.Facts  // of the servers
	roles   map[string]role // of nodes
	clients []string
	servers []string // of the lock
	keepers []string // those that keep its data
	masters int      // how many of these, the first, are masters when a run begins
	blind   bool     // nobody sees when clients look at their clocks, or what their code does at one instant
	led     bool     // one of several servers leads them

	lasting  []time.Duration // of pauses, cuts and delays
	returns  []time.Duration // of a server after a crash
	comeback []time.Duration // of a client after a crash; 0: never
	step     time.Duration   // of a clock
	drift    int64           // of a clock, in ppm
	refusal  string          // instead of an answer

	mishaps map[string][]mishap // what happens to a node as a whole
}

// role says what a node is.
type role uint8

const (
	outsider role = iota // storage
	client
	server
)

// mishap is a fault that is not placed yet.
type mishap struct {
	kind  search.Kind
	fault sim.Fault // without its trigger
}

// Magnitudes. What is long is beyond a lease and everybody's patience, what is short is within a lease, and a moment is
// too short for a lease to notice.
func short(ttl time.Duration) time.Duration  { return ttl / 2 }
func moment(ttl time.Duration) time.Duration { return ttl / 100 }

// long asks the servers how long their patience is.
func long(servers *backend.Facts, ttl time.Duration) time.Duration {
	return ttl * time.Duration(servers.Patience) / 100
}

const drift = 20_000 // ppm, twice what Redlock allows for

// newModel returns the fault model of some kinds of faults for a base. A full one has short faults, too.
func newModel(base *scenarios.Scenario, kinds []search.Kind, full bool) *model {
	s, ttl := &base.Servers, base.Lock.TTL
	facts, shape := s.Facts(), s.Shape()
	m := &model{
		facts: facts, masters: shape.Masters, led: facts.Role == "leader" && shape.Peers, servers: s.Names(), roles: make(map[string]role), mishaps: make(map[string][]mishap),
		lasting: []time.Duration{long(facts, ttl)}, returns: []time.Duration{moment(ttl)}, comeback: []time.Duration{0},
		step: long(facts, ttl), drift: drift, refusal: search.Refusals(s.Kind)[0],
	}
	if full {
		m.lasting = append(m.lasting, short(ttl))
		m.returns = append(m.returns, long(facts, ttl))
		m.comeback = append(m.comeback, moment(ttl))
	}
	m.keepers = m.servers[:shape.Keepers]
	for i := range base.Clients {
		m.clients = append(m.clients, base.Clients[i].Names()...)
	}
	for _, name := range m.clients {
		m.roles[name] = client
	}
	for _, name := range m.servers {
		m.roles[name] = server
	}
	for _, k := range search.Kinds() {
		if slices.Contains(kinds, k) && m.hasUse(k, s) {
			m.kinds = append(m.kinds, k)
			m.hit(k)
		}
	}
	return m
}

// Usual lists the kinds of faults that are explored in a base unless somebody asks for others: not those that do what
// another does, or that are there from the start on rather than at a step. A stall is to all that wait what the delay
// of a message is; what a machine loses with its power is what its process loses, unless its disk is told less than
// all.
func Usual(base *scenarios.Scenario) []search.Kind {
	but := []search.Kind{search.Stall, search.Drift, search.SameRandom}
	if !slices.Contains([]string{"rdb", "lazy", "everysec"}, base.Servers.Persistence) {
		but = append(but, search.PowerLoss)
	}
	return search.Kinds(but...)
}

// hasUse reports whether a kind of fault can do anything to the base.
func (m *model) hasUse(k search.Kind, s *scenarios.Servers) bool {
	switch k {
	case search.ServerAhead, search.ServerBack:
		return !m.facts.Monotonic
	case search.SameRandom:
		return len(m.clients) > 1
	case search.SessionCut: // to be cut off from the only server is to be cut off from all
		return k.CanHit(s) && (len(m.servers) > 1 || !slices.Contains(m.kinds, search.Cut))
	default:
		return k.CanHit(s)
	}
}

// atStart lists the faults that are there from the start of a run on.
func (m *model) atStart() (list []mishap) {
	if slices.Contains(m.kinds, search.SameRandom) {
		same := sim.Action{Kind: sim.SameRandom, Nodes: m.clients[:2]}
		list = append(list, mishap{search.SameRandom, sim.Fault{Action: same}})
	}
	if slices.Contains(m.kinds, search.Drift) {
		for _, node := range slices.Concat(m.clients, m.servers) {
			for _, rate := range [...]int64{m.drift, -m.drift} {
				drifts := sim.Action{Kind: sim.SetClock, Node: node, Rate: rate}
				list = append(list, mishap{search.Drift, sim.Fault{Action: drifts}})
			}
		}
	}
	return list
}

// at lists what can go wrong at a point besides what happens to its node as a whole.
func (m *model) at(p *point) (list []mishap) {
	for _, k := range m.kinds {
		var faults []sim.Fault
		switch k {
		case search.Cut, search.Stall, search.Partition, search.SessionCut:
			faults = m.ofLink(k, p)
		case search.Delay, search.Lag, search.Break, search.Error:
			faults = m.ofMessage(k, p)
		case search.Failover, search.EndSession, search.Evict, search.Snapshot:
			faults = m.ofService(k, p)
		default: // it hits nodes as a whole, or is there from the start on
		}
		for _, f := range faults {
			list = append(list, mishap{k, f})
		}
	}
	return list
}

// each lists an action for each of some times that it takes.
func each(times []time.Duration, fault func(d time.Duration) sim.Fault) (list []sim.Fault) {
	for _, d := range times {
		list = append(list, fault(d))
	}
	return list
}
