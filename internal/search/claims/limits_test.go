package claims_test

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
)

// limit is where promises end: something in the fault model violates the property. A lock with a mistake is caught by what its twin
// survives; a correct lock is caught by what it does not promise to survive.
type limit struct {
	Name     string // unique; begins with the lock's
	Property checker.Property
	Model    search.FaultModel
	Why      string // the argument, in a few sentences
	Twin     string // for a lock with a mistake, a lock without it, which survives the same fault model; "" if there is none
}

func (l *limit) claim() claims.Claim {
	return claims.Claim{Name: l.Name, Property: l.Property, Model: l.Model, Why: l.Why}
}

var (
	careful = []history.Style{history.Careful}
	onDisk  = []string{"always"}
	// timeouts is how long clients wait for an answer, in percent of the lease; 0: as long as they usually do.
	timeouts = []int64{0, 10, 20}
	zkTicks  = []time.Duration{500 * time.Millisecond, 2 * time.Second}
)

func limits() []limit {
	list := slices.Concat(mistakes(), conditions(), gaps(), limitsOfReplicas(), limitsOfZooKeeper(), limitsOfSessions(),
		limitsOfMemcached(), limitsOfRedisson(), limitsOfObjects(), limitsOfDatabases(), limitsOfLeftovers())
	for i := range list {
		list[i].Name = list[i].Model.Lock + "-" + list[i].Name
	}
	return list
}

// everyClaim lists the promises, and the limits in their place among them.
func everyClaim() []claims.Claim {
	list := claims.Promises()
	for _, l := range limits() {
		list = append(list, l.claim())
	}
	return list
}

// mistakes are of locks that are wrong.
func mistakes() []limit {
	const (
		exclusion = checker.MutualExclusion
		release   = checker.ReleaseSafety
	)
	return []limit{
		{Name: "race", Property: exclusion, Model: search.FaultModel{Lock: "get-then-set"},
			Twin: "setnx", Why: `Two clients look before either has made the key. No fault is needed.`},
		{Name: "dead-holder", Property: checker.Progress, Model: search.FaultModel{
			Lock: "get-then-set", Faults: []search.Kind{search.ClientCrash}, Progress: 8,
		}, Twin: "set-nx-lua", Why: `The key of a dead holder stays forever.`},
		{Name: "dead-holder", Property: checker.Progress, Model: search.FaultModel{
			Lock: "setnx", Faults: []search.Kind{search.ClientCrash}, Progress: 8,
		}, Twin: "set-nx-lua", Why: `The key of a dead holder stays forever.`},
		{Name: "dead-client", Property: checker.Progress, Model: search.FaultModel{
			Lock: "setnx-expire", Faults: []search.Kind{search.ClientCrash}, Progress: 8,
		}, Twin: "set-nx-ex-del", Why: `A client that dies between SETNX and EXPIRE leaves a key without a deadline.`},
		{Name: "overwritten", Property: exclusion, Model: search.FaultModel{Lock: "set-without-nx", Within: 80},
			Twin: "set-nx-lua", Why: `The second client overwrites the key of the first. No fault is needed.`},
		{Name: "misdelete", Property: release, Model: search.FaultModel{Lock: "set-nx-ex-del",
			Faults: []search.Kind{search.ClientPause}},
			Twin: "set-nx-lua", Why: `A holder that overran its lease deletes the key of the next one.`},
		{Name: "misdelete", Property: release, Model: search.FaultModel{Lock: "setnx-expire",
			Faults: []search.Kind{search.ClientPause}},
			Twin: "set-nx-lua", Why: `A holder that overran its lease deletes the key of the next one.`},
		{Name: "late-del", Property: release, Model: search.FaultModel{Lock: "set-nx-get-del",
			Faults: []search.Kind{search.ClientPause, search.Delay}},
			Twin: "set-nx-lua", Why: `The lease ends between GET and DEL, and DEL deletes the key of the next holder.`},
		{Name: "giving-up", Property: release, Model: search.FaultModel{Lock: "jedis-sample", Waits: true},
			Twin: "set-nx-lua",
			Why:  `A client that gives up waiting deletes the key of the holder. No fault is needed.`},
		{Name: "giving-up-beside-holder", Property: exclusion, Model: search.FaultModel{Lock: "jedis-sample", Waits: true,
			Within: 80},
			Twin: "set-nx-lua", Why: `The key of the holder is gone, and the next client makes one.`},
		{Name: "late-cleanup", Property: release, Model: search.FaultModel{
			Lock: "set-nx-lua-reused-value", Faults: []search.Kind{search.Delay, search.Stall, search.Break},
			Timeouts: timeouts,
		}, Twin: "set-nx-lua",
			Why: `The clean-up of a failed try arrives late and deletes the key of a later one, which has the same value.`},
		{Name: "no-allowance", Property: exclusion, Model: search.FaultModel{
			Lock: "redlock-no-drift", Faults: []search.Kind{search.Drift}, Drift: 5_000, Styles: careful,
			Masters: []int{3},
		}, Twin: "redlock",
			Why: `Servers end their keys before the deadline of a slow holder, by what redlock allows for.`},
		{Name: "slow-votes", Property: exclusion, Model: search.FaultModel{
			Lock: "redlock-no-check", Faults: []search.Kind{search.ClientPause, search.ServerPause, search.Delay,
				search.Stall}, Styles: careful, Masters: []int{3, 5},
		}, Twin: "redlock",
			Why: `The first keys are gone before the last vote is in, or before a holder that paused goes on, and no deadline says so.`},
		{Name: "wall-clock", Property: exclusion, Model: search.FaultModel{
			Lock: "redlock-py", Faults: []search.Kind{search.ClientClock, search.ClientPause}, Styles: careful,
			Masters: []int{3, 5},
		}, Twin: "redlock", Why: `The holder's wall clock is set back, and with it the deadline.`},
		{Name: "late-cleanup", Property: release, Model: search.FaultModel{
			Lock: "redlock-py", Faults: []search.Kind{search.Delay, search.Stall, search.Break, search.Cut},
			Masters: []int{3}, Timeouts: []int64{10, 20},
		}, Twin: "redlock",
			Why: `The clean-up of a failed try arrives late and deletes the keys of a later one, which has the same value.`},
		{Name: "split-vote", Property: checker.Progress, Model: search.FaultModel{
			Lock: "redlock-parallel-fixed-delay", Masters: []int{2}, Uneven: true, Progress: 8,
		}, Twin: "redlock-parallel", Why: `Clients that split the votes wait equally long and split them again.`},
	}
}

// conditions are of right locks, outside of what they promise.
func conditions() []limit {
	const exclusion = checker.MutualExclusion
	pause, loss, ahead := []search.Kind{search.ClientPause}, []search.Kind{search.PowerLoss, search.Cut},
		[]search.Kind{search.ServerAhead, search.Cut}
	return []limit{
		{Name: "overrun", Property: exclusion, Model: search.FaultModel{Lock: "set-nx-lua", Faults: pause},
			Why: `The lease ends while its holder stands still.`},
		{Name: "overrun", Property: exclusion, Model: search.FaultModel{Lock: "watchdog", Faults: pause},
			Why: `A pause stops the watchdog together with the worker.`},
		{Name: "renewal-cut", Property: exclusion, Model: search.FaultModel{Lock: "watchdog",
			Faults: []search.Kind{search.Cut, search.Stall}, Renewed: true},
			Why: `Renewals do not arrive, and the worker does not learn of it.`},
		{Name: "overrun", Property: exclusion, Model: search.FaultModel{Lock: "redlock", Faults: pause, Masters: []int{3}},
			Why: `A careless holder does not look at its deadline.`},
		{Name: "forgotten", Property: exclusion, Model: search.FaultModel{Lock: "setnx", Faults: loss},
			Why: `The server comes back without the key.`},
		{Name: "forgotten", Property: exclusion, Model: search.FaultModel{Lock: "set-nx-lua", Faults: loss},
			Why: `The server comes back without the key.`},
		{Name: "forgotten", Property: exclusion, Model: search.FaultModel{Lock: "redlock", Faults: loss, Masters: []int{3, 5},
			Styles: careful},

			Why: `One server of the majority comes back without the key, and another client's majority needs no other.`},
		{Name: "forgotten-since-last-flush", Property: exclusion, Model: search.FaultModel{
			Lock: "redlock", Faults: loss, Masters: []int{3}, Styles: careful, Persistence: []string{"everysec"},
		}, Why: `The key was written less than a second before the power failed.`},
		{Name: "forgotten-by-lying-disk", Property: exclusion, Model: search.FaultModel{
			Lock: "redlock", Faults: loss, Masters: []int{3}, Styles: careful, Persistence: onDisk,
			Disk: []string{"lies"},
		}, Why: `The disk had acknowledged what it had not kept.`},
		{Name: "clock-jump", Property: exclusion, Model: search.FaultModel{Lock: "set-nx-lua", Faults: ahead},
			Why: `The server's clock jumps, and the key ends.`},
		{Name: "clock-jump", Property: exclusion, Model: search.FaultModel{Lock: "redlock", Faults: ahead, Masters: []int{3,
			5}, Styles: careful},
			Why: `The clock of one server of the majority jumps (Kleppmann 2016).`},
		{Name: "too-much-drift", Property: exclusion, Model: search.FaultModel{
			Lock: "redlock", Faults: []search.Kind{search.Drift}, Drift: 50_000, Masters: []int{3}, Styles: careful,
		}, Why: `Clocks err by ten times what the allowance covers.`},
		{Name: "twins", Property: checker.ReleaseSafety, Model: search.FaultModel{Lock: "set-nx-lua",
			Faults: []search.Kind{search.SameRandom, search.ClientPause}},
			Why: `Two clients draw the same value: the late release of one deletes the key of the other.`},
		{Name: "counter-lost", Property: checker.FencingOrder, Model: search.FaultModel{Lock: "set-nx-lua-fenced",
			Faults: loss},
			Why: `The counter is lost with the key, and tokens begin again.`},
	}
}

// gaps are of resources, where no lock and no fence protects them.
func gaps() []limit {
	const resource = checker.Resource
	pause := []search.Kind{search.ClientPause}
	fence := func(f history.Fencing) []history.Fencing { return []history.Fencing{f} }
	return []limit{
		{Name: "unfenced", Property: resource, Model: search.FaultModel{Lock: "set-nx-lua", Faults: pause},
			Why: `Two clients that believe to hold read the same version.`},
		{Name: "unfenced-careful", Property: resource, Model: search.FaultModel{
			Lock: "redlock", Faults: []search.Kind{search.ClientPause, search.Delay},
			Storage: []search.Kind{search.Delay}, Masters: []int{3}, Styles: careful,
		}, Why: `The holder looks, then pauses or its write is late: no look can be late enough (Kleppmann 2016).`},
		{Name: "check-then-write", Property: resource, Model: search.FaultModel{
			Lock: "set-nx-lua-fenced", Faults: pause, Fencing: fence(history.CheckThenWrite),
		}, Why: `The pause comes between the check and the write.`},
		{Name: "fenced-write", Property: resource, Model: search.FaultModel{
			Lock: "set-nx-lua-fenced", Faults: pause, Fencing: fence(history.FencedWrite),
		}, Why: `33 reads, 34 reads, 33 writes, 34 writes: in the order of the tokens, and an update is lost.`},
		{Name: "fenced-read-write-of-two", Property: resource, Model: search.FaultModel{
			Lock: "set-nx-lua-fenced", Faults: []search.Kind{search.ClientPause, search.Delay},
			Storage: []search.Kind{search.Delay}, Registers: 2,
			Fencing: fence(history.FencedReadWrite),
		}, Why: `A section is refused at the second register when it has written the first.`},
		{Name: "fenced-read-write-counter-lost", Property: resource, Model: search.FaultModel{
			Lock: "set-nx-lua-fenced", Faults: []search.Kind{search.PowerLoss, search.Cut},
			Fencing: fence(history.FencedReadWrite),
		}, Why: `Two sections have the same token.`},
		{Name: "compare-and-set-of-two", Property: resource, Model: search.FaultModel{
			Lock: "set-without-nx", Registers: 2, Fencing: fence(history.CompareAndSet),
		}, Why: `Two sections win one register each.`},
		{Name: "token-equality-of-twins", Property: resource, Model: search.FaultModel{
			Lock: "set-nx-lua", Faults: []search.Kind{search.SameRandom, search.ClientPause},
			Fencing: fence(history.TokenEquality),
		}, Why: `Two clients draw the same value.`},
		{Name: "token-equality-of-handle", Property: resource, Model: search.FaultModel{
			Lock: "set-nx-lua-reused-value", Faults: []search.Kind{search.Delay, search.Break},
			Storage: []search.Kind{search.Delay, search.Break}, Clients: 2, Most: 6,
			Fencing: fence(history.TokenEquality),
		}, Why: `A late write of one section passes for one of the next section of the same client.`},
	}
}
