package locktest

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// everySession is all that can happen to the services of leases and sessions, which keep what they have acknowledged.
func everySession() search.Menu {
	return search.Menu{Faults: search.Kinds(search.SameRandom), Storage: network, Tasks: 2, Waits: true, Drift: 100_000}
}

// lostHolders are what makes holders lose their sessions, so that their releases are late.
var lostHolders = [][]search.Kind{{search.ClientPause, search.EndSession}}

// lostAnswer is what leaves open whether a request was granted.
var lostAnswer = [][]search.Kind{{search.Break, search.Delay}}

// onSessions is what locks on etcd, Consul and Chubby are asked.
func (s *subject) onSessions() []promise {
	list := []promise{
		s.exclusionWithinSession(),
		s.lostWaiters(search.Menu{}),
		{name: ExclusionAtService, property: checker.ExclusionAtService, menu: everySession(), focus: lostHolders, why: `
			One log decides, and survives every crash. A lock goes to the next when its holder's release is in the log, or the end
			of its session.`},
		{name: ReleaseSafety, property: checker.ReleaseSafety, menu: everySession(), focus: lostHolders, why: `
			A release names the session that holds, or the key that its lease made: if it is late it finds that gone.`},
		{name: Progress, property: checker.Progress, focus: deaths, extend: s.lateAtMost, keeps: s.isLateAtMost, menu: search.Menu{
			Faults:   slow(search.ServerCrash, search.Stall, search.Delay, search.Break, search.Failover),
			Progress: 20,
		}, why: `The session of a dead client ends within twice its time, a lock-delay passes after it, and each fault ends.`},
	}
	if s.kind() == "chubby" && s.notice {
		list = append(list, untilSuspended())
	}
	return append(list, s.fenced(everySession())...)
}

// untilSuspended is of holders that stop when Chubby's client is in jeopardy.
func untilSuspended() promise {
	m := everySession()
	m.Faults = search.Kinds(search.ClientPause, search.EndSession, search.Drift, search.SameRandom)
	m.Storage, m.Drift, m.AtHand, m.Styles = nil, 0, true, []history.Style{history.Attentive}
	return promise{
		name: ExclusionUntilSuspended, property: checker.MutualExclusion, menu: m,
		keeps: func(of *scenarios.Scenario) bool { return slices.Equal(of.Resource.Latency, sim.Constant(0)) },
		why: `
			The client counts its lease from when it sent the KeepAlive, so it is in jeopardy before the cell ends the session, and
			it stops. No process stands still, and none waits for storage, which is at hand: nobody hears of it only after an
			access.`,
	}
}

// exclusionWithinSession is exclusion while no session can end.
func (s *subject) exclusionWithinSession() promise {
	p := promise{name: ExclusionWithinSession, property: checker.MutualExclusion, menu: search.Menu{
		Faults: slow(search.ServerAhead, search.ServerBack, search.Drift, search.Stall, search.Delay, search.Failover),
		Within: 25, Renewed: true, Drift: 5_000, Storage: waiting,
	}, why: `
		Sessions are renewed when a third or a half of their time is over, and all faults together take less than a fourth of
		it: none ends while its client holds.`}
	if s.kind() == "etcd" {
		p.menu.Within = min(p.menu.Within, max(int64(100*etcdPatience/s.ttl), 1))
		if s.ttl >= survivesBreaks {
			p.menu.Faults, p.focus = append(p.menu.Faults, search.Break), lostAnswer
		}
	}
	return p
}

// In etcd it is the library that renews leases, not the lock. It asks again half a second after a connection broke, and
// takes a lease for lost of which it has heard nothing for five seconds from the start (client/v3/lease.go).
const (
	etcdPatience   = 3 * time.Second // with what three broken connections take these are less than five seconds
	survivesBreaks = 4 * time.Second // a lease of which a third, a fourth, and what these take is not all
)
