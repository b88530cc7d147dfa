package locks

// etcdSharedLease is etcd's mutex as applications use it that make one session for the process, or that hand the library a lease of their
// own (concurrency.WithLease) to save a lease for each lock. A mutex names its key by the lease alone. So a task that asks for a lock
// which another task of its process has finds its own key there, takes the lock for its own, and has the same revision as its token; the
// first of them that unlocks deletes the key of all. And a session that others use cannot be closed when it is not known whether an
// unlock was carried out: the key stays for as long as the process lives.
//
// Among processes it promises what etcd's mutex does.
func etcdSharedLease() Algorithm {
	a := etcd()
	a.Name = "etcd-shared-lease"
	a.Title = "etcd's mutex over one lease for all tasks of a process, which all have it if one has"
	a.Source = "etcd's Go client, concurrency.WithLease; etcd pull requests 5199 and 11364"
	a.Status = Mistake
	a.New = func(o Options) Builder {
		return func(p Process) (Lock, error) {
			return &etcdLock{p: p, etcd: p.Etcd(), options: o.withDefaults(), recheck: true, shared: true}, nil
		}
	}
	return a
}
