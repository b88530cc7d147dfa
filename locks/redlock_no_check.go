package locks

// redlockNoCheck is Redlock with one deliberate mistake: it counts votes and does not check the clock. A client
// with a majority of votes holds the lock, however long it took to get them; so its lease states no deadline.
//
// It promises mutual exclusion if acquiring takes no time. When servers are slow the first keys have expired
// before the last vote arrives, and the lock is held on no server.
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
