package locks

// redlockNoCheck is Redlock with one mistake, made on purpose: it counts votes and does not look at the clock. Whoever
// has a majority of yes holds, however long it took to get them; so its lease has no deadline to state.
//
// It promises mutual exclusion if acquiring takes no time. When servers are slow the first keys are gone before the
// last vote is in, and the lock is held on no server.
func redlockNoCheck() Algorithm {
	a := redlock()
	a.Name = "redlock-no-check"
	a.Title = "Redlock that counts votes only: it does not check how long acquiring took"
	a.Source = "the Redlock algorithm less its third step"
	a.Status = Mistake
	a.New = newRedlock(redlockRules{drift: onePercent, quorum: majority, ask: inTurn, ignoresTime: true})
	a.Deadline = NoClock
	return a
}
