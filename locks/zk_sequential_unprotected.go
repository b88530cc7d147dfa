package locks

// zkSequentialUnprotected is zkSequential without a random name: after a create of unknown outcome it does not know its
// own node from others. If there is one, everybody waits behind it for as long as the session lives, its owner too.
func zkSequentialUnprotected() Algorithm {
	return zkQueue{unprotected: true}.algorithm(Algorithm{
		Name:   "zk-sequential-unprotected",
		Title:  "zk-sequential that leaves an orphan behind when a create was not acknowledged",
		Source: "ZooKeeper Recipes, Locks, without the note on recoverable errors and the GUID",
		Status: Mistake,
	})
}
