package claims

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// ofMemcached is what memcached's locks promise.
func ofMemcached() []Claim {
	within := Claim{Name: "within-lease", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: []search.Kind{search.Cut, search.Stall, search.Delay, search.Break, search.Error, search.ClientCrash,
			search.ClientPause, search.ClientClock, search.ServerPause, search.ServerAhead, search.ServerBack,
			search.Drift},
		Storage: waiting, Within: 60, Drift: 5_000, Tasks: 2, TTLs: []time.Duration{10 * time.Second, 5 * time.Second},
	}, Why: `
		The item is there from the add on until it is deleted, unless the server dies, needs the room, or its time is over: a
		second early at worst, since memcached counts whole seconds. Sections and faults take less than three fifths of it.`}
	release := Claim{Name: "release", Property: checker.ReleaseSafety, Menu: search.Menu{
		Faults: search.Kinds(search.SameRandom, search.ServerCrash, search.PowerLoss), Storage: network, Tasks: 2,
		Waits: true, Timeouts: timeouts, Drift: 100_000,
	}, Why: `
		The release ends the item whose unique id it has read together with its own value: if another item is there by then
		its id is another one. Ids are counted from 1 again when the server starts again, which is not on the menu.`}
	return slices.Concat(within.of("memcached-add", "memcached-cas"), release.of("memcached-cas"))
}
