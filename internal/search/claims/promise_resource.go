package claims

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// resourceBehindLock is of resources that do not defend themselves.
func resourceBehindLock() []Claim {
	return Claim{Name: "unfenced-within-lease", Property: checker.Resource, Menu: search.Menu{
		Faults: slices.Concat(network, []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause, search.ServerCrash,
			search.ServerBack, search.Drift,
		}),
		Storage: waiting, Within: 80, Drift: 5_000, Registers: 2, Persistence: onDisk,
	}, Why: `
		Beliefs do not overlap (see within-lease), and no access outlives the belief of its section: storage loses neither
		requests nor answers, so that the client hears of each access before it releases. The last access of a client that
		crashes arrives within the lease.`}.of("set-nx-ex-del", "set-nx-get-del", "set-nx-lua", "set-nx-lua-fenced")
}

// anything is what a resource has to face that defends itself.
func anything(fencing history.Fencing, masters ...int) search.Menu {
	return search.Menu{
		Fencing: []history.Fencing{fencing}, Masters: masters, Persistence: []string{"none", "everysec", "always"},
		Disk: []string{"honest", "lies"}, Tasks: 2, Waits: true, Timeouts: timeouts, Drift: 100_000,
		Faults: search.Kinds(), Storage: append(slices.Clone(network), search.ServerPause, search.ServerCrash,
			search.PowerLoss),
	}
}

// uniqueValues is that for a resource that tells sections apart by the values of their leases, no two of which are alike.
func uniqueValues(masters ...int) search.Menu {
	m := anything(history.TokenEquality, masters...)
	m.Faults = search.Kinds(search.SameRandom)
	return m
}

// anyLock are some of all kinds: what protects the resource from one lock protects it from any.
var anyLock = []string{
	"get-then-set", "setnx", "set-without-nx", "set-nx-get-del", "jedis-sample", "set-nx-lua", "set-nx-lua-wait",
	"reentrant",
	"redlock", "redlock-py", "zk-sequential-no-recheck", "etcd-no-recheck", "memcached-add", "mysql-get-lock",
}

// resourceBehindFence is of the modes that protect the resource from any lock that meets their condition.
func resourceBehindFence() []Claim {
	compare := Claim{Name: "compare-and-set", Property: checker.Resource, Menu: anything(history.CompareAndSet, 1, 3),
		Why: `
		A write is accepted if the version that it replaces is the one its section has read: sections are atomic in the
		order of their writes, and need no lock. One register only: writes of two are two steps.`}
	equal := Claim{Name: "token-equality", Property: checker.Resource, Menu: uniqueValues(), Why: `
		A read registers its section's value, a write needs it to be the last that was registered. So no other section
		has read between the read and the write of a section whose write was accepted, nor written, since it would have
		had to read first. Values must be unique: of a section, not of a process, so that a late write of one section
		pass for the next one's. One register only.`}
	many := equal
	many.Menu.Masters = []int{5, 3}
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
	return slices.Concat(compare.of(anyLock...), equal.of(freshValues...), equal.of("set-without-nx", "set-nx-get-del"),
		many.of(rightRedlocks...), many.of("redlock-no-drift", "redlock-no-check", "redlock-py"),
		fenced.of("set-nx-lua-fenced"), order.of("set-nx-lua-fenced"))
}
