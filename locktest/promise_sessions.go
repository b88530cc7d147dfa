package locktest

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/search"
)

// everySession is all that can happen to the services of leases and sessions, which keep what they have acknowledged.
func everySession() search.Menu {
	return search.Menu{Faults: search.Kinds(search.SameRandom), Storage: network, Tasks: 2, Waits: true, Drift: 100_000}
}

// lostHolders are what makes holders lose their sessions, so that their releases are late.
var lostHolders = [][]search.Kind{{search.ClientPause, search.EndSession}}

// onSessions is what locks on etcd, Consul and Chubby are asked.
func (s *subject) onSessions() []promise {
	list := []promise{
		{name: ExclusionWithinSession, property: checker.MutualExclusion, menu: search.Menu{
			Faults: slow(search.ServerAhead, search.ServerBack, search.Drift, search.Stall, search.Delay, search.Failover),
			Within: 25, Renewed: true, Drift: 5_000, Storage: waiting,
		}, why: `
			Sessions are renewed when a third or a half of their time is over, and all faults together take less than a fourth of
			it: none ends while its client holds.`},
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
		m := everySession()
		m.Faults = search.Kinds(search.ClientPause, search.EndSession, search.Drift, search.SameRandom)
		m.Storage, m.Drift, m.Styles = nil, 0, []history.Style{history.Attentive}
		list = append(list, promise{name: ExclusionUntilSuspended, property: checker.MutualExclusion, menu: m, why: `
			The client counts its lease from when it sent the KeepAlive, so it is in jeopardy before the cell ends the session, and
			it stops. No process stands still, and none waits for storage.`})
	}
	return append(list, s.fenced(everySession())...)
}
