package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// looks is how many drawn deployments are searched for one in which a fault of some kinds can happen.
const looks = 64

// spares says why the faults of a column can happen in none of the deployments of a lock; "" if they can.
func (c *column) spares(lock *locks.Algorithm, f *facts) string {
	if c.guarded && !lock.Guard {
		return "its servers do not keep the protected data"
	}
	if len(c.kinds) == 0 || c.overruns {
		return ""
	}
	model := c.model(lock, f)
	for n := range uint64(looks) {
		servers := &search.Generate(search.Seeded(n), model).Servers
		if slices.ContainsFunc(c.kinds, func(k search.Kind) bool { return k.CanHit(servers) }) {
			return ""
		}
	}
	var why []string
	for _, kind := range c.kinds {
		if reason := lacks(kind, scenarios.Kind(lock.Backend()).Facts().Title); !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	return strings.Join(why, "; ")
}

// lacks says why a kind of faults does not happen to servers of a kind.
func lacks(kind search.Kind, servers string) string {
	switch kind {
	case search.Failover, search.Partition, search.Lag:
		return "its servers have no replicas or peers"
	case search.Evict:
		return servers + " servers do not evict keys"
	case search.SessionCut, search.EndSession:
		return servers + " servers keep no sessions"
	default:
		return fmt.Sprintf("%s servers know no %s", servers, kind)
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
