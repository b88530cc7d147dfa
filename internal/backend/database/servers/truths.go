package servers

import (
	"github.com/locksim/locksim/internal/sim/database"
	"github.com/locksim/locksim/sim"
)

// observer is what sees the locks of a database: one truth, or several.
type observer interface {
	database.Observer
	watch(n *sim.Node)
}

// truths observes several locks, each by itself.
type truths []*truth

func (all truths) watch(n *sim.Node) {
	for _, t := range all {
		t.watch(n)
	}
}

// Executed lets each see the answer to a request.
func (all truths) Executed(s *database.Server, r *database.Request, a *database.Response) {
	for _, t := range all {
		t.Executed(s, r, a)
	}
}

// Waits lets each see a request that has to wait.
func (all truths) Waits(s *database.Server, k database.Key, r *database.Request) {
	for _, t := range all {
		t.Waits(s, k, r)
	}
}

// Took lets each see a connection acquire a lock.
func (all truths) Took(s *database.Server, k database.Key, r *database.Request, times int) {
	for _, t := range all {
		t.Took(s, k, r, times)
	}
}

// Left lets each see a connection release a lock.
func (all truths) Left(s *database.Server, k database.Key, r *database.Request, why database.Why, times int) {
	for _, t := range all {
		t.Left(s, k, r, why, times)
	}
}

// Committed lets each see changes of rows.
func (all truths) Committed(s *database.Server, r *database.Request, changes []database.Change) {
	for _, t := range all {
		t.Committed(s, r, changes)
	}
}

// RolledBack lets each see that changes of rows are void.
func (all truths) RolledBack(s *database.Server, changes []database.Change) {
	for _, t := range all {
		t.RolledBack(s, changes)
	}
}
