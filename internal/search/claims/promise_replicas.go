package claims

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// ofReplicas is what is left of the promises of a lock on one Redis server when there are replicas, one of which may take
// its place.
func ofReplicas() []Claim {
	wait := Claim{Name: "within-lease", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: slices.Concat(network, []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause, search.ServerCrash,
			search.PowerLoss, search.ServerBack, search.Failover, search.Partition, search.Lag,
		}),
		Storage: waiting, Within: 60, Tasks: 2, Persistence: onDisk, Replicas: []int{1},
		FullSyncs: []time.Duration{0, 10 * time.Millisecond}, TTLs: []time.Duration{10 * time.Second, 30 * time.Second},
	}, Why: `
		The only replica has acknowledged the key before the client holds, so that whichever of the two is master has it, or
		knows that it was released; a master that its replica does not follow any longer gets no acknowledgement. Waiting for
		one takes a second of the lease at most, faults and the section three fifths of it.`}
	release := Claim{Name: "release-among-replicas", Property: checker.ReleaseSafety, Menu: uniqueValues(), Why: `
		Whichever server is asked, the script deletes the key there only if it has the value that the release names.`}
	release.Menu.Replicas = []int{1, 2}
	release.Menu.Persistence = append(slices.Clone(release.Menu.Persistence), "rdb")
	sentinel := release
	sentinel.Name, sentinel.Menu.Sentinels = "release-under-sentinel", []int{3}
	equal := Claim{Name: "token-equality-among-replicas", Property: checker.Resource, Menu: release.Menu, Why: `
		As for one server: the resource compares values that are one acquisition's, and what becomes of keys plays no part.`}
	return slices.Concat(wait.of("set-nx-lua-wait"), release.of("set-nx-lua", "set-nx-lua-wait", "watchdog"),
		sentinel.of("set-nx-lua"), equal.of("set-nx-lua", "set-nx-lua-wait"), ofReentrant())
}

// ofReentrant is what Redisson's lock promises on one server.
func ofReentrant() []Claim {
	renewed := Claim{Name: "renewed", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: slices.Concat(waiting, []search.Kind{search.ClientCrash, search.ClientPause, search.ClientClock,
			search.ServerBack, search.Drift}),
		Storage: waiting, Within: 50, Renewed: true, Drift: 5_000, Tasks: 2, Persistence: onDisk,
		TTLs: []time.Duration{10 * time.Second, 30 * time.Second}, Enters: 3,
	}, Why: `
		The watchdog renews when a third of the lease has passed, and faults take half of it at most, so that the key lives while
		its owner does. No answer is lost.`}
	release := Claim{Name: "release", Property: checker.ReleaseSafety, Menu: search.Menu{
		Faults: search.Kinds(search.SameRandom), Storage: network, Tasks: 2, Waits: true, Drift: 100_000,
		Persistence: onDisk, Enters: 2,
	}, Why: `
		The script counts down the field that the owner has in the hash, and no other task has that name.`}
	progress := Claim{Name: "progress", Property: checker.Progress, Menu: search.Menu{
		Faults: []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause, search.ServerCrash,
			search.Stall, search.Delay, search.Break, search.Error,
		},
		Timeouts: []int64{10, 20}, Persistence: onDisk, Progress: 10,
	}, Why: `
		The hash of a dead owner is gone after one lease. A client that waits asks again when that time is over, if no message on the
		channel has woken him before.`}
	return slices.Concat(renewed.of("reentrant"), release.of("reentrant"), progress.of("reentrant"))
}
