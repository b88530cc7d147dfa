package locks

// redlockQuorumProse is Redlock with the quorum of a retelling that writes n > N/2+1 where the code beside it counts
// n >= N/2+1: four of five servers.
//
// It promises what Redlock does and is no safer for it: two majorities already share a server. It survives one server
// less.
func redlockQuorumProse() Algorithm {
	a := redlock()
	a.Name = "redlock-quorum-prose"
	a.Title = "Redlock that needs more than N/2+1 votes: four of five"
	a.Source = "a retelling whose prose differs from its code"
	a.Status = Mistake
	a.New = newRedlock(redlockRules{drift: onePercent, quorum: moreThanMajority, ask: inTurn})
	return a
}

func moreThanMajority(servers int) int { return majority(servers) + 1 }
