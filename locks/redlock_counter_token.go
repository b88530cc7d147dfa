package locks

// redlockCounterToken is redlock with a fencing token made of what the servers have: each increments a counter of its own
// with the key, in one script, and the largest of those that voted is the token.
//
// It promises what redlock does. It does not promise that tokens grow: the servers' counters know nothing of each other,
// so a later majority of servers with smaller counters hands out a smaller token. Kleppmann (2016) names this as the
// reason why Redlock cannot easily be given a fencing token: that would need agreement between the servers.
func redlockCounterToken() Algorithm {
	a := redlock()
	a.Name = "redlock-counter-token"
	a.Title = "redlock with the largest of the servers' counters as token"
	a.Source = "Kleppmann 2016, on Redlock's want of a fencing token"
	a.Status = Mistake
	a.New = newRedlock(redlockRules{drift: onePercent, quorum: majority, ask: inTurn, counts: true})
	a.Scripts = []Script{acquireScript(), releaseScript()}
	a.Token = true
	return a
}
