package locktest_test

import (
	"time"

	"github.com/locksim/locksim/locks"
)

// insidePlant is a lock on one Redis server whose key does not say by being there who holds: that is written in its
// value, and read by scripts.
type insidePlant struct {
	enter, leave string // scripts; KEYS[1] is the lock, ARGV[1] who asks, ARGV[2] the milliseconds of a lease
}

// now is the server's time in milliseconds, and over removes from a sorted set those whose time has passed.
const (
	now  = `local t = redis.call("time") local now = t[1] * 1000 + math.floor(t[2] / 1000) `
	over = now + `redis.call("zremrangebyscore", KEYS[1], 0, now) `
)

// seat is a sorted set with room for one, whose score is until when it is held.
func seat() insidePlant {
	return insidePlant{
		enter: over + `if redis.call("zcard", KEYS[1]) > 0 then return 0 end
return redis.call("zadd", KEYS[1], now + ARGV[2], ARGV[1])`,
		leave: `return redis.call("zrem", KEYS[1], ARGV[1])`,
	}
}

// note is a value that says until when who holds.
func note() insidePlant {
	return insidePlant{
		enter: now + `local is = redis.call("get", KEYS[1])
if is and tonumber(string.match(is, "%d+")) > now then return 0 end
redis.call("set", KEYS[1], (now + ARGV[2]) .. " " .. ARGV[1])
return 1`,
		leave: `local is = redis.call("get", KEYS[1])
if is and string.match(is, " (.*)") == ARGV[1] then return redis.call("del", KEYS[1]) end
return 0`,
	}
}

// line is a list whose first entry holds. Each entry says until when it may be there, which is soon for one that waits,
// and later whenever it asks.
func line() insidePlant {
	return insidePlant{
		enter: now + `local function lives(e) return tonumber(string.match(e, "%d+")) > now end
local function is(e) return string.match(e, " (.*)") == ARGV[1] end
while true do
  local first = redis.call("lindex", KEYS[1], 0)
  if not first or lives(first) then break end
  redis.call("lpop", KEYS[1])
end
local place = -1
for i, e in ipairs(redis.call("lrange", KEYS[1], 0, -1)) do
  if is(e) then place = i - 1 end
end
if place < 0 then place = redis.call("rpush", KEYS[1], "0 " .. ARGV[1]) - 1 end
local stay = 1000
if place == 0 then stay = ARGV[2] end
redis.call("lset", KEYS[1], place, (now + stay) .. " " .. ARGV[1])
if place == 0 then return 1 end
return 0`,
		leave: `for _, e in ipairs(redis.call("lrange", KEYS[1], 0, -1)) do
  if string.match(e, " (.*)") == ARGV[1] then return redis.call("lrem", KEYS[1], 1, e) end
end
return 0`,
	}
}

// guests is a hash that counts beside its owner who has been refused.
func guests() insidePlant {
	return insidePlant{
		enter: `if redis.call("hexists", KEYS[1], "owner") == 1 then
  redis.call("hincrby", KEYS[1], "refused", 1)
  return 0
end
redis.call("hset", KEYS[1], "owner", ARGV[1])
return redis.call("pexpire", KEYS[1], ARGV[2])`,
		leave: `if redis.call("hget", KEYS[1], "owner") == ARGV[1] then return redis.call("del", KEYS[1]) end
return 0`,
	}
}

// heldForAtLeast is a key that its release leaves there until half of its lease is over, so that nobody has the lock again too soon.
func heldForAtLeast() insidePlant {
	return insidePlant{
		enter: `if redis.call("set", KEYS[1], ARGV[1], "nx", "px", ARGV[2]) then return 1 end return 0`,
		leave: `if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
local more = redis.call("pttl", KEYS[1]) - ARGV[2] / 2
if more > 0 then return redis.call("pexpire", KEYS[1], more) end
return redis.call("del", KEYS[1])`,
	}
}

// hashThatStays is a hash with the owner in a field, and a counter that outlives the release.
func hashThatStays() insidePlant {
	return insidePlant{
		enter: `if redis.call("hexists", KEYS[1], "owner") == 1 then return 0 end
redis.call("hset", KEYS[1], "owner", ARGV[1]) redis.call("hincrby", KEYS[1], "times", 1)
return redis.call("pexpire", KEYS[1], ARGV[2])`,
		leave: `if redis.call("hget", KEYS[1], "owner") == ARGV[1] then return redis.call("hdel", KEYS[1], "owner") end
return 0`,
	}
}

// untilASecond is a value that says until which second of the server's clock who holds.
func untilASecond() insidePlant {
	return insidePlant{
		enter: `local second, is = tonumber(redis.call("time")[1]), redis.call("get", KEYS[1])
if is and tonumber(string.match(is, "%d+")) > second then return 0 end
redis.call("set", KEYS[1], (second + ARGV[2] / 1000) .. " " .. ARGV[1])
return 1`,
		leave: `local is = redis.call("get", KEYS[1])
if is and string.match(is, " (.*)") == ARGV[1] then return redis.call("del", KEYS[1]) end
return 0`,
	}
}

// handed is a key whose holder, when it leaves, puts the name of the first that waits in its own one's place; so does who finds no key.
// That one has two seconds to see it.
func handed() insidePlant {
	const out = `redis.call("lrem", "line", 0, ARGV[1]) `
	return insidePlant{
		enter: `if not redis.call("lpos", "line", ARGV[1]) then redis.call("rpush", "line", ARGV[1]) end
redis.call("pexpire", "line", 60000)
if not redis.call("get", KEYS[1]) then ` + handOn + `end
if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
` + out + `return redis.call("pexpire", KEYS[1], ARGV[2])`,
		leave: out + `if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("del", KEYS[1]) ` + handOn + `return 1`,
	}
}

// handOn gives the lock to the first that waits.
const handOn = `local first = redis.call("lpop", "line") if first then redis.call("set", KEYS[1], first, "px", 2000) end `

// leaving is the lock with another release.
func (m insidePlant) leaving(script string) insidePlant {
	m.leave = script
	return m
}

type insideLock struct {
	insidePlant
	p locks.Process
}

func (m insidePlant) build(p locks.Process) (locks.Lock, error) { return &insideLock{m, p}, nil }

func (l *insideLock) Acquire(wait time.Duration) (locks.Lease, error) {
	me := l.p.RandomValue()
	lease, err := poll(l.p, wait, func() (locks.Lease, bool) {
		reply, err := l.eval("acquire", l.enter, me)
		return locks.Lease{Value: me}, err == nil && reply.Int == 1
	})
	if err != nil { // it may be in line
		_, _ = l.eval("release", l.leave, me)
	}
	return lease, err
}

func (l *insideLock) eval(name, body, who string) (locks.Reply, error) {
	script := locks.Script{Name: name, Body: body}
	return locks.Eval(l.p.Redis(0), time.Second, script, []string{"lock"}, who, "10000")
}

func (l *insideLock) Release(lease locks.Lease) error {
	reply, err := l.eval("release", l.leave, lease.Value)
	return heldIf(reply.Int == 1, err)
}

// neverLeaves is a queue beside the key. Who gives up stays in it.
func neverLeaves(p locks.Process) (locks.Lock, error) {
	enter := locks.Script{Body: now + `redis.call("zadd", "queue", "nx", now, ARGV[1])
if redis.call("zrange", "queue", 0, 0)[1] ~= ARGV[1] then return 0 end
if redis.call("set", KEYS[1], ARGV[1], "nx", "px", "10000") then return 1 end return 0`}
	leave := locks.Script{Body: `redis.call("zrem", "queue", ARGV[1])
if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		me := p.RandomValue()
		return poll(p, wait, func() (locks.Lease, bool) {
			r, err := locks.Eval(p.Redis(0), time.Second, enter, []string{"lock"}, me)
			return locks.Lease{Value: me}, err == nil && r.Int == 1
		})
	}, func(l locks.Lease) error {
		r, err := locks.Eval(p.Redis(0), time.Second, leave, []string{"lock"}, l.Value)
		return heldIf(r.Int == 1, err)
	}}, nil
}
