package locks

// redissonMultiLease is redissonMulti with a life given for the locks (lock(leaseTime), tryLock(waitTime, leaseTime)). While it takes one
// lock after the other they live for twice as long as it may wait; when it has all of them it has them expire after the life that was
// asked for, by PEXPIRE on each key. Whose key that is, or whether there is one, it does not look: a client that was held up between the
// two has a lock that another has taken, and prolongs it.
func redissonMultiLease() Algorithm {
	a := redissonMulti()
	a.Name = "redisson-multi-lease"
	a.Title = "Redisson's multi-lock with a lease, which it sets on keys without a look at whose they are"
	a.Source = "Redisson, RedissonMultiLock.tryLock with a leaseTime"
	a.Status = Mistake
	a.New = func(o Options) Builder { return newRedissonMulti(o, true) }
	a.Scripts = []Script{enterScript(), leaveScript()}
	a.HeedsRenew, a.Keeps = false, false
	return a
}
