package search

import (
	"time"

	"github.com/locksim/locksim/checker"
)

// limitsOfMemcached is where the promises of memcached's locks end.
func limitsOfMemcached() []Claim {
	const exclusion = checker.MutualExclusion
	cas := func(faults ...Kind) Menu { return Menu{Lock: "memcached-cas", Faults: faults, Within: 60} }
	early := Menu{Lock: "memcached-cas", Within: 99, TTLs: []time.Duration{2 * time.Second}}
	return []Claim{
		{Name: "misdelete", Property: checker.ReleaseSafety, Menu: Menu{Lock: "memcached-add", Faults: []Kind{ClientPause}},
			Twin: "memcached-cas", Why: `A holder that overran its lease deletes the item of the next one.`},
		{Name: "evicted", Property: exclusion, Menu: cas(Evict), Why: `The server needs the room.`},
		{Name: "restarted", Property: exclusion, Menu: cas(ServerCrash), Why: `The server comes back empty.`},
		{Name: "early-end", Property: exclusion, Menu: early,
			Why: `memcached counts whole seconds: the item ends up to one earlier than asked. No fault is needed.`},
	}
}
