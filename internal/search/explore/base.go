package explore

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// How a lock is usually deployed if its servers are several.
const (
	usualMasters = 5 // of Redlock
	usualNodes   = 3 // of an ensemble
)

// BaseName is the name of the scenario that Base returns.
const BaseName = "base"

// Base returns the run that the exploration of a lock is pinned to unless another is given: the simplest scenario that
// a campaign could draw, on servers as the lock is usually deployed on. Two clients contend: the second asks while the
// first holds. Every message takes a millisecond.
//
// The second section takes nearly a lease, so that it still goes on when a first holder who was held up beyond its
// lease comes back, be it early or late in its own section.
func Base(lock *locks.Algorithm) *scenarios.Scenario {
	model := search.Wide(lock, nil)
	if len(model.Masters) > 0 {
		model.Masters = []int{usualMasters}
	}
	model.Nodes = []int{usualNodes}
	s := search.Generate(search.FromBytes(nil), model) // of no bytes every choice is the simplest
	s.Name, s.Title = BaseName, "Two clients contend for "+lock.Name
	a, b, ttl := &s.Clients[0], &s.Clients[1], s.Lock.TTL
	a.Work, b.Work = ttl/2, ttl*9/10
	a.Start = moment(ttl) // the servers have found each other by then
	b.Start = a.Start + a.Work*3/5
	return s
}

// Variations returns the base in other ways of using the lock, those that [search.Wide] has drawn. Each changes one habit
// of the clients; and in all of them clients live on when they are refused, give up or are done, since the end of a process
// cleans up what it left behind.
//
//   - tries, gives-up: b asks once while a holds, and is refused at once, or after a tenth of a lease. Both come back
//     after two leases, when everything that was left behind should be over: b first, and then a, while b holds.
//   - repeats: an Unlock that failed is called once more after half a lease, when the next one may hold.
//
// There are three for the sake of time: with them there are six to eight times as many schedules of one fault as in the
// base alone. Combinations of them, and other times, are left to fuzz, which draws them.
func Variations(base *scenarios.Scenario) []scenarios.Variant {
	ttl := base.Lock.TTL
	asksOnce := func(wait time.Duration) func(*scenarios.Client) {
		return func(c *scenarios.Client) {
			if c.Sections, c.Think = 2, 2*ttl; c.Name == "b" {
				c.Wait, c.Again, c.Retry.Delay = wait, 0, ttl/20
			}
		}
	}
	var list []scenarios.Variant
	for _, v := range []struct {
		name, title string
		change      func(*scenarios.Client)
	}{
		{"tries", "b tries once while a holds; both stay up, and come back after two leases", asksOnce(locks.Try)},
		{"gives-up", "b waits for a tenth of a lease while a holds; both stay up, and come back after two leases", asksOnce(ttl / 10)},
		{"repeats", "both stay up, and call Unlock again half a lease after one that failed", func(c *scenarios.Client) {
			c.Unlock = ttl / 2
		}},
	} {
		s := *base
		s.Title, s.Clients = v.title, slices.Clone(s.Clients)
		for i := range s.Clients {
			s.Clients[i].Stays = true
			v.change(&s.Clients[i])
		}
		list = append(list, scenarios.Variant{Name: v.name, Scenario: &s})
	}
	return list
}
