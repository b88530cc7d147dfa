package locks

import "time"

// redissonFenced is Redisson's fenced lock: the script that enters the lock increments a counter beside it, which is the fencing token.
// Everything else is as in reentrant, the watchdog too: lockAndGetToken ignores a life that it is given.
//
// It promises what reentrant does, and tokens that grow in the order of the grants for as long as the server keeps the counter, which has
// no expiry. An entry of a task that is inside already draws another token: the one that it had before is stale as soon as the
// resource has seen the new one. A server that takes over without the last increments hands tokens out again. Who asks for the token in
// a request of its own is redissonFencedGetToken.
func redissonFenced() Algorithm {
	return Algorithm{
		Name:       "redisson-fenced",
		Title:      "Redisson's fenced lock: reentrant, with a token from INCR in the script that enters",
		Source:     "Redisson, RedissonFencedLock.tryLockAndGetTokenAsync",
		New:        newRedissonFenced,
		Authority:  OneNode,
		Scripts:    []Script{enterFencedScript(), leaveScript(), renewOwnScript()},
		Token:      true,
		Identity:   "owner",
		HeedsRenew: true,
		Lease:      true,
		Keeps:      true,
	}
}

// enterFenced counts the owner in and answers with a token, or says how many milliseconds the lock has to live.
const enterFenced = `if redis.call("exists", KEYS[1]) == 0 or redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
  local token = redis.call("incr", KEYS[2])
  redis.call("hincrby", KEYS[1], ARGV[1], 1)
  redis.call("pexpire", KEYS[1], ARGV[2])
  return {-1, token}
end
return {redis.call("pttl", KEYS[1]), -1}`

func enterFencedScript() Script { return Script{Name: "acquire", Body: enterFenced} }

type redissonFencedLock struct{ *reentrantLock }

func newRedissonFenced(o Options) Builder {
	return func(p Process) (Lock, error) {
		l := redissonFencedLock{onRedisson(p, o)}
		l.ask = l.enterFenced
		return l, nil
	}
}

// counter is the key of the tokens.
func (l redissonFencedLock) counter() string { return "redisson_lock_token:{" + l.options.Key + "}" }

// enterFenced asks once. Redisson takes a life of -1 for the lock: a hash without expiry, which these scripts never leave behind,
// would be anybody's.
func (l redissonFencedLock) enterFenced(time.Duration) (entry, error) {
	reply, err := l.eval(enterFencedScript(), []string{l.options.Key, l.counter()}, l.p.Owner(), millis(l.options.TTL))
	if err != nil {
		return entry{}, err
	}
	if life := reply.Array[0]; life.Int != -1 {
		return tell(life, nil)
	}
	return entry{token: uint64(reply.Array[1].Int)}, nil
}
