package search

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// FaultModel says what [Generate] may put into a scenario: a lock, its deployment, what clients do, and which faults may
// hit whom, how many and how long. A zero field stands for the default that its comment names.
type FaultModel struct {
	Lock    string // a name of the catalogue of package locks, or of a lock that is given beside the scenario
	Servers string // the kind of servers that it lives on; those that the catalogue names

	// Beside are locks that some clients have instead, each drawing one of them all; the second never has that of the first.
	Beside []locks.Algorithm

	// Base is a scenario without variants to which faults are added: its lock, servers, clients, resource, network and
	// clocks stand, and the faults that it has come first. Of the fault model only styles, fencing modes, progress and what it
	// says of faults are heeded then. Nil: all of the scenario is drawn.
	Base *scenarios.Scenario

	// What to choose the lock's servers from; of the fields of package scenarios that are not here, and of lists that are
	// empty, the servers have their own defaults.
	Masters      []int           // numbers of independent servers; 1
	Replicas     []int           // of each of them
	Sentinels    []int           // that watch them
	Cluster      bool            // they form a Redis Cluster
	Watched      Watched         // whether Sentinels may watch them, or a cluster may be made of them
	MinReplicas  []int           // min-replicas-to-write
	FullSyncs    []time.Duration // how long a replica waits for a whole dataset; the default
	Nodes        []int           // servers of an ensemble; any of them leads at first
	Ticks        []time.Duration // of an ensemble
	SyncLimits   []int           // of an ensemble, in ticks
	KeepAlives   []time.Duration // after which a database gives silent clients up
	IdleTimeouts []time.Duration // after which it ends idle connections
	Pools        []int           // connections that a pooler in front of a database lends
	Persistence  []string        // what their disks may be told
	Disk         []string        // whether their disks may lie; "honest"

	TTLs       []time.Duration // lives of a lease to choose from; 10 s and one that is typical of short ones
	Libraries  []string        // client libraries; the lock's own
	Acks       []int           // replicas that must have acknowledged a grant; the lock's own
	LockDelays []time.Duration // how long a lost lock is kept from others; the servers' own

	Styles    []history.Style   // in which each scenario is to be played; careless
	Fencing   []history.Fencing // likewise; unfenced
	Guarded   bool              // the resource lives on the lock's own servers
	Guardable bool              // it may live there, or not
	Registers int               // at most; 1
	Clients   int               // at most, and two at least; 3
	Tasks     int               // at most, of each client; 1
	Sections  int               // at most, of each task; 2
	Enters    int               // at most, by which a section enters the lock; 1
	Waits     bool              // an Acquire may give up
	GivesUp   bool              // likewise, and a client whose Acquire gives up leaves the section out
	Stays     bool              // a client may stay up when its work is done, and may come back after two leases
	Repeats   bool              // an application may call Unlock once more after an error
	Timeouts  []int64           // how long a call to a server may take: 10 is a tenth of the lease, 0 the lock's default
	Uneven    bool              // clients may be near to some servers and far from others

	Faults  []Kind // that may hit clients, servers, and what is between them; each scenario draws a part of them
	Storage []Kind // those of them that may hit storage and the links to it, too
	AtHand  bool   // storage is where its clients are: an access takes no time
	Most    int    // faults in one scenario; 3
	ForGood bool   // a server that crashes or stands still, and the worker of a client that may pause, may do so for good
	Pairs   int64  // in one of this many scenarios two faults aim at one acquisition (see generator.pair); 0: in none
	Votes   bool   // these hit different servers at requests of one purpose, where independent servers vote
	Between int64  // in one of this many, other clients take and release a lock that its holder has lost (see generator.between); 0: in none

	// Within bounds, in percent of the lease, what the work of one section and all faults of a scenario may take
	// together, so that no section can outlast its lease; 0: they may take any time. Each fault counts with the
	// longest time by which it can hold somebody up, a cut twice (see generator.spend).
	Within int64
	// Overrun says that work may come near to the end of the lease or outlast it in one of this many scenarios only, so
	// that a lock which that is enough to break has other weaknesses shown, too; 0: in each.
	Overrun int64
	// Renewed says that the lock prolongs its lease: work does not count, and may be longer than the lease.
	Renewed bool
	// Renews says that it does so by a request that is called "renew".
	Renews bool
	// Extends says that it does so, too, but only if it is told to.
	Extends bool
	// Connects says that clients may begin with connections, which they do in most scenarios: those runs are shorter.
	Connects bool
	// Drift is how much faster or slower than true time a clock may run, in parts per million.
	Drift int64
	// Progress is how many leases somebody may wait before somebody acquires; 0: progress is not judged.
	Progress int64
	_        struct{}
}

// Watched says how servers may be deployed that replace a master by themselves: those that have replicas as they are, and
// independent ones as one deployment in their place, of which a lock that asks a majority then asks one.
type Watched struct {
	Sentinels bool
	Cluster   bool
	OneIn     int64 // one in this many deployments has Sentinels, and one is a cluster; 0: none
}

func orDefault[T any](list []T, fallback ...T) []T {
	if len(list) == 0 {
		return fallback
	}
	return list
}

func (m FaultModel) withDefaults() (FaultModel, *backend.Facts) {
	if m.Base != nil {
		m.Lock, m.Servers, m.TTLs = m.Base.Lock.Algorithm, m.Base.Servers.Kind, []time.Duration{m.Base.Lock.TTL}
		m.Styles, m.Fencing = orDefault(m.Styles, m.Base.Styles...), orDefault(m.Fencing, m.Base.Resource.Fencing...)
		m.Guarded = m.Base.Resource.Guarded
	}
	if m.Servers == "" {
		a, _ := locks.Catalogue().Find(m.Lock)
		m.Servers = a.Backend()
	}
	kind := scenarios.Kind(m.Servers).Facts()
	m.Masters = orDefault(m.Masters, 1)
	m.TTLs = orDefault(m.TTLs, kind.TTLs...)
	m.Styles = orDefault(m.Styles, history.Careless)
	m.Fencing = orDefault(m.Fencing, history.Unfenced)
	m.Timeouts = orDefault(m.Timeouts, 0)
	for _, n := range []struct {
		field    *int
		fallback int
	}{{&m.Registers, 1}, {&m.Clients, 3}, {&m.Tasks, 1}, {&m.Sections, 2}, {&m.Most, 3}} {
		if *n.field == 0 {
			*n.field = n.fallback
		}
	}
	return m, kind
}
