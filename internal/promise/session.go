package promise

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// everySession is all that can happen to the services of leases and sessions, which keep what they have acknowledged.
func everySession() search.FaultModel {
	return search.FaultModel{Faults: search.Kinds(search.SameRandom), Storage: network, Tasks: 2, Waits: true, Drift: 100_000}
}

// lostHolders are what makes holders lose their sessions, so that their releases are late.
var lostHolders = [][]search.Kind{{search.ClientPause, search.EndSession}}

// lostAnswer is what leaves open whether a request was granted.
var lostAnswer = [][]search.Kind{{search.Break, search.Delay}}

// onSessions is what locks on etcd, Consul, Chubby and Hazelcast are asked.
func (s *Subject) onSessions() []Promise {
	list := []Promise{
		s.exclusionWithinSession(),
		s.lostWaiters(search.FaultModel{}),
		Promise{Name: ExclusionAtService, Property: checker.ExclusionAtService, Model: everySession(), Focus: lostHolders, Why: `
			One log decides, and survives every crash. A lock goes to the next when its holder's release is in the log, or the end
			of its session.`}.played("service", s.widen),
		Promise{Name: ReleaseSafety, Property: checker.ReleaseSafety, Model: everySession(), Focus: lostHolders, Why: `
			A release names the session that holds, or the key that its lease made: if it is late it finds that gone.`}.
			played("release", s.widen),
		Promise{Name: Progress, Property: checker.Progress, Focus: deaths, Extend: s.lateAtMost, Keeps: s.isLateAtMost, Model: search.FaultModel{
			Faults:   slow(search.ServerCrash, search.Stall, search.Delay, search.Break, search.Failover),
			Progress: 20,
		}, Why: `The session of a dead client ends within twice its time, a lock-delay passes after it, and each fault ends.`}.
			played("progress", alike),
	}
	if s.facts().Jeopardy && s.Notice {
		list = append(list, s.untilSuspended())
	}
	if s.facts().Has(backend.LockDelay) {
		list = append(list, lockDelay())
	}
	return append(list, s.fenced(everySession())...)
}

// untilSuspended is of holders that stop when Chubby's client is in jeopardy.
func (s *Subject) untilSuspended() Promise {
	m := everySession()
	m.Faults = search.Kinds(search.ClientPause, search.EndSession, search.Drift, search.SameRandom)
	if m.Storage, m.Drift, m.AtHand, m.Styles = nil, 0, true, heeding; s.Suspends { // to which careful holders alone listen
		m.Styles = careful
	}
	p := Promise{
		Name: ExclusionUntilSuspended, Property: checker.MutualExclusion, Model: m,
		Keeps: func(of *scenarios.Scenario) bool { return slices.Equal(of.Resource.Latency, sim.Constant(0)) },
		Why: `
			The client counts its lease from when it sent the KeepAlive, so it is in jeopardy before the cell ends the session, and
			it stops. No process stands still, and none waits for storage, which is at hand: nobody hears of it only after an
			access.`,
	}
	return p.played("jeopardy", func(m *search.FaultModel) {
		m.Faults, m.Timeouts = search.Kinds(search.ClientPause, search.EndSession, search.Drift), timeouts
		m.Drift = 100_000
	})
}

// lockDelay is of holders whose session ends: the servers keep the lock from others for some time.
func lockDelay() Promise {
	return Promise{Property: checker.MutualExclusion, Why: `
		Whenever a session ends, its lock is kept from others for 15 s, by when the section is over: it takes less than 8 s,
		with all that holds it up. The leader stays, so that nobody forgets the delay.`}.played("lock-delay", func(m *search.FaultModel) {
		*m = search.FaultModel{
			Faults:  slow(search.ServerBack, search.Stall, search.Delay, search.SessionCut, search.EndSession),
			Storage: waiting, Within: 80,
		}
	})
}

// exclusionWithinSession is exclusion while no session can end.
func (s *Subject) exclusionWithinSession() Promise {
	p := Promise{Name: ExclusionWithinSession, Property: checker.MutualExclusion, Model: search.FaultModel{
		Faults: slow(search.ServerAhead, search.ServerBack, search.Drift, search.Stall, search.Delay, search.Failover),
		Within: 25, Renewed: true, Drift: 5_000, Storage: waiting,
	}, Why: `
		Sessions are renewed when a third or a half of their time is over, and all faults together take less than a fourth of
		it: none ends while its client holds.`}
	if !s.facts().Monotonic { // the servers count sessions on a clock that may step
		p.Model.Faults = slices.DeleteFunc(p.Model.Faults, func(k search.Kind) bool { return k == search.ServerAhead })
	}
	p = p.played("within-session", func(m *search.FaultModel) { m.TTLs = []time.Duration{12 * time.Second} })
	p.Model.Styles = s.heeded()
	if silence := s.facts().Silence; silence > 0 {
		p.Model.Within = min(p.Model.Within, max(int64(100*(silence-reconnecting)/s.TTL), 1))
		if s.TTL >= survivesBreaks {
			p.Model.Faults, p.Focus = append(p.Model.Faults, search.Break), lostAnswer
		}
	}
	return p
}

// heeded are the styles of holders of whom nobody asks that they hold on when the lock has given up: all, if it notifies nobody.
func (s *Subject) heeded() []history.Style {
	if s.Lost {
		return heeding
	}
	return nil
}

// A library that renews leases by itself asks again half a second after a connection broke.
const (
	reconnecting   = 2 * time.Second // more than three broken connections take
	survivesBreaks = 4 * time.Second // a lease of which a third, a fourth, and what these take is not all
)
