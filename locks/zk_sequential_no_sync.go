package locks

// zkSequentialNoSync is zkSequential that looks for its own node as the libraries do: without a sync before. If the
// client has turned to a server that has not yet carried out the create, it finds nothing and makes a second node. Then
// everybody waits behind the first for as long as the session lives, its owner too.
func zkSequentialNoSync() Algorithm {
	return zkQueue{unsynced: true}.algorithm(Algorithm{
		Name:   "zk-sequential-no-sync",
		Title:  "zk-sequential that looks for its own node on a server that may not have heard of it yet",
		Source: "Apache Curator, CreateBuilderImpl.findProtectedNode; go-zookeeper, CreateProtectedEphemeralSequential",
		Status: Mistake,
	})
}
