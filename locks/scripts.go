package locks

// The scripts of these locks. Redis runs a script as one step with the time frozen, which makes a comparison
// and its consequence atomic.
const (
	// compareAndDelete is the release of the Redis documentation ("Distributed Locks with Redis").
	compareAndDelete = `if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
else
  return 0
end`

	// compareAndExpire renews a lease: the same with PEXPIRE, as redsync and Redisson do.
	compareAndExpire = `if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("pexpire", KEYS[1], ARGV[2])
else
  return 0
end`

	// setWithToken acquires and draws the fencing token in one step, so that tokens grow in the order of the grants.
	setWithToken = `if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
  return redis.call("incr", KEYS[2])
else
  return false
end`
)

func releaseScript() Script { return Script{Name: "release", Body: compareAndDelete} }

func renewScript() Script { return Script{Name: "renew", Body: compareAndExpire} }

func acquireScript() Script { return Script{Name: "acquire", Body: setWithToken} }
