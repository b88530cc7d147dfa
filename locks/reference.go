package locks

// ReferenceOf returns the name of the lock of the catalogue with which a lock's violations are compared: one that
// is correct as published, for the same servers and the same authority, with a token or with renewal if the lock
// has those. A violation that the reference shows too is not specific to the lock. Renewed says that leases are
// renewed, by the lock itself or because Options.Renew is set. The result is "" if the catalogue has no such lock.
func ReferenceOf(a *Algorithm, renewed bool) string {
	switch {
	case a.Reference != "" && (!renewed || keeps(a.Reference)):
		return a.Reference
	case a.Servers == "" || a.Servers == "redis":
		return redisReference(a, renewed)
	case a.Servers == "mysql" && a.Lease:
		return "mysql-lease-row"
	}
	if a.Servers == "object" && !a.Lease {
		return ""
	}
	return map[string]string{
		"zookeeper": "zk-sequential", "etcd": "etcd", "consul": "consul", "chubby": "chubby", "hazelcast": "hazelcast-fenced",
		"memcached": "memcached-cas", "mysql": "mysql-get-lock", "postgres": "pg-advisory", "object": "k8s-lease",
		"mongodb": "mongo-ttl",
	}[a.Servers]
}

// keeps reports whether a lock of the catalogue keeps what it holds, as one that renews does.
func keeps(name string) bool {
	a, ok := Catalogue().Find(name)
	return ok && a.Keeps
}

func redisReference(a *Algorithm, renewed bool) string {
	switch {
	case a.Authority == Majority && renewed:
		return "redlock-extend"
	case a.Authority == Majority && a.Token:
		return "redlock-counter-token"
	case a.Authority == Majority:
		return "redlock"
	case a.Authority == Replicated:
		return "set-nx-lua-wait"
	case renewed:
		return "watchdog"
	case a.Token:
		return "set-nx-lua-fenced"
	}
	return "set-nx-lua"
}
