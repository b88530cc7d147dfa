package locks

// zkSequentialNoRecheck is zkSequential as some tutorials tell it: woken because the node before one's own is gone, it
// holds. But a node goes not only when its owner has held and released: a client that dies in the queue wakes the one
// behind it, while the holder holds.
func zkSequentialNoRecheck() Algorithm {
	return zkQueue{unchecked: true}.algorithm(Algorithm{
		Name:   "zk-sequential-no-recheck",
		Title:  "zk-sequential that holds as soon as it is woken, without another look at the queue",
		Source: "tutorials on ZooKeeper locks",
		Status: Mistake,
	})
}
