package promise

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// ticks are those with which an ensemble grants the sessions that the lock asks for, the shortest first: it grants between 2 and 20 of them.
func (s *Subject) ticks() []time.Duration {
	list := slices.DeleteFunc([]time.Duration{500 * time.Millisecond, 2 * time.Second}, func(tick time.Duration) bool {
		return s.TTL < 2*tick || s.TTL > 20*tick
	})
	if len(list) == 0 {
		return []time.Duration{max(s.TTL/10, time.Millisecond)}
	}
	return list
}

// everyEnsemble is all that can happen to an ensemble whose disks are honest.
func (s *Subject) everyEnsemble() search.FaultModel {
	return search.FaultModel{
		Faults: search.Kinds(search.SameRandom), Storage: failing,
		Tasks: 2, Waits: true, Drift: 100_000,
		Nodes: []int{3, 5, 1}, Ticks: s.ticks(), SyncLimits: []int{5, 2},
	}
}

// onEnsemble is what locks on ZooKeeper are asked.
func (s *Subject) onEnsemble() []Promise {
	quick := s.ticks()[:1]
	long := s.everyEnsemble()
	long.Faults, long.Storage, long.Styles = search.Kinds(search.ClientPause, search.EndSession, search.Drift, search.SameRandom), nil, careful
	long.Ticks = quick
	brief := long
	brief.Faults = slow(search.ServerAhead, search.ServerBack, search.Stall, search.Delay)
	brief.Within, brief.Renewed, brief.Styles = 25, true, []history.Style{history.Careless}
	cuts := [][]search.Kind{{search.SessionCut}, {search.SessionCut, search.Cut}}
	list := []Promise{
		Promise{Name: ExclusionWithinSession, Property: checker.MutualExclusion, Model: brief, Why: `
			A client is heard of at least once in a third of its session, and all faults together take less than half of it: no
			session ends while its client holds.`}.played("within-session", s.withinSession),
		Promise{Name: ExclusionUntilSuspended, Property: checker.MutualExclusion, Model: long, Focus: cuts, Why: `
			A client takes its connection for suspended when two thirds of the session have passed without a word from its server,
			and stops; the session is not over before a whole one has passed. No process stands still or waits for storage.`}.
			played("careful", s.untilSession),
		s.lostWaiters(search.FaultModel{Nodes: []int{3}, Ticks: quick}),
		Promise{Name: ExclusionAtService, Property: checker.ExclusionAtService, Model: s.everyEnsemble(), Focus: lostHolders, Why: `
			Holders follow each other in the order of the transactions that made their nodes, and a node goes when its client
			deletes it, or with its session.`}.
			played("service", func(m *search.FaultModel) {
				if s.widen(m); s.Algorithm.Name == "curator-mutex" {
					m.Faults = search.Kinds(search.SameRandom) // it knows its node by a random number
				}
			}),
		Promise{Name: ReleaseSafety, Property: checker.ReleaseSafety, Model: s.everyEnsemble(), Focus: lostHolders, Why: `
			A release deletes a node that is nobody else's: a late one deletes the sender's own, or none.`}.
			played("release", func(m *search.FaultModel) {
				s.widen(m)
				m.Faults = search.Kinds(search.SameRandom) // see the limit twins
			}),
		Promise{Name: Progress, Property: checker.Progress, Focus: deaths, Extend: s.lateAtMost, Keeps: s.isLateAtMost, Model: search.FaultModel{
			Faults: slow(search.ServerCrash, search.Stall, search.Delay, search.Break, search.Partition, search.Lag,
				search.Failover),
			Nodes: []int{3}, Ticks: quick, SyncLimits: []int{5, 2}, Progress: 20,
		}, Why: `The node of a dead client goes with its session, and clients that wait hear of it.`}.
			played("progress", func(m *search.FaultModel) { m.TTLs = []time.Duration{s.TTL} }),
	}
	if !s.Suspends { // a holder that is told nothing has nothing to stop at
		list = slices.DeleteFunc(list, func(p Promise) bool { return p.Name == ExclusionUntilSuspended })
	}
	return append(list, s.fenced(s.everyEnsemble())...)
}

// untilSession is the fault model of campaigns for holders that stop when their connection is suspended: no process stands still or
// waits for storage, no clock errs, and nobody ends a session that lives.
func (s *Subject) untilSession(m *search.FaultModel) {
	*m = s.everyEnsemble()
	s.widen(m)
	m.Faults = search.Kinds(search.ClientPause, search.EndSession, search.Drift)
	m.Styles, m.Fencing, m.Storage = careful, nil, nil
	m.Ticks, m.TTLs = s.ticks()[:1], []time.Duration{s.TTL}
}

// withinSession is the fault model of campaigns in which no session ends while its client holds, but those of clients that are dead or
// have been suspended. A lock that may repeat a delete loses no connection either: it would meet the next holder's node.
func (s *Subject) withinSession(m *search.FaultModel) {
	s.untilSession(m)
	m.Faults, m.Within, m.Renewed, m.Ticks = search.Kinds(search.EndSession, search.Drift), 40, true, s.ticks()
	if !s.Fresh {
		m.Within, m.Faults = 25, []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerAhead, search.ServerBack, search.Stall, search.Delay,
		}
	}
}
