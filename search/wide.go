package search

import (
	"slices"

	"github.com/locksim/locksim/locks"
)

// Wide returns the menu of a hunt: whatever the given kinds of faults can do to a lock, on servers as it is usually
// deployed, and in ways of using it that its author may not have thought of. The lock is the catalogue's of that name, or
// another on servers of that kind.
func Wide(lock *locks.Algorithm, kinds []Kind) Menu {
	m := Menu{
		Lock: lock.Name, Servers: lock.Servers, Faults: kinds,
		Storage:   slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return k != Delay && k != Stall && k != Cut }),
		Registers: 2, Waits: true, Timeouts: []int64{0, 10, 20}, Drift: wideDrift, Progress: wideProgress,
	}
	has := func(list ...Kind) bool {
		return slices.ContainsFunc(list, func(k Kind) bool { return slices.Contains(kinds, k) })
	}
	redis := lock.Servers == "" || lock.Servers == "redis"
	if redis && has(ServerCrash, PowerLoss) {
		m.Persistence = []string{"", "everysec", "always"}
	}
	switch {
	case lock.Authority == locks.Majority:
		m.Masters, m.Uneven = []int{3, 5}, true
	case lock.Authority == locks.Replicated:
		m.Replicas = []int{1, 2}
	case redis && has(Failover, Partition, Lag):
		m.Replicas = []int{0, 1, 2}
	}
	return m
}

// How far clocks may run off in a wide menu, in parts per million: twice what Redlock allows for. And how many leases
// somebody may wait before that counts as a lack of progress.
const (
	wideDrift    = 20_000
	wideProgress = 8
)
