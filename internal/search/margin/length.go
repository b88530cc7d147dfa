package margin

import (
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// length is one length of time in a scenario.
type length struct {
	what  string // "pause of a"
	size  time.Duration
	least time.Duration // the smallest size that it may have
	set   func(s *scenarios.Scenario, size time.Duration)
}

// lengths lists what is changed: the lengths of faults and of work, the lease, and how long messages take. Those that would be called
// the same are numbered.
func lengths(s *scenarios.Scenario) []length {
	var list []length
	times := map[string]int{}
	for i, p := range parameter.Of(s) {
		if p.What == "" || p.Rate {
			continue
		}
		least := time.Duration(1)
		if p.Zero {
			least = 0
		}
		what := p.What
		if times[what]++; times[what] > 1 {
			what += " (no. " + strconv.Itoa(times[what]) + ")"
		}
		list = append(list, length{what: what, size: time.Duration(p.Size()), least: least, set: func(s *scenarios.Scenario, size time.Duration) {
			parameter.Of(s)[i].Set(int64(size))
		}})
	}
	list = append(list, length{what: leaseOf(s), size: s.Lock.TTL, least: max(s.Lock.Renew, time.Millisecond), set: func(s *scenarios.Scenario, size time.Duration) {
		s.Lock.TTL = size
	}})
	usual := s.Network.Latency
	if usual == nil {
		usual = sim.LAN()
	}
	list = append(list, latency("latency of messages", usual, func(s *scenarios.Scenario) *sim.Latency { return &s.Network.Latency }))
	for i, l := range s.Network.Links {
		list = append(list, latency("latency between "+parameter.TheLink(&l.Link), l.Latency, func(s *scenarios.Scenario) *sim.Latency { return &s.Network.Links[i].Latency }))
	}
	if l := s.Resource.Latency; l != nil {
		list = append(list, latency("latency to the resource", l, func(s *scenarios.Scenario) *sim.Latency { return &s.Resource.Latency }))
	}
	return list
}

// leaseOf is what the lock's ttl is.
func leaseOf(s *scenarios.Scenario) string {
	if s.Servers.Holds() == "session" {
		return "session's time-out"
	}
	return "lease"
}

// latency is how long messages take. Of one that is drawn all delays grow by as much; its size is by how much.
func latency(what string, l sim.Latency, at func(s *scenarios.Scenario) *sim.Latency) length {
	from := time.Duration(0)
	if len(l) == 1 {
		from = l[0].Delay
	}
	return length{what: what, size: from, set: func(s *scenarios.Scenario, size time.Duration) {
		changed := slices.Clone(l)
		for i := range changed {
			changed[i].Delay += size - from
		}
		*at(s) = changed
	}}
}

// allows reports whether the length may be changed by so much.
func (l *length) allows(by time.Duration) bool { return l.size+by >= l.least }

// changed is the scenario with the length changed by so much. If that makes the run longer, it ends later, too.
func (l *length) changed(s *scenarios.Scenario, by time.Duration) *scenarios.Scenario {
	c := parameter.Clone(s)
	l.set(c, l.size+by)
	if c.Until > 0 && by > 0 {
		c.Until += by
	}
	return c
}
