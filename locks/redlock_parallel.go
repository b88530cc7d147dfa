package locks

// redlockParallel is Redlock asking all servers at the same time, as the Redis documentation suggests for shortening
// the window in which clients split the votes, and as redsync does. It waits until every server has answered or timed
// out.
//
// It promises what Redlock does; acquiring takes as long as the slowest server, not as long as all together.
func redlockParallel() Algorithm {
	a := redlock()
	a.Name = "redlock-parallel"
	a.Title = "Redlock asking all servers at once"
	a.Source = "Redis documentation, Distributed Locks with Redis: retry on failure"
	a.New = newRedlock(redlockRules{drift: onePercent, quorum: majority, ask: atOnce})
	return a
}

func atOnce(p Process, n int, call func(p Process, i int)) {
	answered := make([]Signal, n)
	for i := range n {
		answered[i] = p.Go(func(p Process) { call(p, i) })
	}
	for _, a := range answered {
		p.Wait(Forever, a)
	}
}
