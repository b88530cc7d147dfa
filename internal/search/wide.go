package search

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Wide returns the fault model of a campaign: whatever the given kinds of faults can do to a lock, on servers as it is usually
// deployed, and in ways of using it that its author may not have thought of. The lock is the catalogue's of that name, or
// another on servers of that kind.
func Wide(lock *locks.Algorithm, kinds []Kind) FaultModel {
	atStorage := func(k Kind) bool { return k == Delay || k == Stall || k == Cut }
	m := FaultModel{
		Lock: lock.Name, Servers: lock.Servers, Guardable: lock.Guard, Registers: 2, Waits: true, Renewed: true,
		Stays: true, Repeats: true, Pairs: widePairs,
		Renews: lock.Renews, Extends: lock.Extends, Connects: lock.Connects, Timeouts: []int64{0, 10, 20}, Drift: wideDrift, Progress: wideProgress, Faults: kinds, ForGood: true,
		Storage: slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return !atStorage(k) }),
	}
	if lock.Life > 0 {
		m.TTLs = []time.Duration{lock.Life}
	}
	m.Faults = slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return k.Impossible(lock) != "" })
	if len(kinds) > 0 && lapses(lock) {
		m.Overrun = wideOverrun
	}
	kind := scenarios.Kind(lock.Backend()).Facts()
	if slices.Contains(kinds, Cut) && kind.Has(backend.EndSession) && !slices.Contains(kinds, SessionCut) {
		m.Faults = append(slices.Clone(m.Faults), SessionCut) // a cut, of a length that tells
	}
	switch {
	case kind.Has(backend.Masters):
		m.wideMasters(lock)
	case kind.Has(backend.Persistence) && m.has(PowerLoss):
		m.Persistence = []string{"", "lazy"}
	}
	if kind.Has(backend.LockDelay) {
		m.LockDelays = []time.Duration{15 * time.Second, time.Second, 0}
	}
	if kind.Has(backend.KeepAlive) && m.has(Cut) {
		m.KeepAlives = []time.Duration{0, 5 * time.Second}
	}
	if kind.Has(backend.IdleTimeout) { // servers that now and then end idle connections
		m.IdleTimeouts = []time.Duration{0, 0, 0, 5 * time.Second}
	}
	if kind.Has(backend.Pool) {
		m.Pools = []int{0, 0, 0, 2}
	}
	return m
}

// lapses reports whether a holder that works for longer than its lease is not told so, which alone may break the lock. A
// session lasts as long as its client, a lock that renews its lease is not outlasted, and of a lease that states a
// deadline a careful client knows the end.
func lapses(lock *locks.Algorithm) bool {
	return lock.Lease && lock.Deadline == locks.NoClock && scenarios.Kind(lock.Backend()).Facts().Holds == "" &&
		!lock.Renews && sends[lock.Name] != trace.ToRenew
}

// widePairs: in one of this many scenarios of a wide fault model, two faults aim at one acquisition.
const widePairs = 6

// How far clocks may run off in a wide fault model, in parts per million: twice what Redlock allows for. In how many scenarios,
// one of this many, work may outlast its lease: to be found it takes a few. How many leases somebody may wait before that
// counts as a lack of progress. And how many faults there are at most where it takes several to undo a majority.
const (
	wideDrift      = 20_000
	wideOverrun    = 2
	wideProgress   = 8
	mostOfMajority = 5
)

// wideWatched: one in this many deployments has Sentinels, and one is a cluster. They talk so much among themselves that such a run
// takes as long as ten others.
const wideWatched = 12

// has reports whether one of some kinds is in the fault model.
func (m *FaultModel) has(list ...Kind) bool {
	return slices.ContainsFunc(list, func(k Kind) bool { return slices.Contains(m.Faults, k) })
}

func (m *FaultModel) wideMasters(lock *locks.Algorithm) {
	if m.has(ServerCrash, PowerLoss) {
		m.Persistence = []string{"", "everysec"}
	}
	if m.has(Snapshot) {
		m.Persistence = append(m.Persistence, "rdb")
	}
	watched := m.has(Partition, ServerCrash, PowerLoss, ServerPause)
	switch {
	case !watched:
	case lock.Program != nil: // which knows nothing of Sentinels and slots behind an address, or has a client for them
		m.Watched = Watched{Sentinels: lock.Sentinel, Cluster: lock.Cluster, OneIn: wideWatched}
	case lock.Authority != locks.Majority:
		m.Watched = Watched{Sentinels: true, Cluster: true, OneIn: wideWatched}
	}
	if lock.Authority == locks.Majority {
		m.Masters, m.Uneven = []int{3, 5, 3, 5, 2}, true // two split their votes easily
		m.Most = mostOfMajority
		if m.Watched.OneIn > 0 {
			m.FullSyncs = []time.Duration{0, time.Millisecond}
		}
		return
	}
	switch {
	case lock.Authority == locks.Replicated:
		m.Replicas = []int{1, 2}
	case lock.Program == nil && watched || m.has(Failover, Lag):
		m.Replicas = []int{0, 1, 2}
	}
	if m.Replicas != nil {
		m.FullSyncs = []time.Duration{0, time.Millisecond}
	}
}
