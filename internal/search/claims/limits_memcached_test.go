package claims_test

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// limitsOfMemcached is where the promises of memcached's locks end.
func limitsOfMemcached() []limit {
	const exclusion = checker.MutualExclusion
	cas := func(faults ...search.Kind) search.FaultModel {
		return search.FaultModel{Lock: "memcached-cas", Faults: faults, Within: 60}
	}
	early := search.FaultModel{Lock: "memcached-cas", Within: 99, TTLs: []time.Duration{2 * time.Second}}
	return []limit{
		{Name: "misdelete", Property: checker.ReleaseSafety, Model: search.FaultModel{Lock: "memcached-add",
			Faults: []search.Kind{search.ClientPause}},
			Twin: "memcached-cas", Why: `A holder that overran its lease deletes the item of the next one.`},
		{Name: "evicted", Property: exclusion, Model: cas(search.Evict), Why: `The server needs the room.`},
		{Name: "restarted", Property: exclusion, Model: cas(search.ServerCrash), Why: `The server comes back empty.`},
		{Name: "early-end", Property: exclusion, Model: early,
			Why: `memcached counts whole seconds: the item ends up to one earlier than asked. No fault is needed.`},
	}
}
