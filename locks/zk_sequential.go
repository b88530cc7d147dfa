package locks

// zkSequential is ZooKeeper's lock recipe as Curator's InterProcessMutex carries it out: nodes that are found again
// after a create of unknown outcome, a lock's node that is a container, deletes that are repeated until they are
// certain, entries of the same task that are counted. It differs in one thing: before it looks for its own node it has
// the server catch up.
//
// It promises mutual exclusion among clients that stop when their connection is suspended, in the order in which they
// came, and that the lock of a dead client is free when its session expires. It fails for one that goes on: its session
// may be over long before anybody tells it, and behind a server that is cut off from the others it is told nothing at
// all. Its token, the transaction that made the node, guards what is written in the meantime; data in ZooKeeper itself
// can be written in a transaction that checks for the own node.
func zkSequential() Algorithm {
	return zkQueue{}.algorithm(Algorithm{
		Name:   "zk-sequential",
		Title:  "ephemeral sequential nodes: the first holds, the others watch the one before and look again",
		Source: "ZooKeeper Recipes, Locks; Apache Curator, InterProcessMutex",
	})
}

// algorithm completes the description of a lock of this family.
func (l zkQueue) algorithm(a Algorithm) Algorithm {
	a.New, a.Servers, a.Authority, a.Key, a.Check = l.build, "zookeeper", Queue, zkPath, zkKey
	a.Token, a.Identity, a.Lease, a.Keeps, a.Guard = true, "own node", true, true, true
	return a
}
