package servers

import "github.com/locksim/locksim/internal/sim/zookeeper"

// truths observes several locks, each by itself.
type truths []*truth

// Committed lets each see a transaction.
func (all truths) Committed(s *zookeeper.Server, txn *zookeeper.Txn) {
	for _, z := range all {
		z.Committed(s, txn)
	}
}

// Answered lets each see a read.
func (all truths) Answered(s *zookeeper.Server, a *zookeeper.Response) {
	for _, z := range all {
		z.Answered(s, a)
	}
}

// Expired lets each see the end of a session that is not committed yet.
func (all truths) Expired(s *zookeeper.Server, id zookeeper.SessionID) {
	for _, z := range all {
		z.Expired(s, id)
	}
}

// Elected lets each see the tree of a new leader.
func (all truths) Elected(s *zookeeper.Server) {
	for _, z := range all {
		z.Elected(s)
	}
}
