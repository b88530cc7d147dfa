package servers

import "github.com/locksim/locksim/internal/sim/lease"

// truths observes several locks, each by itself.
type truths []*truth

// Executed lets each see a request.
func (all truths) Executed(s *lease.Server, r *lease.Request, a *lease.Response, changes []lease.Change) {
	for _, l := range all {
		l.Executed(s, r, a, changes)
	}
}

// Waits lets each see a request that cannot be carried out yet.
func (all truths) Waits(s *lease.Server, r *lease.Request) {
	for _, l := range all {
		l.Waits(s, r)
	}
}

// Renewed lets each see the TTL of a session restart.
func (all truths) Renewed(s *lease.Server, id lease.SessionID) {
	for _, l := range all {
		l.Renewed(s, id)
	}
}

// Ended lets each see a session end.
func (all truths) Ended(s *lease.Server, id lease.SessionID, why lease.Reason, changes []lease.Change) {
	for _, l := range all {
		l.Ended(s, id, why, changes)
	}
}

// Wiped lets each see the disks lose all data.
func (all truths) Wiped(s *lease.Server, changes []lease.Change) {
	for _, l := range all {
		l.Wiped(s, changes)
	}
}

// Promoted lets each see a member become the owner of a partition.
func (all truths) Promoted(s *lease.Server, owners []*lease.Request) {
	for _, l := range all {
		l.Promoted(s, owners)
	}
}
