package locks

// hazelcastUnsafe is hazelcastFenced as it is without configuration: cp-member-count is 0, and the same API is in unsafe mode. The owner of
// the lock's partition decides by itself, and a backup takes its place if it leaves the cluster. What the backup has not been sent by
// then is lost; and if the members are only cut off from each other, each side goes on for itself.
//
// It promises one owner at a time, and fences that grow, as long as no member leaves. After a failover that has lost a grant, and on
// the two sides of a split, two clients own the lock, with fences that are equal, or go back: a resource that compares them is not
// safe. Hazelcast's manual recommends unsafe mode for development and tests.
func hazelcastUnsafe() Algorithm {
	a := hazelcastFenced()
	a.Name = "hazelcast-unsafe"
	a.Title = "Hazelcast's FencedLock without a CP Subsystem, as it is by default: unsafe mode"
	a.Source = "Hazelcast 5, CP Subsystem Unsafe Mode"
	a.Status = Mistake
	a.Servers = "hazelcast-unsafe"
	a.New = newHazelcast(a.Servers)
	return a
}
