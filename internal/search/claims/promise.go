// Package claims says what each lock promises and where its promises end, as menus of what may happen with the property that
// survives, or does not survive, what is on them.
//
// Call [Promises] and [Limits] for the lists, [Claim.Try] to draw and play one scenario for one of them, and [Campaign] for
// as many as a [Ledger] still lacks.
package claims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// Claim says of a property of a lock whether it survives everything that is on a menu.
type Claim struct {
	Name     string // unique; begins with the lock's
	Property checker.Property
	Menu     search.Menu
	Why      string // the argument, in a few sentences
	// Twin is, for a lock with a mistake, a lock without it, which survives the same menu; "" if there is none.
	Twin string
	_    struct{}
}

// Promises lists what each lock of the catalogue promises: whatever of its menu happens, the property is not violated.
// What no promise speaks of a lock does not promise. [Limits] shows that it would often be promised in vain.
func Promises() []Claim {
	return slices.Concat(exclusionWithinLease(), exclusionWithoutLease(), exclusionOfRedlock(), exclusionAtTheService(),
		releases(), progress(), ofReplicas(), ofZooKeeper(), ofSessions(), ofMemcached(), ofDatabases(),
		resourceBehindLock(), resourceBehindFence(), leavesNothing())
}

// The network may do to messages whatever TCP lets it do. Storage is honest and durable (see package sim/storage).
var (
	network = []search.Kind{search.Cut, search.Stall, search.Delay, search.Break, search.Error}
	// Nothing is lost, all may be late.
	waiting = []search.Kind{search.ServerPause, search.Cut, search.Stall, search.Delay}
	careful = []history.Style{history.Careful}
	onDisk  = []string{"always"}

	timeouts = []int64{0, 10, 20}
)

// Locks that share an argument.
var (
	singleServerLeases = []string{
		"setnx-expire", "set-nx-ex-del", "set-nx-get-del", "jedis-sample", "set-nx-lua", "set-nx-lua-fenced",
		"watchdog",
	}
	freshValues   = []string{"set-nx-lua", "set-nx-lua-fenced", "watchdog"}
	rightRedlocks = []string{
		"redlock", "redlock-parallel", "redlock-parallel-fixed-delay", "redlock-quorum-prose", "redlock-counter-token",
	}
)

// Argument names why a claim is made: locks of which the same is claimed for the same reason share it.
func (c *Claim) Argument() string { return strings.TrimPrefix(c.Name, c.Menu.Lock+"-") }

// of makes the same claim for several locks, on servers as each of them needs.
func (c Claim) of(algorithms ...string) []Claim {
	list := make([]Claim, len(algorithms))
	for i, lock := range algorithms {
		list[i] = c
		list[i].Name, list[i].Why = lock+"-"+c.Name, oneLine(c.Why)
		list[i].Menu.Lock = lock
		fit(&list[i].Menu)
	}
	return list
}

// fit makes a menu's deployment one that its lock can do something with. One server more than a majority of three is all
// of them, so a lock that wants one more than a majority is given five.
func fit(m *search.Menu) {
	switch {
	case serversOf(m.Lock) != "redis":
		m.Masters, m.Persistence, m.Disk = nil, nil, nil
	case m.Lock == "redlock-quorum-prose":
		m.Masters = []int{5}
	case m.Lock == "set-nx-lua-wait" && m.Replicas == nil:
		m.Masters, m.Replicas = nil, []int{1, 2}
	}
}

// oneLine joins the lines of an argument.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// serversOf returns the kind of servers that a lock needs.
func serversOf(lock string) string {
	a, ok := locks.Catalogue().Find(lock)
	if !ok {
		panic("claims: there is no lock " + lock)
	}
	return cmp.Or(a.Servers, "redis")
}
