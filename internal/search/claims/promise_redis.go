package claims

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// exclusionWithinLease is of locks whose key ends by itself, with clients that are done before it does.
func exclusionWithinLease() []Claim {
	within := Claim{Name: "within-lease", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: slices.Concat(network, []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause, search.ServerCrash,
			search.PowerLoss, search.ServerBack, search.Drift,
		}),
		Storage: waiting, Within: 80, Drift: 5_000, Tasks: 2, Persistence: onDisk,
	}, Why: `
		The key is there from the execution of the request that made it until its holder's release is executed, for
		nobody else removes it (even a DEL that does not compare removes the key of its sender, whose lease is not over)
		and the server neither forgets it nor ends it much too early. Between the two lie the section's work, messages,
		and what faults take: less than four fifths of the lease. A fifth is left for messages that are merely slow, and
		for clocks that are wrong by half a percent at either end. A request that is late makes a key that nobody holds,
		which keeps others out.`}
	quick := within
	quick.Menu.Within, quick.Menu.Masters = 60, []int{5, 3}
	quick.Why = `
		As for one server, of the majority: two majorities share a server, and its key is there. Asking five servers in
		turn may take five time-outs of 50 ms: a fourth of the shortest lease.`
	punctual := within
	punctual.Menu.Faults = slices.Concat(waiting, []search.Kind{search.ClientCrash, search.ClientPause,
		search.ClientClock, search.ServerBack, search.Drift, search.Error})
	punctual.Why = `
		As for set-nx-lua. A try that was refused is cleaned up before the next one begins, unless its answer is lost with
		a connection: then the late clean-up may meet the value of a later try. Nothing here loses an answer.`
	renewed := within
	renewed.Name = "renewed"
	renewed.Menu.Renewed, renewed.Menu.Within, renewed.Menu.TTLs = true, 15, []time.Duration{10 * time.Second,
		30 * time.Second}
	renewed.Menu.Faults = slices.Concat(waiting, []search.Kind{search.ClientCrash, search.ClientPause,
		search.ClientClock, search.ServerBack, search.Drift})
	renewed.Why = `
		The watchdog renews when four fifths of the lease have passed since it heard of the last renewal; a fifth is left
		for the request to arrive, of which faults take less than three quarters. An answer that is an error or is lost
		would make it skip one renewal, which is one too many: neither is on the menu.`
	return slices.Concat(within.of(singleServerLeases...), punctual.of("set-nx-lua-reused-value"),
		renewed.of("watchdog"),
		quick.of(rightRedlocks...), quick.of("redlock-no-drift", "redlock-no-check"))
}

// exclusionWithoutLease is of the lock whose key never ends.
func exclusionWithoutLease() []Claim {
	return Claim{Name: "unless-forgotten", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: search.Kinds(search.Evict), Storage: network, Tasks: 2, Waits: true, Timeouts: timeouts,
		Drift: 100_000, Persistence: onDisk,
	}, Why: `
		The key has no deadline and the server writes it to its disk before it answers: only a DEL ends it. Each holder
		sends one, and until it is executed nobody else can become holder. Whatever is late or lost keeps the others out
		for longer, forever at worst: it promises no progress.`}.of("setnx")
}

// exclusionAtTheService is what servers promise whatever clients do.
func exclusionAtTheService() []Claim {
	one := Claim{Name: "service", Property: checker.ExclusionAtService, Menu: search.Menu{
		Faults: search.Kinds(search.ServerAhead, search.Drift, search.SameRandom, search.Evict), Storage: network,
		Tasks: 2, Waits: true, Timeouts: timeouts,
		Persistence: onDisk,
	}, Why: `
		SET NX makes the key only if there is none, the key ends when its lease has elapsed on a clock that is right or
		late, and nobody but its owner deletes it, since nobody else knows its value.`}
	many := one
	many.Menu.Masters = []int{5, 3}
	many.Why = `As for one server: a second majority would need a vote from a server that has the key of the first.`
	return slices.Concat(one.of(freshValues...), many.of(rightRedlocks...))
}

// releases is of locks that name what they release.
func releases() []Claim {
	one := Claim{Name: "release", Property: checker.ReleaseSafety, Menu: uniqueValues(), Why: `
		A script deletes the key if it has the value that the release names, in one step, and nobody else has that value:
		it names one acquisition, or one try where failed tries are cleaned up. What becomes of keys and clocks plays no
		part.`}
	many := one
	many.Menu.Masters = []int{5, 3}
	return slices.Concat(one.of(freshValues...), many.of(rightRedlocks...), many.of("redlock-no-drift",
		"redlock-no-check"))
}

// progress is of locks that outlive their holders.
func progress() []Claim {
	return Claim{Name: "progress", Property: checker.Progress, Menu: search.Menu{
		Faults: []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause, search.ServerCrash,
			search.Stall, search.Delay, search.Break, search.Error,
		},
		Timeouts: []int64{10, 20}, Persistence: onDisk, Progress: 8,
	}, Why: `
		A key that nobody will release, of a dead holder or a late request, is gone after one lease, and each of the three
		faults leaves one at most. A client that waits polls at least four times a lease and waits for no answer longer than a
		tenth of it.`}.of("set-nx-ex-del", "set-nx-get-del", "set-nx-lua", "set-nx-lua-fenced", "watchdog")
}
