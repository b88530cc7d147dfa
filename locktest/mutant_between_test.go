package locktest_test

import (
	"time"

	"github.com/locksim/locksim/locks"
)

// permitLock passes on a permit, as a semaphore does, beside the holder's key. The client that takes the permit makes the key. A
// client that finds neither key nor permit assumes that the holder died with the permit, and replaces it.
type permitLock struct {
	permitPlant
	p    locks.Process
	stop locks.Signal
}

// permitPlant says which mistakes such a lock has.
type permitPlant struct {
	renews  bool // a watchdog renews the key …
	revives bool // … and makes it if there is none, though another client may have taken and returned the permit since
}

func (m permitPlant) build(p locks.Process) (locks.Lock, error) {
	return &permitLock{permitPlant: m, p: p}, nil
}

const (
	takePermit = `local free = tonumber(redis.call("get", KEYS[2]) or "0")
if redis.call("exists", KEYS[1]) == 0 and free < 1 then free = 1 end
if free < 1 then return 0 end
redis.call("set", KEYS[2], free - 1)
redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1`
	returnOwn = `if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("incr", KEYS[2])
return redis.call("del", KEYS[1])`
	reviveOwn = `local owner = redis.call("get", KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1`
)

func (l *permitLock) eval(body string, args ...string) (locks.Reply, error) {
	return locks.Eval(l.p.Redis(0), 0, locks.Script{Body: body}, []string{"lock", "lock:free"}, args...)
}

func (l *permitLock) Acquire(wait time.Duration) (locks.Lease, error) {
	for start := l.p.Monotonic(); ; l.p.Sleep(200 * time.Millisecond) {
		value := l.p.RandomValue()
		reply, err := l.eval(takePermit, value, "10000")
		switch {
		case err == nil && reply.Int == 1:
			return l.kept(value), nil
		case wait == locks.Forever || l.p.Monotonic().Sub(start) < wait:
		case err != nil:
			return locks.Lease{}, err
		default:
			return locks.Lease{}, locks.ErrNotAcquired
		}
	}
}

// kept is the lease of a value, which is renewed if the lock does so.
func (l *permitLock) kept(value string) locks.Lease {
	if !l.renews {
		return locks.Lease{Value: value}
	}
	body := renewOwn
	if l.revives {
		body = reviveOwn
	}
	stop, lost := l.p.NewSignal(), l.p.NewSignal()
	l.stop = stop
	l.p.Go(func(p locks.Process) {
		for own := true; own && p.Wait(3*time.Second, stop) < 0; {
			reply, err := locks.Eval(p.Redis(0), fiveHundred, locks.Script{Body: body}, []string{"lock"}, value, "10000")
			own = err != nil || reply.Int == 1
		}
		lost.Fire()
	})
	return locks.Lease{Value: value, Lost: lost}
}

func (l *permitLock) Release(lease locks.Lease) error {
	if l.renews {
		l.stop.Fire()
	}
	reply, err := l.eval(returnOwn, lease.Value)
	if err == nil && reply.Int == 0 {
		return locks.ErrNotHeld
	}
	return err
}
