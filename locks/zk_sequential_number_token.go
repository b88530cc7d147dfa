package locks

// zkSequentialNumberToken is zkSequential whose token is the number in the node's name. It grows for as long as the
// lock's node lives: when that has been deleted, as an unused container is, the numbers begin again.
func zkSequentialNumberToken() Algorithm {
	return zkQueue{numbered: true}.algorithm(Algorithm{
		Name:   "zk-sequential-number-token",
		Title:  "zk-sequential that takes the sequence number for a fencing token",
		Source: "advice on fencing with ZooKeeper",
		Status: Mistake,
	})
}
