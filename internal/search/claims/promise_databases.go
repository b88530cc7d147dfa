package claims

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// Locks that a database gives to a connection, and takes back when that is over.
var connectionBound = []string{"mysql-get-lock", "mysql-row", "pg-advisory", "pg-advisory-xact"}

// everyDatabase is all that can happen to one.
func everyDatabase() search.Menu {
	return search.Menu{
		Faults: search.Kinds(), Storage: network, Tasks: 2, Waits: true, Timeouts: timeouts, Drift: 100_000,
		KeepAlives: []time.Duration{0, 10 * time.Second},
	}
}

// ofDatabases is what MySQL's and PostgreSQL's locks promise.
func ofDatabases() []Claim {
	service := Claim{Name: "service", Property: checker.ExclusionAtService, Menu: everyDatabase(), Why: `
		The server gives the lock to one connection at a time, until that releases it or is over. It forgets its locks only
		together with all connections.`}
	whole := Claim{Name: "unless-broken", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: []search.Kind{search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause,
			search.ServerAhead, search.ServerBack, search.Drift, search.Stall, search.Delay},
		Storage: waiting, Tasks: 2, Waits: true, Drift: 100_000,
	}, Why: `
		While its connection stands a client holds until it releases. Connections end with their clients only: nothing breaks
		them, there is no keep-alive, and nobody ends them.`}
	guarded := Claim{Name: "same-transaction", Property: checker.Resource, Menu: everyDatabase(), Why: `
		What is written under the lock is done by the commit that releases it. A transaction whose connection is over is rolled
		back with its lock.`}
	guarded.Menu.Guarded, guarded.Menu.Storage = true, nil
	return slices.Concat(service.of(connectionBound...), whole.of(connectionBound...),
		guarded.of("mysql-row"), ofLeaseRow())
}

// ofLeaseRow is what the row promises that says whose the lease is and until when.
func ofLeaseRow() []Claim {
	within := Claim{Name: "within-lease", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: slices.Concat(network, []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause, search.ServerCrash,
			search.PowerLoss, search.ServerBack, search.Drift,
		}),
		Storage: waiting, Within: 80, Drift: 5_000, Tasks: 2, TTLs: []time.Duration{10 * time.Second, time.Second},
	}, Why: `As for set-nx-lua: the row is on the disk, and ends by the server's clock.`}
	service := Claim{Name: "service", Property: checker.ExclusionAtService, Menu: search.Menu{
		Faults: search.Kinds(search.ServerAhead, search.Drift, search.SameRandom), Storage: network, Tasks: 2,
		Waits: true, Timeouts: timeouts,
	}, Why: `
		One statement takes the row over only if its time has passed on the server's clock, which is right or late.`}
	release := Claim{Name: "release", Property: checker.ReleaseSafety, Menu: everyDatabase(), Why: `
		The release ends the row's time where the owner is the sender, whose name is one acquisition's.`}
	release.Menu.Faults = search.Kinds(search.SameRandom)
	tokens := Claim{Name: "tokens", Property: checker.FencingOrder, Menu: everyDatabase(), Why: `
		A client that takes the row over counts its version up in the same statement, and the row stays.`}
	tokens.Menu.Fencing = []history.Fencing{history.FencedReadWrite}
	rw := tokens
	rw.Name, rw.Property = "fenced-read-write", checker.Resource
	rw.Why = `Tokens grow from holder to holder, so that sections are applied in the order of their tokens. One register only.`
	const lock = "mysql-lease-row"
	return slices.Concat(within.of(lock), service.of(lock), release.of(lock), tokens.of(lock), rw.of(lock))
}
