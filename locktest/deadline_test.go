package locktest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// stating is a lock that states a deadline of its own: so long after Lock was called.
type stating struct {
	locks.Lock
	p     locks.Process
	after time.Duration
}

func (s *stating) Acquire(wait time.Duration) (locks.Lease, error) {
	before := s.p.Monotonic()
	lease, err := s.Lock.Acquire(wait)
	lease.Deadline = locks.MonotonicDeadline(before.Add(s.after))
	return lease, err
}

// TestADeadlineAfterTheLeaseIsFoundOnAllServers: as on Redis, a holder relies on what it is told.
func TestADeadlineAfterTheLeaseIsFoundOnAllServers(t *testing.T) {
	for _, name := range []string{"set-nx-lua", "memcached-cas", "mysql-lease-row"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for after, right := range map[time.Duration]bool{5 * time.Second: true, 15 * time.Second: false} {
				l := of(name, locks.Options{TTL: 10 * time.Second})
				l.o.Only, l.o.Runs = []locktest.Promise{locktest.ExclusionUntilDeadline}, long.Pick(50, 100, 1000)
				found, err := locktest.Check(func(p locks.Process) (locks.Lock, error) {
					lock, err := l.build(p)
					return &stating{lock, p, after}, err
				}, l.o)
				require.NoError(t, err)
				require.Equal(t, right, found == nil, "a deadline after %v: %s", after, found)
				if !right {
					require.Contains(t, found.Blame, "a deadline that is later than the end of what it was granted")
				}
			}
		})
	}
}

// wallStating states its deadline by a clock that somebody may set.
type wallStating struct {
	locks.Lock
	p locks.Process
}

func (s *wallStating) Acquire(wait time.Duration) (locks.Lease, error) {
	lease, err := s.Lock.Acquire(wait)
	lease.Deadline = locks.WallDeadline(s.p.Wall().Add(5 * time.Second))
	return lease, err
}

// TestALockWithADeadlineIsNotComparedWithOneThatHasNone: holders of the reference lock can heed none.
func TestALockWithADeadlineIsNotComparedWithOneThatHasNone(t *testing.T) {
	l := of("mysql-lease-row", locks.Options{TTL: 10 * time.Second})
	found, err := locktest.Check(func(p locks.Process) (locks.Lock, error) {
		lock, err := l.build(p)
		return &wallStating{lock, p}, err
	}, locktest.Options{Only: []locktest.Promise{locktest.ExclusionUntilDeadline}})
	require.NoError(t, err)
	require.NotNil(t, found)
	require.Contains(t, found.Blame, "states no deadline that its holders could heed")
}

// TestADeadlineAllowsForTheUnitsOfAServer: memcached ends an item up to a second early, as it always does.
func TestADeadlineAllowsForTheUnitsOfAServer(t *testing.T) {
	l := of("memcached-cas", locks.Options{TTL: 10 * time.Second})
	found, err := locktest.Check(func(p locks.Process) (locks.Lock, error) {
		lock, err := l.build(p)
		return &stating{lock, p, 9800 * time.Millisecond}, err
	}, locktest.Options{Only: []locktest.Promise{locktest.ExclusionUntilDeadline}})
	require.NoError(t, err)
	require.NotNil(t, found)
	require.Contains(t, found.Blame, "this lock: it states a deadline that does not allow for the units")
}

// hash is a lock in a hash that stays: who has it, and until when by the server's time. Nothing but an attempt shows that its lease is
// over.
type hash struct{ p locks.Process }

const (
	takeHash = `local t = redis.call("time")
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if tonumber(redis.call("hget", KEYS[1], "until") or "0") > now then return 0 end
redis.call("hset", KEYS[1], "owner", ARGV[1], "until", now + 10000)
return 1`
	leaveHash = `if redis.call("hget", KEYS[1], "owner") ~= ARGV[1] then return 0 end
redis.call("hset", KEYS[1], "owner", "", "until", 0)
return 1`
)

func (h hash) Acquire(wait time.Duration) (locks.Lease, error) {
	return asking(h.p, wait, func() (locks.Lease, bool, error) {
		value, before := h.p.RandomValue(), h.p.Monotonic()
		r, err := locks.Eval(h.p.Redis(0), 0, locks.Script{Body: takeHash}, []string{"jobs"}, value)
		return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(before.Add(9800 * time.Millisecond))}, r.Int == 1, err
	})
}

func (h hash) Release(l locks.Lease) error {
	r, err := locks.Eval(h.p.Redis(0), 0, locks.Script{Body: leaveHash}, []string{"jobs"}, l.Value)
	return notHeld(r.Int == 1, err)
}

// ends is a lock whose key says until when it is held, by clients' wall clocks. Who finds that over puts another value in its place.
type ends struct {
	p        locks.Process
	outlasts bool // the key has an end of its own, a minute later
	outdated bool // the mistake: the clock is read before the wait
}

func (e ends) build(p locks.Process) (locks.Lock, error) {
	e.p = p
	return e, nil
}

const replaceEnd = `if (redis.call("get", KEYS[1]) or "") ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], ARGV[2])
if ARGV[3] ~= "" then redis.call("pexpire", KEYS[1], ARGV[3]) end
return 1`

const deleteEnd = `if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end return redis.call("del", KEYS[1])`

func (e ends) Acquire(wait time.Duration) (locks.Lease, error) {
	const lease, differ = 10 * time.Second, 300 * time.Millisecond
	life := ""
	if e.outlasts {
		life = "60000"
	}
	now := e.p.Wall()
	return asking(e.p, wait, func() (locks.Lease, bool, error) {
		r, err := e.p.Redis(0).Do(time.Second, "GET", "lock")
		if err != nil {
			return locks.Lease{}, false, err
		}
		end, _, _ := strings.Cut(r.Str, " ")
		if until, _ := strconv.ParseInt(end, 10, 64); e.p.Wall() < locks.Wall(until).Add(differ) {
			return locks.Lease{}, false, nil
		}
		until := e.p.Wall().Add(lease)
		own := locks.Lease{Deadline: locks.WallDeadline(until.Add(-differ))}
		if e.outdated {
			until = now.Add(lease)
		}
		own.Value = fmt.Sprint(int64(until), " ", e.p.RandomValue())
		r, err = locks.Eval(e.p.Redis(0), time.Second, locks.Script{Body: replaceEnd}, []string{"lock"}, r.Str, own.Value, life)
		return own, r.Int == 1, err
	})
}

func (e ends) Release(l locks.Lease) error {
	r, err := locks.Eval(e.p.Redis(0), time.Second, locks.Script{Body: deleteEnd}, []string{"lock"}, l.Value)
	return notHeld(r.Int == 1, err)
}

// freed is a lock on memcached whose item stays: a compare-and-swap to the value "free" releases it, also after a try without an answer.
type freed struct{ p locks.Process }

func (f freed) Acquire(wait time.Duration) (locks.Lease, error) {
	return asking(f.p, wait, func() (lease locks.Lease, took bool, err error) {
		lease.Value = f.p.RandomValue()
		item, there, err := f.p.Memcached().Gets(time.Second, "jobs")
		switch {
		case err != nil:
		case !there:
			took, err = f.p.Memcached().Add(time.Second, "jobs", lease.Value, 10)
		case item.Value == "free":
			took, err = f.p.Memcached().CompareAndSwap(time.Second, item, lease.Value, 10)
		}
		if err != nil {
			_ = f.Release(lease)
		}
		return lease, took, err
	})
}

func (f freed) Release(l locks.Lease) error {
	item, there, err := f.p.Memcached().Gets(time.Second, "jobs")
	if err != nil || !there || item.Value != l.Value {
		return notHeld(false, err)
	}
	ours, err := f.p.Memcached().CompareAndSwap(time.Second, item, "free", 0)
	return notHeld(ours, err)
}

// marked is the same on Redis, with scripts.
type marked struct{ p locks.Process }

const (
	takeMarked = `local v = redis.call("get", KEYS[1])
if v and v ~= "free" then return 0 end
redis.call("set", KEYS[1], ARGV[1], "PX", 10000)
return 1`
	markFree = `if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], "free")
return 1`
)

func (m marked) Acquire(wait time.Duration) (locks.Lease, error) {
	return asking(m.p, wait, func() (locks.Lease, bool, error) {
		lease := locks.Lease{Value: m.p.RandomValue()}
		r, err := locks.Eval(m.p.Redis(0), time.Second, locks.Script{Body: takeMarked}, []string{"jobs"}, lease.Value)
		if err != nil {
			_ = m.Release(lease)
		}
		return lease, r.Int == 1, err
	})
}

func (m marked) Release(l locks.Lease) error {
	r, err := locks.Eval(m.p.Redis(0), time.Second, locks.Script{Body: markFree}, []string{"jobs"}, l.Value)
	return notHeld(r.Int == 1, err)
}

// asking tries again each tenth of a second.
func asking(p locks.Process, wait time.Duration, try func() (locks.Lease, bool, error)) (locks.Lease, error) {
	for began := p.Monotonic(); ; p.Sleep(100 * time.Millisecond) {
		lease, took, err := try()
		if took || err != nil {
			return lease, err
		}
		if p.Monotonic().Sub(began) >= wait {
			return locks.Lease{}, locks.ErrNotAcquired
		}
	}
}

// deleteIfOwn deletes the key if it has a value.
func deleteIfOwn(p locks.Process, value string) error {
	r, err := locks.Eval(p.Redis(0), time.Second, locks.Script{Body: deleteOwn}, []string{"lock"}, value)
	return notHeld(r.Int == 1, err)
}

func notHeld(ours bool, err error) error {
	if err == nil && !ours {
		return locks.ErrNotHeld
	}
	return err
}

// TestALeaseThatNoKeyShowsIsMeasured: the pause between two attempts is no part of it, nor of what its deadline leaves for clocks.
func TestALeaseThatNoKeyShowsIsMeasured(t *testing.T) {
	found, err := locktest.Check(func(p locks.Process) (locks.Lock, error) { return hash{p}, nil },
		locktest.Options{Only: []locktest.Promise{locktest.ExclusionUntilDeadline}, Runs: long.Pick(300, 300, 3000)})
	require.NoError(t, err)
	require.Nil(t, found, "%s", found)
}
