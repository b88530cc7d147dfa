package locks

// etcdNoRecheck is etcd's mutex as it was before version 3.5: whoever has waited holds when the key before its own has
// gone. If its lease ended meanwhile, its key is gone too, and Lock returns a lock that somebody else is given
// (etcd issue 11456).
func etcdNoRecheck() Algorithm {
	a := etcd()
	a.Name = "etcd-no-recheck"
	a.Title = "etcd's mutex before 3.5: who has waited holds, even if its lease has ended"
	a.Source = "etcd issue 11456; Jepsen, etcd 3.4.3 (2020)"
	a.Status = Superseded
	a.New = func(o Options) Builder { return newEtcd(o, false) }
	return a
}
