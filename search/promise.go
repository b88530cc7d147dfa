package search

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
)

// Claim says of a property of a lock whether it survives everything that is on a menu.
type Claim struct {
	Name     string // unique; begins with the lock's
	Property checker.Property
	Menu     Menu
	Why      string // the argument, in a few sentences
	// Twin is, for a lock with a mistake, a lock without it, which survives the same menu; "" if there is none.
	Twin string
	_    struct{}
}

// InDanger reports whether a run put the claim at risk. A resource that does not defend itself is at risk whenever its
// lock is: an access that came too late would not be the danger, it would be the damage.
func (c *Claim) InDanger(r *checker.Report) bool {
	if c.Property == checker.Resource && len(c.Menu.Fencing) == 0 {
		return r.Dangers[checker.MutualExclusion] > 0
	}
	return r.Dangers[c.Property] > 0
}

// Promises lists what each lock of the catalogue promises: whatever of its menu happens, the property is not violated.
// What no promise speaks of a lock does not promise. [Limits] shows that it would often be promised in vain.
func Promises() []Claim {
	return slices.Concat(exclusionWithinLease(), exclusionWithoutLease(), exclusionOfRedlock(), exclusionAtTheService(),
		releases(), progress(), resourceBehindLock(), resourceBehindFence())
}

// The network may do to messages whatever TCP lets it do. Storage is honest and durable (see package sim/storage).
var (
	network = []Kind{Cut, Stall, Delay, Break, Error}
	waiting = []Kind{ServerPause, Cut, Stall, Delay} // nothing is lost, all may be late
	careful = []history.Style{history.Careful}
	onDisk  = []string{"always"}

	timeouts = []int64{0, 10, 20}
)

// Locks that share an argument.
var (
	singleServerLeases = []string{
		"setnx-expire", "set-nx-ex-del", "set-nx-get-del", "jedis-sample", "set-nx-lua", "set-nx-lua-fenced", "watchdog",
	}
	freshValues   = []string{"set-nx-lua", "set-nx-lua-fenced", "watchdog"}
	rightRedlocks = []string{"redlock", "redlock-parallel", "redlock-parallel-fixed-delay", "redlock-quorum-prose"}
)

// of makes the same claim for several locks. One server more than a majority of three is all of them, so the lock that
// wants so many is given five.
func (c Claim) of(algorithms ...string) []Claim {
	list := make([]Claim, len(algorithms))
	for i, lock := range algorithms {
		list[i] = c
		list[i].Name, list[i].Why = lock+"-"+c.Name, oneLine(c.Why)
		list[i].Menu.Lock = lock
		if lock == "redlock-quorum-prose" {
			list[i].Menu.Masters = []int{5}
		}
	}
	return list
}

// oneLine joins the lines of an argument.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// exclusionWithinLease is of locks whose key ends by itself, with clients that are done before it does.
func exclusionWithinLease() []Claim {
	within := Claim{Name: "within-lease", Property: checker.MutualExclusion, Menu: Menu{
		Faults: slices.Concat(network, []Kind{
			ClientCrash, ClientPause, ClientClock, ServerPause, ServerCrash, PowerLoss, ServerBack, Drift,
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
	punctual.Menu.Faults = slices.Concat(waiting, []Kind{ClientCrash, ClientPause, ClientClock, ServerBack, Drift, Error})
	punctual.Why = `
		As for set-nx-lua. A try that was refused is cleaned up before the next one begins, unless its answer is lost with
		a connection: then the late clean-up may meet the value of a later try. Nothing here loses an answer.`
	renewed := within
	renewed.Name = "renewed"
	renewed.Menu.Renewed, renewed.Menu.Within, renewed.Menu.TTLs = true, 15, []time.Duration{10 * time.Second, 30 * time.Second}
	renewed.Menu.Faults = slices.Concat(waiting, []Kind{ClientCrash, ClientPause, ClientClock, ServerBack, Drift})
	renewed.Why = `
		The watchdog renews when four fifths of the lease have passed since it heard of the last renewal; a fifth is left
		for the request to arrive, of which faults take less than three quarters. An answer that is an error or is lost
		would make it skip one renewal, which is one too many: neither is on the menu.`
	return slices.Concat(within.of(singleServerLeases...), punctual.of("set-nx-lua-reused-value"), renewed.of("watchdog"),
		quick.of(rightRedlocks...), quick.of("redlock-no-drift", "redlock-no-check"))
}

// exclusionWithoutLease is of the lock whose key never ends.
func exclusionWithoutLease() []Claim {
	return Claim{Name: "unless-forgotten", Property: checker.MutualExclusion, Menu: Menu{
		Faults: Kinds(), Storage: network, Tasks: 2, Waits: true, Timeouts: timeouts, Drift: 100_000, Persistence: onDisk,
	}, Why: `
		The key has no deadline and the server writes it to its disk before it answers: only a DEL ends it. Each holder
		sends one, and until it is executed nobody else can become holder. Whatever is late or lost keeps the others out
		for longer, for ever at worst: it promises no progress.`}.of("setnx")
}

// exclusionOfRedlock is of Redlock under clients that stop at the lease's deadline.
func exclusionOfRedlock() []Claim {
	right := Claim{Name: "careful", Property: checker.MutualExclusion, Menu: Menu{
		Faults: Kinds(ServerAhead, SameRandom), Storage: network, Masters: []int{5, 3}, Persistence: onDisk,
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
	steady.Menu.Faults = Kinds(ServerAhead, SameRandom, Drift)
	steady.Why = `As for redlock, with all clocks running at the rate of true time: no allowance is needed.`
	python := right
	python.Menu.Faults = Kinds(ServerAhead, SameRandom, ClientClock, Break, ServerCrash, PowerLoss)
	python.Menu.Timeouts = nil
	python.Why = `
		As for redlock, if nobody sets a wall clock and no answer is lost: it measures with the wall clock, and uses one
		value for all tries of a call, so that the late clean-up of one would remove the keys of the next.`
	return slices.Concat(right.of(rightRedlocks...), steady.of("redlock-no-drift"), python.of("redlock-py"))
}

// exclusionAtTheService is what servers promise whatever clients do.
func exclusionAtTheService() []Claim {
	one := Claim{Name: "service", Property: checker.ExclusionAtService, Menu: Menu{
		Faults: Kinds(ServerAhead, Drift, SameRandom), Storage: network, Tasks: 2, Waits: true, Timeouts: timeouts,
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
	one := Claim{Name: "release", Property: checker.ReleaseSafety, Menu: Menu{
		Faults: Kinds(SameRandom), Storage: network, Tasks: 2, Waits: true, Timeouts: timeouts, Drift: 100_000,
		Persistence: []string{"none", "everysec", "always"}, Disk: []string{"honest", "lies"},
	}, Why: `
		A script deletes the key if it has the value that the release names, in one step, and nobody else has that value:
		it names one acquisition, or one try where failed tries are cleaned up. What becomes of keys and clocks plays no
		part.`}
	many := one
	many.Menu.Masters = []int{5, 3}
	return slices.Concat(one.of(freshValues...), many.of(rightRedlocks...), many.of("redlock-no-drift", "redlock-no-check"))
}

// progress is of locks that outlive their holders.
func progress() []Claim {
	return Claim{Name: "progress", Property: checker.Progress, Menu: Menu{
		Faults: []Kind{
			ClientCrash, ClientPause, ClientClock, ServerPause, ServerCrash, Stall, Delay, Break, Error,
		},
		Timeouts: []int64{10, 20}, Persistence: onDisk, Progress: 8,
	}, Why: `
		A key that nobody will release, of a dead holder or a late request, is gone after one lease, and each of the three
		faults leaves one at most. Whoever waits polls at least four times a lease and waits for no answer longer than a
		tenth of it.`}.of("set-nx-ex-del", "set-nx-get-del", "set-nx-lua", "set-nx-lua-fenced", "watchdog")
}

// resourceBehindLock is of resources that do not defend themselves.
func resourceBehindLock() []Claim {
	return Claim{Name: "unfenced-within-lease", Property: checker.Resource, Menu: Menu{
		Faults: slices.Concat(network, []Kind{
			ClientCrash, ClientPause, ClientClock, ServerPause, ServerCrash, ServerBack, Drift,
		}),
		Storage: waiting, Within: 80, Drift: 5_000, Registers: 2, Persistence: onDisk,
	}, Why: `
		Beliefs do not overlap (see within-lease), and no access outlives the belief of its section: storage loses neither
		requests nor answers, so that the client hears of each access before it releases. The last access of a client that
		crashes arrives within the lease.`}.of("set-nx-ex-del", "set-nx-get-del", "set-nx-lua", "set-nx-lua-fenced")
}

// anything is what a resource has to face that defends itself.
func anything(fencing history.Fencing, masters ...int) Menu {
	return Menu{
		Fencing: []history.Fencing{fencing}, Masters: masters, Persistence: []string{"none", "everysec", "always"},
		Disk: []string{"honest", "lies"}, Tasks: 2, Waits: true, Timeouts: timeouts, Drift: 100_000,
		Faults: Kinds(), Storage: append(slices.Clone(network), ServerPause, ServerCrash, PowerLoss),
	}
}

// resourceBehindFence is of the modes that protect the resource from any lock that meets their condition.
func resourceBehindFence() []Claim {
	compare := Claim{Name: "compare-and-set", Property: checker.Resource, Menu: anything(history.CompareAndSet, 1, 3), Why: `
		A write is accepted if the version that it replaces is the one its section has read: sections are atomic in the
		order of their writes, and need no lock. One register only: writes of two are two steps.`}
	var every []string
	for _, a := range locks.Catalogue() {
		every = append(every, a.Name)
	}
	equal := Claim{Name: "token-equality", Property: checker.Resource, Menu: anything(history.TokenEquality, 1, 3), Why: `
		A read registers its section's value, a write needs it to be the last that was registered. So no other section
		has read between the read and the write of a section whose write was accepted, nor written, since it would have
		had to read first. Values must be unique: of a section, not of a process, lest a late write of one section
		pass for the next one's. One register only.`}
	equal.Menu.Faults = Kinds(SameRandom)
	fenced := Claim{
		Name: "fenced-read-write", Property: checker.Resource, Menu: anything(history.FencedReadWrite, 1), Why: `
		Tokens differ, since the counter is not lost. A read marks the register with its token, and what comes later with a
		smaller one is refused. So if the write of a section is accepted, no section with a larger token has turned to the
		register yet: sections are atomic in the order of their tokens. One register only: a section that is refused at the
		second has already written the first.`}
	fenced.Menu.Persistence, fenced.Menu.Disk = onDisk, nil
	order := fenced
	order.Name, order.Property = "tokens", checker.FencingOrder
	order.Why = `
		One script makes the key and increments the counter, which has no deadline and is on the disk before the answer.`
	return slices.Concat(compare.of(every...), equal.of(freshValues...), equal.of(rightRedlocks...),
		equal.of("set-without-nx", "set-nx-get-del", "redlock-no-drift", "redlock-no-check", "redlock-py"),
		fenced.of("set-nx-lua-fenced"), order.of("set-nx-lua-fenced"))
}
