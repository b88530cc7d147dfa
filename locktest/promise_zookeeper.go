package locktest

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// everyEnsemble is all that can happen to an ensemble whose disks are honest.
func everyEnsemble() search.Menu {
	return search.Menu{
		Faults: search.Kinds(search.SameRandom), Storage: append(slices.Clone(network), search.ServerPause, search.ServerCrash,
			search.PowerLoss),
		Tasks: 2, Waits: true, Drift: 100_000,
		Nodes: []int{3, 5, 1}, Ticks: []time.Duration{500 * time.Millisecond, 2 * time.Second}, SyncLimits: []int{5, 2},
	}
}

// onZooKeeper is what locks on ZooKeeper are asked.
func (s *subject) onZooKeeper() []promise {
	quick := []time.Duration{500 * time.Millisecond}
	long := everyEnsemble()
	long.Faults, long.Storage, long.Styles = search.Kinds(search.ClientPause, search.EndSession, search.Drift, search.SameRandom), nil, careful
	long.Ticks = quick
	brief := long
	brief.Faults = slow(search.ServerAhead, search.ServerBack, search.Stall, search.Delay)
	brief.Within, brief.Renewed, brief.Styles = 25, true, []history.Style{history.Careless}
	cuts := [][]search.Kind{{search.SessionCut}, {search.SessionCut, search.Cut}}
	list := []promise{
		{name: ExclusionWithinSession, property: checker.MutualExclusion, menu: brief, why: `
			A client is heard of at least once in a third of its session, and all faults together take less than a fourth of it: no
			session ends while its client holds.`},
		{name: ExclusionUntilSuspended, property: checker.MutualExclusion, menu: long, focus: cuts, why: `
			A client takes its connection for suspended when two thirds of the session have passed without a word from its server,
			and stops; the session is not over before a whole one has passed. No process stands still or waits for storage.`},
		s.lostWaiters(search.Menu{Nodes: []int{3}, Ticks: quick}),
		{name: ExclusionAtService, property: checker.ExclusionAtService, menu: everyEnsemble(), focus: lostHolders, why: `
			Holders follow each other in the order of the transactions that made their nodes, and a node goes when its client
			deletes it, or with its session.`},
		{name: ReleaseSafety, property: checker.ReleaseSafety, menu: everyEnsemble(), focus: lostHolders, why: `
			A release deletes a node that is nobody else's: a late one deletes the sender's own, or none.`},
		{name: Progress, property: checker.Progress, focus: deaths, extend: s.lateAtMost, keeps: s.isLateAtMost, menu: search.Menu{
			Faults: slow(search.ServerCrash, search.Stall, search.Delay, search.Break, search.Partition, search.Lag,
				search.Failover),
			Nodes: []int{3}, Ticks: quick, SyncLimits: []int{5, 2}, Progress: 20,
		}, why: `The node of a dead client goes with its session, and clients that wait hear of it.`},
	}
	if !s.suspends { // a holder who is told nothing has nothing to stop at
		list = slices.DeleteFunc(list, func(p promise) bool { return p.name == ExclusionUntilSuspended })
	}
	return append(list, s.fenced(everyEnsemble())...)
}
