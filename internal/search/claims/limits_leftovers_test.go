package claims_test

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// limitsOfLeftovers are limits of locks that leave something behind, or lose silently what they should keep.
func limitsOfLeftovers() []limit {
	waits := func(lock string, faults ...search.Kind) search.FaultModel {
		return search.FaultModel{Lock: lock, Faults: faults, Waits: true, Stays: true}
	}
	pooled := waits("pg-advisory")
	pooled.Pools = []int{2, 1}
	renewed := func(lock string, faults ...search.Kind) search.FaultModel {
		return search.FaultModel{Lock: lock, Faults: faults, Renewed: true}
	}
	return []limit{
		{Name: "leaves-node", Property: checker.Leak, Model: waits("zk-sequential-unprotected", search.Break), Twin: "zk-sequential",
			Why: `A node whose making was not acknowledged stays in the queue for as long as its client lives.`},
		{Name: "leaves-key", Property: checker.Leak, Model: waits("setnx", search.Break), Twin: "set-nx-lua",
			Why: `The client does not know that it has made the key, and the key never ends.`},
		{Name: "left-in-pool", Property: checker.Leak, Model: pooled, Twin: "pg-advisory-xact",
			Why: `The pooler lends another connection for the release than that which has the lock. No fault is needed.`},
		{Name: "lost-in-silence", Property: checker.SilentLoss, Model: renewed("watchdog", search.ClientPause, search.Error, search.Break),
			Why: `A renewal fails or comes too late, and nobody tells the holder.`},
		{Name: "lost-in-silence", Property: checker.SilentLoss, Model: renewed("reentrant", search.ClientPause, search.Cut),
			Why: `The lease ends while its holder stands still or is cut off, and nobody tells it.`},
	}
}
