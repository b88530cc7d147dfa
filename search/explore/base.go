package explore

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
)

// How a lock is usually deployed if its servers are several.
const (
	usualMasters = 5 // of Redlock
	usualNodes   = 3 // of an ensemble
)

// BaseName is the name of the scenario that Base returns.
const BaseName = "base"

// Base returns the run that the exploration of a lock is pinned to unless another is given: the simplest scenario that
// a hunt could draw, on servers as the lock is usually deployed on. Two clients contend: the second asks while the
// first holds. Every message takes a millisecond.
//
// The second section takes nearly a lease, so that it still goes on when a first holder who was held up beyond its
// lease comes back, be it early or late in its own section.
func Base(lock *locks.Algorithm) *scenarios.Scenario {
	menu := search.Wide(lock, nil)
	if len(menu.Masters) > 0 {
		menu.Masters = []int{usualMasters}
	}
	menu.Nodes = []int{usualNodes}
	s := search.Generate(search.FromBytes(nil), menu) // of no bytes every choice is the simplest
	s.Name, s.Title = BaseName, "Two clients contend for "+lock.Name
	a, b, ttl := &s.Clients[0], &s.Clients[1], s.Lock.TTL
	a.Work, b.Work = ttl/2, ttl*9/10
	a.Start = moment(ttl) // the servers have found each other by then
	b.Start = a.Start + a.Work*3/5
	return s
}
