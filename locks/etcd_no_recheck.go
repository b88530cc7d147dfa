package locks

// etcdNoRecheck is etcd's mutex before version 3.5: a waiting client holds the lock when the key before its own
// is gone. If its lease ended meanwhile, its own key is gone too, and Lock returns a lock that another client
// is granted (etcd issue 11456).
func etcdNoRecheck() Algorithm {
	a := etcd()
	a.Name = "etcd-no-recheck"
	a.Title = "etcd's mutex before 3.5: who has waited holds, even if its lease has ended"
	a.Source = "etcd issue 11456; Jepsen, etcd 3.4.3 (2020)"
	a.Status = Superseded
	a.New = func(o Options) Builder { return newEtcd(o, false) }
	return a
}
