package compare

import (
	"fmt"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/search"
)

// looks is in how many drawn deployments is looked for one that a kind of faults can befall.
const looks = 64

// befallsNone says why the faults of a column can befall none of the deployments of a lock; "" if they can.
func (c *column) befallsNone(lock *locks.Algorithm, f *facts) string {
	if c.guarded && !lock.Guard {
		return "its servers do not keep the protected data"
	}
	if len(c.kinds) != 1 {
		return ""
	}
	kind, menu := c.kinds[0], c.menu(lock, f)
	for n := range uint64(looks) {
		if kind.Befalls(&search.Generate(search.Seeded(n), menu).Servers) {
			return ""
		}
	}
	switch kind {
	case search.Failover, search.Partition, search.Lag:
		return "there is nobody among its servers to take another's place, or to talk to"
	case search.Evict:
		return "servers of the kind " + serversOf(lock) + " do not give keys up for room"
	case search.SessionCut, search.EndSession:
		return "servers of the kind " + serversOf(lock) + " keep no sessions"
	default:
		return fmt.Sprintf("servers of the kind %s know no %s", serversOf(lock), kind)
	}
}

// comparesNothing says why a resource has nothing to fence by in a mode; "" if it has.
func comparesNothing(mode history.Fencing, f *facts) string {
	switch {
	case mode.NeedsToken() && !f.token:
		return "the lock hands out no token to compare"
	case mode == history.TokenEquality && !f.value:
		return "the lock's leases have no value to compare"
	default:
		return ""
	}
}

// endsNothing says why a property cannot be judged of a lock, whatever happens; "" if it can.
func endsNothing(p checker.Property, lock *locks.Algorithm) string {
	if p == checker.Survival && !isProgram(*lock) {
		return "the lock is no program of its own that could end"
	}
	if p == checker.SilentLoss && !lock.Keeps && !lock.Renews && !lock.Extends {
		return "the lock does not keep what it holds by itself"
	}
	if p == checker.RequestLoad {
		return "the scenarios of a comparison state no bound on requests"
	}
	return ""
}

func serversOf(lock *locks.Algorithm) string {
	if lock.Servers == "" {
		return "redis"
	}
	return lock.Servers
}
