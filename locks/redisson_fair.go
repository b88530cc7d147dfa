package locks

import "time"

// redissonFair is Redisson's fair lock: reentrant, with a list of those who wait, and for each of them until when it may stay in the
// list. Only the first of the list may take a free lock. Each request first removes those from the head of the list whose time is over by
// the clock of the client that sends it; who keeps waiting for longer joins again, at the end. A release wakes the first alone, on a
// channel of its own.
//
// It promises what reentrant does, and that tasks are served in the order in which they came, as long as they keep their places. One that
// dies in the list keeps its place, too: nobody gets the lock, though it is free, until fairLockWaitTimeout has passed for each dead
// one. Those who wait behind it ask again and again meanwhile, without a pause, since the life of a lock that is not there is 0. A
// clock that is ahead empties the list of all others, and one that is behind never keeps its place. The list and its times have no
// expiry.
//
// Times in the list are by clients' wall clocks. fairLockWaitTimeout is ten leases, as by default (five minutes, and thirty seconds);
// who gives up after a time of its own has that instead.
func redissonFair() Algorithm {
	return Algorithm{
		Name:       "redisson-fair",
		Title:      "Redisson's fair lock: reentrant, with a list of those who wait, by the clients' clocks",
		Source:     "Redisson, RedissonFairLock.java",
		Status:     Mistake, // who dies while it waits blocks the others
		New:        newRedissonFair,
		Authority:  OneNode,
		Scripts:    []Script{tryFairScript(), enterFairScript(), leaveFairScript(), withdrawScript(), renewOwnScript()},
		Identity:   "owner",
		HeedsRenew: true,
		Lease:      true,
		Keeps:      true,
		Places:     fairPlaces,
	}
}

// fairPlaces is fairLockWaitTimeout in leases.
const fairPlaces = 10

// The keys are the lock's, the list, and the times of those in the list; the arguments the own name, the time by the own clock, how
// long to stay in the list, and the life of a lease.
const (
	// prune removes from the head of the list those whose time is over.
	prune = `while true do
  local first = redis.call("lindex", KEYS[2], 0)
  if first == false then
    break
  end
  local timeout = redis.call("zscore", KEYS[3], first)
  if timeout ~= false and tonumber(timeout) <= tonumber(ARGV[2]) then
    redis.call("zrem", KEYS[3], first)
    redis.call("lpop", KEYS[2])
  else
    break
  end
end
`

	// enterInTurn enters a free lock if nobody waits, or as the first of those who do, whose times are then earlier by one stay.
	enterInTurn = prune + `if redis.call("exists", KEYS[1]) == 0 and
  (redis.call("exists", KEYS[2]) == 0 or redis.call("lindex", KEYS[2], 0) == ARGV[1]) then
  redis.call("lpop", KEYS[2])
  redis.call("zrem", KEYS[3], ARGV[1])
  local waiting = redis.call("zrange", KEYS[3], 0, -1)
  for i = 1, #waiting, 1 do
    redis.call("zincrby", KEYS[3], -tonumber(ARGV[3]), waiting[i])
  end
  redis.call("hset", KEYS[1], ARGV[1], 1)
  redis.call("pexpire", KEYS[1], ARGV[4])
  return nil
end
if redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
  redis.call("hincrby", KEYS[1], ARGV[1], 1)
  redis.call("pexpire", KEYS[1], ARGV[4])
  return nil
end
`

	// tryFair enters, or does not join the list.
	tryFair = enterInTurn + `return 1`

	// enterFair enters, or joins the end of the list, and says how many milliseconds to wait.
	enterFair = enterInTurn + `if redis.call("zscore", KEYS[3], ARGV[1]) ~= false then
  return math.max(0, redis.call("pttl", KEYS[1]))
end
local last = redis.call("lindex", KEYS[2], -1)
local ttl
if last ~= false and last ~= ARGV[1] and redis.call("zscore", KEYS[3], last) ~= false then
  ttl = tonumber(redis.call("zscore", KEYS[3], last)) - tonumber(ARGV[2])
else
  ttl = redis.call("pttl", KEYS[1])
end
local timeout = ttl + tonumber(ARGV[3]) + tonumber(ARGV[2])
if redis.call("zadd", KEYS[3], timeout, ARGV[1]) == 1 then
  redis.call("rpush", KEYS[2], ARGV[1])
end
return ttl`

	// leaveFair decrements the owner's count. After its last hold, and if there is no lock, it wakes the first of the list on its channel.
	leaveFair = prune + `if redis.call("exists", KEYS[1]) == 0 then
  local first = redis.call("lindex", KEYS[2], 0)
  if first ~= false then
    redis.call("publish", KEYS[4] .. ":" .. first, "released")
  end
  return 1
end
if redis.call("hexists", KEYS[1], ARGV[1]) == 0 then
  return nil
end
if redis.call("hincrby", KEYS[1], ARGV[1], -1) > 0 then
  redis.call("pexpire", KEYS[1], ARGV[4])
  return 0
end
redis.call("del", KEYS[1])
local first = redis.call("lindex", KEYS[2], 0)
if first ~= false then
  redis.call("publish", KEYS[4] .. ":" .. first, "released")
end
return 1`

	// withdraw leaves the list. The times of those behind are earlier by one stay.
	withdraw = `local list = redis.call("lrange", KEYS[2], 0, -1)
local i = 1
while i <= #list and list[i] ~= ARGV[1] do
  i = i + 1
end
i = i + 1
while i <= #list do
  redis.call("zincrby", KEYS[3], -tonumber(ARGV[3]), list[i])
  i = i + 1
end
redis.call("zrem", KEYS[3], ARGV[1])
redis.call("lrem", KEYS[2], 0, ARGV[1])`
)

func tryFairScript() Script   { return Script{Name: "acquire", Body: tryFair} }
func enterFairScript() Script { return Script{Name: "acquire", Body: enterFair} }
func leaveFairScript() Script { return Script{Name: "release", Body: leaveFair} }
func withdrawScript() Script  { return Script{Name: "withdraw", Body: withdraw} }

type redissonFairLock struct {
	*reentrantLock
	keys []string
}

func newRedissonFair(o Options) Builder {
	return func(p Process) (Lock, error) {
		r := onRedisson(p, o)
		key := r.options.Key
		l := redissonFairLock{r, []string{key, "redisson_lock_queue:{" + key + "}", "redisson_lock_timeout:{" + key + "}", r.channel}}
		l.channel += ":" + p.Owner()
		l.ask, l.giveUp = l.enterFair, l.withdraw
		l.leave = func(owner string) (Reply, error) { return l.run(leaveFairScript(), owner, 0) }
		return l, nil
	}
}

// enterFair asks once: who does not wait does not join the list.
func (l redissonFairLock) enterFair(wait time.Duration) (entry, error) {
	script := enterFairScript()
	if wait == Try {
		script = tryFairScript()
	}
	return tell(l.run(script, l.p.Owner(), wait))
}

// withdraw leaves the list after a wait in vain (acquireFailedAsync).
func (l redissonFairLock) withdraw(wait time.Duration) {
	_, _ = l.run(withdrawScript(), l.p.Owner(), wait)
}

func (l redissonFairLock) run(script Script, owner string, wait time.Duration) (Reply, error) {
	stay := wait
	if wait == Try || wait == Forever {
		stay = fairPlaces * l.options.TTL
	}
	now := itoa(int(time.Duration(l.p.Wall()).Milliseconds()))
	return l.eval(script, l.keys, owner, now, millis(stay), millis(l.options.TTL))
}
