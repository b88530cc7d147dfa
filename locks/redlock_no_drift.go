package locks

import "time"

// redlockNoDrift is Redlock as summaries tell it that leave out the allowance for clock drift: the lease is valid for
// the time to live less the time that acquiring took.
//
// It promises what Redlock does if no server's clock is faster than the holder's. A server that is fast by any amount
// frees its key before the holder's deadline.
func redlockNoDrift() Algorithm {
	a := redlock()
	a.Name = "redlock-no-drift"
	a.Title = "Redlock without an allowance for clock drift"
	a.Source = "summaries of Redlock"
	a.Status = Mistake
	a.New = newRedlock(redlockRules{drift: noDrift, quorum: majority, ask: inTurn})
	return a
}

func noDrift(time.Duration) time.Duration { return 0 }
