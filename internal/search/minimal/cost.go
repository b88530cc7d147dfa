package minimal

import (
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// cost is how far a scenario is from simple. Costs are compared entry by entry, and no entry is negative: there is no
// endless row of ever smaller ones.
type cost [15]int64

func (c cost) less(d cost) bool { return slices.Compare(c[:], d[:]) < 0 }

// costOf puts first what a reader has most to think about.
func costOf(s *scenarios.Scenario) cost {
	c := cost{
		int64(len(s.Faults) + len(s.Clocks)),
		processes(s),
		operations(s),
		int64(s.Resource.Registers),
		int64(len(s.Servers.Names())),
	}
	c[6] = oddities(s)
	for i := range s.Faults {
		f := &s.Faults[i]
		c[7] += strength(f)
		c[8] += exoticism(f)
	}
	for _, k := range parameter.Of(s) {
		v := k.Size()
		switch {
		case k.Rate:
			c[5] += v
		case k.OfFault:
			c[9] += roughness(v)
			c[10] = sum(c[10], v)
		default:
			c[11] += roughness(v)
			c[12] = sum(c[12], v)
		}
	}
	for i := range s.Clients {
		if tied(s, i) {
			c[11] += tieRoughness
		}
	}
	if !plainlyNamed(s) {
		c[13] = 1
	}
	c[14] = int64(min(s.Seed, math.MaxInt64))
	return c
}

// tieRoughness is that of two clients that begin at one instant: a number that tells them apart is worth its while if it
// is round.
const tieRoughness = 2

// sum adds without overflowing.
func sum(a, b int64) int64 {
	if c := a + b; c >= a {
		return c
	}
	return int64(locks.Forever)
}

func processes(s *scenarios.Scenario) int64 {
	n := 0
	for i := range s.Clients {
		n += s.Clients[i].Count
	}
	return int64(n)
}

// operations counts what clients do.
func operations(s *scenarios.Scenario) int64 {
	n := 0
	for i := range s.Clients {
		c := &s.Clients[i]
		n += c.Count * c.Tasks * c.Sections * max(c.Enters, 1)
	}
	return int64(n)
}

// oddities counts what a reader has to be told because it is not as usual.
func oddities(s *scenarios.Scenario) int64 {
	n := 2*int64(len(s.Network.Links)) + oddLatency(s.Network.Latency)
	for i := range s.Clients {
		c := &s.Clients[i]
		n += count(c.Count != 1, c.Style != nil, c.Tasks != 1, c.Sections != 1, c.Enters > 0, c.Wait != locks.Forever,
			c.Again != 0, c.Retry.Delay != 0, c.Retry.Jitter != 0, c.Retry.Tries != 0, c.Hangs, c.Busy, c.Stays, c.Unlock != 0, c.Late != 0, c.Connected, c.Forgets, c.Passes != 0,
			c.Write != nil,
			len(c.Servers) > 0, c.Lock != scenarios.OwnLock{}, c.Lock.Renew != 0)
		n += int64(len(c.Servers))
	}
	l, v := &s.Lock, &s.Servers
	n += count(l.Renew != 0, l.Timeout != 0, l.Acks != 0, l.Library != "", l.LockDelay != nil, s.Progress != 0,
		s.Until != usualEnd, s.Resource.Latency != nil, s.Bounds != usualBounds())
	return n + count(v.Replicas != 0, v.Sentinels != 0, v.Cluster, v.MinReplicas != 0, v.MaxLag != 0, v.FullSync != 0,
		v.DownAfter != 0, v.Failover != 0, v.Leader != 0, v.Tick != 0, v.SyncLimit != 0, v.KeepAlive != 0,
		v.IdleTimeout != 0, v.Pool != 0, v.Persistence != "", v.Disk != usualDisk)
}

// What a scenario has if its file does not say otherwise.
const (
	usualEnd  = time.Duration(0)
	usualDisk = "honest"
	usualMost = 1_000_000
)

func usualBounds() scenarios.Bounds { return scenarios.Bounds{Steps: usualMost, Messages: usualMost} }

// plainLatency is the delay of all messages that is the easiest to reckon with.
func plainLatency() sim.Latency { return sim.Constant(time.Millisecond) }

func oddLatency(l sim.Latency) int64 {
	switch {
	case slices.Equal(l, plainLatency()):
		return 0
	case len(l) == 1:
		return 1
	case l == nil || slices.Equal(l, sim.LAN()):
		return 2
	}
	return 3
}

func count(odd ...bool) int64 {
	n := int64(0)
	for _, is := range odd {
		if is {
			n++
		}
	}
	return n
}

// roughness is how far a number is from round: 0 for nothing, 1 for 1, 2 and 5 and their tens and tenths, 2 for other
// numbers of one digit, and one more for each further digit.
func roughness(v int64) int64 {
	if v == 0 {
		return 0
	}
	for v%10 == 0 {
		v /= 10
	}
	digits := int64(1)
	for w := v; w >= 10; w /= 10 {
		digits++
	}
	if v == 1 || v == 2 || v == 5 {
		return 1
	}
	return digits + 1
}

// timed reports whether a property is judged by how long somebody waits.
func timed(p checker.Property) bool { return p == checker.Progress || p == checker.Availability }
