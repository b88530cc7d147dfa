package claims

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// exclusionOfRedlock is of Redlock under clients that stop at the lease's deadline.
func exclusionOfRedlock() []Claim {
	right := Claim{Name: "careful", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: search.Kinds(search.ServerAhead, search.SameRandom, search.Evict), Storage: network, Masters: []int{5,
			3}, Persistence: onDisk,
		Styles: careful, Waits: true, Timeouts: timeouts, Drift: 5_000,
	}, Why: `
		The holder counts its deadline from before its first request, so no key of its majority is older. Each lives for a
		lease on its server's clock; the deadline comes a hundredth of the lease and 2 ms earlier on the holder's. Let
		both err by r in the worse direction: the key lasts T/(1+r), the holder believes for (T-d)/(1-r) at most, which is
		no more if r <= d/(2T-d), that is 5,025 ppm and a little. A majority that another wins shares a server with this
		one, which still has the key: it was written to an honest disk before the vote was given. How long processes
		pause and messages travel plays no part: a holder that wakes up late no longer believes.`}
	steady := right
	steady.Name = "careful-without-drift"
	steady.Menu.Faults = search.Kinds(search.ServerAhead, search.SameRandom, search.Evict, search.Drift)
	steady.Why = `As for redlock, with all clocks running at the rate of true time: no allowance is needed.`
	python := right
	python.Menu.Faults = search.Kinds(search.ServerAhead, search.SameRandom, search.Evict, search.ClientClock,
		search.Break, search.ServerCrash, search.PowerLoss)
	python.Menu.Timeouts = nil
	python.Why = `
		As for redlock, if nobody sets a wall clock and no answer is lost: it measures with the wall clock, and uses one
		value for all tries of a call, so that the late clean-up of one would remove the keys of the next.`
	return slices.Concat(right.of(rightRedlocks...), steady.of("redlock-no-drift"), python.of("redlock-py"))
}
