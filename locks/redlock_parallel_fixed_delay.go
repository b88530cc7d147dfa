package locks

// redlockParallelFixedDelay is redlockParallel with one mistake, made on purpose: it waits the same time before every
// retry, as redlock-py does.
//
// It promises what Redlock does about safety. Clients that split the votes once, each near its own servers, fail
// together, wait together, and split them again.
func redlockParallelFixedDelay() Algorithm {
	a := redlockParallel()
	a.Name = "redlock-parallel-fixed-delay"
	a.Title = "Redlock asking all servers at once and retrying after a fixed delay: the votes stay split"
	a.Source = "the retry delay of redlock-py"
	a.Status = Mistake
	a.New = newRedlock(redlockRules{drift: onePercent, quorum: majority, ask: atOnce, fixedDelay: true})
	return a
}
