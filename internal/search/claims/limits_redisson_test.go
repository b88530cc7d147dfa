package claims_test

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// limitsOfRedisson is where the promises of the locks end that Redisson has beside its usual one.
func limitsOfRedisson() []limit {
	return []limit{
		{Name: "successors-token", Property: checker.FencingOrder, Model: search.FaultModel{Lock: "redisson-fenced-get-token",
			Faults: []search.Kind{search.ClientPause}}, Twin: "redisson-fenced",
			Why: `A client that asks for its token when its lease is over gets its successor's.`},
		{Name: "overrun", Property: checker.MutualExclusion, Model: search.FaultModel{Lock: "redisson-fenced",
			Faults: []search.Kind{search.ClientPause}}, Why: `A pause stops the watchdog together with the worker.`},
		{Name: "dead-waiter", Property: checker.Progress, Model: search.FaultModel{Lock: "redisson-fair",
			Faults: []search.Kind{search.ClientCrash}, Progress: 10}, Twin: "reentrant",
			Why: `A client that has died in the list blocks those behind it.`},
		{Name: "release-stops", Property: checker.Progress, Model: search.FaultModel{Lock: "redisson-multi",
			Faults: []search.Kind{search.Evict}, Progress: 10, Stays: true}, Twin: "reentrant",
			Why: `A release stops at the lock that is gone, and the watchdog renews the other one.`},
		{Name: "prolongs", Property: checker.MutualExclusion, Model: search.FaultModel{Lock: "redisson-multi-lease",
			Faults: []search.Kind{search.ClientPause}},
			Why: `A client that comes late sets the life of keys that are another's.`},
	}
}
