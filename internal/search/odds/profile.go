package odds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/profile"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// The clients of the scenario of a lock.
const (
	theHolder    = "a"
	theContender = "b"
)

// Scenario is the text of a scenario in which one client acquires a lock and another one wants it meanwhile, on the servers that the
// lock is usually deployed on.
func Scenario(lock *locks.Algorithm, p *profile.Profile) []byte {
	servers, kind := "", scenarios.Kind(lock.Backend()).Facts()
	if kind.Has(backend.Masters) {
		switch {
		case lock.Authority == locks.Majority:
			servers = ", masters: 5"
		case lock.Authority == locks.Replicated || len(p.Failovers) > 0:
			servers = ", replicas: 1"
		}
	}
	work := time.Second
	if p.Work.Length != nil {
		work = max(p.Work.Length.Quantile(0.5).Round(time.Microsecond), time.Microsecond)
	}
	return fmt.Appendf(nil, "name: odds\ntitle: \"One acquisition of %s, while another client wants the lock\"\nlock: {algorithm: %q}\n"+
		"servers: {kind: %s%s}\nclients:\n  %s: {work: %v}\n  %s: {work: %v}\n",
		lock.Name, lock.Name, lock.Backend(), servers, theHolder, work, theContender, work)
}

// Of is the model of a case under a profile. Ours says that the scenario is that of [Scenario], so that the profile says all of it;
// otherwise its clients are those of a file, and its first one is the holder. The error says which fields the profile lacks, or what in it cannot happen to
// these servers, with its position.
func Of(p *profile.Profile, c scenarios.Case, o harness.Options, ours bool) (Model, error) {
	fields := []string{"acquisitions", "pauses", "cuts", "crashes", "failovers", "clocks", "causes"}
	if ours {
		fields = append(fields, "contention", "work", "latency")
	}
	if err := p.Require(fields...); err != nil {
		return Model{}, err
	}
	for _, l := range c.Scenario.Named {
		if l.TTL != 0 {
			return Model{}, c.Scenario.Errorf("locks."+l.Name+".ttl", "odds are found for other leases too, by lock.ttl: want one time to live for all locks, stated there")
		}
	}
	s := parameter.Clone(c.Scenario)
	s.Until, s.Expect, s.Measures = 0, nil, nil
	c.Scenario = s
	m := Model{Case: c, Options: o, Holder: s.Clients[0].Names()[0]}
	if l := p.Work.Length; l != nil {
		if work, constant := always(l); constant {
			s.Clients[0].Work = work
		} else {
			m.Work = l
		}
		s.Clients[0].Busy, s.Clients[0].Hangs = p.Work.CPU, false
	}
	if p.Latency != nil {
		s.Network.Latency = latency(p.Latency)
	}
	if ours {
		m.contend(p)
	}
	err := m.add(p)
	return m, err
}

// contend says how likely another client wants the lock, and when it comes.
func (m *Model) contend(p *profile.Profile) {
	m.Contender, m.Arrivals = theContender, p.Acquisitions.PerSecond
	if n := p.Contention.Clients; n > 0 {
		m.Arrivals *= float64(n-1) / float64(n)
	} else {
		m.Waits = p.Contention.Share
	}
}

// latency is a law as a table of quantiles. It ends with what one message in a million exceeds.
func latency(l profile.Law) sim.Latency {
	table := sim.Latency{{Share: 0, Delay: l.Above(1)}}
	for _, share := range []int64{10_000, 100_000, 250_000, 500_000, 750_000, 900_000, 950_000, 990_000, 995_000, 999_000, 999_900, 999_990, million} {
		above := max(float64(million-share)/million, 1./million)
		table = append(table, sim.Quantile{Share: share, Delay: max(min(l.Above(above), longest), table[len(table)-1].Delay)})
	}
	if first, last := table[0], table[len(table)-1]; first.Delay == last.Delay {
		return sim.Constant(first.Delay)
	}
	return table
}

const million = 1_000_000

// add adds the hazards of a profile.
func (m *Model) add(p *profile.Profile) error {
	s := m.Case.Scenario
	servers := s.Servers.Names()[:s.Servers.Shape().Keepers]
	for _, e := range p.Pauses {
		short := m.short(e)
		h := hazard("pause of "+m.Holder, thinned(e, short), m.Holder)
		h.Running, h.Worse = true, true
		if short > 0 {
			h.Short, h.All = short, e
			m.slower(e, short)
		}
		h.Faults = lasting(func(node string) sim.Action { return sim.Action{Kind: sim.Pause, Node: node} })
		m.Hazards = append(m.Hazards, h)
	}
	for _, e := range p.Cuts {
		h := hazard("network cut of "+m.Holder, e, m.Holder)
		h.Worse = true
		h.Faults = lasting(func(node string) sim.Action {
			return sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{node}, To: s.Servers.Names()}}
		})
		m.Hazards = append(m.Hazards, h)
	}
	for _, e := range p.Crashes {
		h := hazard("restart of a server", e.Event, servers...)
		h.Faults = restarts(e.Keep)
		m.Hazards = append(m.Hazards, h)
	}
	for _, e := range p.Causes {
		h := hazard("restarts of servers by a common cause", e.Event, servers...)
		h.Together, h.Spread, h.Of = true, e.Within, min(cmp.Or(e.Servers, len(servers)), len(servers))
		h.Faults = restarts(e.Keep)
		m.Hazards = append(m.Hazards, h)
	}
	if err := m.addFailovers(p); err != nil {
		return err
	}
	m.addClocks(p)
	return nil
}

// brief is how many times as long as a pause a lease is that takes no notice of it.
const brief = 1000

// short is up to which length pauses do not matter, if there are many: by so little any of them delays what a client does. 0: all matter.
func (m *Model) short(e profile.Event) time.Duration {
	lease := m.Case.Scenario.Lease()
	if e.Length == nil || e.Rate.PerSecond*lease.Seconds() <= 1 || e.Length.Tail(lease/brief) >= 1 {
		return 0
	}
	return lease / brief
}

// thinned is an event as far as it is longer than short.
func thinned(e profile.Event, short time.Duration) profile.Event {
	if short == 0 {
		return e
	}
	return e.Longer(short)
}

// slower makes work that keeps the processor busy last longer by the pauses that are left out. There are so many that they come to
// their mean. Other work waits meanwhile, and is not prolonged.
func (m *Model) slower(e profile.Event, short time.Duration) {
	const parts = 1000
	of, sum := 1-e.Length.Tail(short), 0.0
	for k := range parts {
		sum += e.Length.Quantile(of*(float64(k)+0.5)/parts).Seconds() * of / parts
	}
	by := 1 + e.Rate.PerSecond*sum
	c := &m.Case.Scenario.Clients[0]
	switch {
	case !c.Busy:
	case m.Work != nil:
		m.Work = scaled{m.Work, by}
	default:
		c.Work = times(c.Work, by)
	}
}

// hazard is an event of a profile.
func hazard(what string, e profile.Event, nodes ...string) Hazard {
	if e.Name != "" && !strings.HasPrefix(e.Field, e.Name) && e.Name != what {
		what += " (" + e.Name + ")"
	}
	h := Hazard{Name: what, Nodes: nodes, Rate: e.Rate.PerSecond, Stated: e.Rate}
	if e.Length == nil {
		return h
	}
	if length, constant := always(e.Length); constant {
		h.Fixed = length
	} else {
		h.Length = e.Length
	}
	return h
}

// always is the length of a law that has no other.
func always(l profile.Law) (time.Duration, bool) {
	least := min(l.Above(1), longest)
	return least, least == min(l.Above(negligible), longest)
}

// lasting is a fault that lasts as long as the event.
func lasting(what func(node string) sim.Action) func(string, time.Duration, time.Duration) []sim.Fault {
	return func(node string, at, length time.Duration) []sim.Fault {
		return []sim.Fault{{Trigger: sim.Trigger{At: at}, Action: what(node), For: length}}
	}
}

// restarts is a crash of a server that is up again after the length of the event.
func restarts(keep string) func(string, time.Duration, time.Duration) []sim.Fault {
	return func(node string, at, length time.Duration) []sim.Fault {
		return []sim.Fault{{Trigger: sim.Trigger{At: at}, Action: sim.Action{Kind: sim.Crash, Node: node, Restart: length, Keep: keep}}}
	}
}

// addFailovers adds promotions. Where something watches the master, it dies, and they do what they do; else a replica takes its place.
func (m *Model) addFailovers(p *profile.Profile) error {
	s := m.Case.Scenario
	facts, servers := s.Servers.Facts(), &s.Servers
	for _, e := range p.Failovers {
		watched := servers.Sentinels > 0 || servers.Cluster
		if !backend.CanBeTold(sim.Promote, facts, s.Servers.Shape()) {
			return p.Errorf(e.Field, fmt.Sprintf("%s of the scenario have nothing to fail over to", facts.Title),
				"none, or a scenario with such servers, as by --set servers.replicas=1")
		}
		names := servers.Names()
		h := hazard("failover", e, names[0])
		h.Fixed = time.Millisecond
		h.Faults = func(node string, at, _ time.Duration) []sim.Fault {
			if watched {
				return []sim.Fault{{Trigger: sim.Trigger{At: at}, Action: sim.Action{Kind: sim.Crash, Node: node, Host: true}}}
			}
			to := node
			if len(names) > 1 {
				to = names[1]
			}
			return []sim.Fault{{Trigger: sim.Trigger{At: at}, Action: sim.Action{Kind: sim.Promote, Node: to}}}
		}
		m.Hazards = append(m.Hazards, h)
	}
	return nil
}

// addClocks adds clocks that run wrong, and that jump. A jump is as likely forward as backward: two hazards of half the rate.
func (m *Model) addClocks(p *profile.Profile) {
	s := m.Case.Scenario
	for _, c := range p.Clocks {
		var nodes []string
		if c.Of != "servers" {
			nodes = append(nodes, m.Holder)
		}
		if c.Of != "clients" {
			nodes = append(nodes, s.Servers.Names()[:s.Servers.Shape().Keepers]...)
		}
		if c.Drift != nil {
			m.Drifts = append(m.Drifts, Drift{Nodes: nodes, Law: c.Drift})
		}
		for _, e := range c.Steps {
			for _, sign := range []time.Duration{1, -1} {
				h := hazard(fmt.Sprintf("jump of a clock %s", map[time.Duration]string{1: "forward", -1: "back"}[sign]), e, nodes...)
				h.Rate /= 2
				h.Stated.PerSecond /= 2
				h.Worse = true
				h.Faults = func(node string, at, length time.Duration) []sim.Fault {
					return []sim.Fault{{Trigger: sim.Trigger{At: at}, Action: sim.Action{Kind: sim.SetClock, Node: node, Step: sign * length}}}
				}
				m.Hazards = append(m.Hazards, h)
			}
		}
	}
}

// rates draws how wrong clocks run, in parts per million.
func (d *Drift) rates(uniform func() float64) []scenarios.Clock {
	var list []scenarios.Clock
	for _, node := range d.Nodes {
		u := 2*uniform() - 1
		rate := int64(d.Law.Above(max(math.Abs(u), reach)) / time.Microsecond)
		if u < 0 {
			rate = -rate
		}
		if rate = min(max(rate, -million/2), million); rate != 0 {
			list = append(list, scenarios.Clock{Node: node, Rate: rate})
		}
	}
	return list
}

// withClocks are the clocks of a scenario, and others on nodes of which it says nothing.
func withClocks(list, others []scenarios.Clock) []scenarios.Clock {
	list = slices.Clone(list)
	for _, c := range others {
		if i := slices.IndexFunc(list, func(o scenarios.Clock) bool { return o.Node == c.Node }); i < 0 {
			list = append(list, c)
		}
	}
	return list
}
