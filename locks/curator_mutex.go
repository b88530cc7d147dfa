package locks

// curatorMutex is Curator's InterProcessMutex with its node recovery as published: zkSequential without the two things that it does
// beside. A create whose answer was lost is looked for by its random name in a list of which the server need not know the create yet: if it
// is not there, a second node is made, and everybody waits behind the first. And a client that waits compares the path of its node with the
// list, not the session: when its library has given a session up that the servers keep, it takes the lock by a node that goes when
// that session ends, of which nobody tells it. (If it finds a node of another session while it recovers a create, it deletes that one: CURATOR-498.)
func curatorMutex() Algorithm {
	return zkQueue{unsynced: true, byPath: true}.algorithm(Algorithm{
		Name:   "curator-mutex",
		Title:  "Curator's InterProcessMutex: finds its node again by name, without a sync, and holds by its path alone",
		Source: "Apache Curator 5.9, LockInternals.internalLockLoop, CreateBuilderImpl.findProtectedNodeInForeground, ProtectedMode",
		Status: Mistake,
	})
}
