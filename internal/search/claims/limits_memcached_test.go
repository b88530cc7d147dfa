package claims_test

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// limitsOfMemcached is where the promises of memcached's locks end.
func limitsOfMemcached() []limit {
	const exclusion = checker.MutualExclusion
	cas := func(faults ...search.Kind) search.Menu {
		return search.Menu{Lock: "memcached-cas", Faults: faults, Within: 60}
	}
	early := search.Menu{Lock: "memcached-cas", Within: 99, TTLs: []time.Duration{2 * time.Second}}
	return []limit{
		{Name: "misdelete", Property: checker.ReleaseSafety, Menu: search.Menu{Lock: "memcached-add",
			Faults: []search.Kind{search.ClientPause}},
			Twin: "memcached-cas", Why: `A holder that overran its lease deletes the item of the next one.`},
		{Name: "evicted", Property: exclusion, Menu: cas(search.Evict), Why: `The server needs the room.`},
		{Name: "restarted", Property: exclusion, Menu: cas(search.ServerCrash), Why: `The server comes back empty.`},
		{Name: "early-end", Property: exclusion, Menu: early,
			Why: `memcached counts whole seconds: the item ends up to one earlier than asked. No fault is needed.`},
	}
}
