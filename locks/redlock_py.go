package locks

import (
	"errors"
	"fmt"
	"time"
)

// redlockPy follows the Python library redlock-py (class Redlock of SPSCommerce/redlock-py 1.0.8), which widely read
// explanations of Redlock print, in what it does and in what it gets wrong. It shares no code with redlock: the two are
// to be compared.
//
// It promises what Redlock does, except that:
//   - it measures with time.time(), the wall clock: a step back while acquiring makes the lease last too long;
//   - it draws one value for all tries of a call, so that a late release of one try removes the keys of the next;
//   - it waits the same 0.2 s after every failed try, also after the last of its three;
//   - it has no socket time-out by default, so that one silent server blocks it;
//   - it raises if any server erred although the majority was won, and leaves the keys behind;
//   - its unlock swallows every error and reports nothing.
//
// The library knows no waiting: one call makes three tries, and so does Acquire(Forever) here unless Retry.Tries says
// otherwise; who wants the lock for certain calls again. A shorter wait cuts the tries and their delays.
func redlockPy() Algorithm {
	return Algorithm{
		Name:      "redlock-py",
		Title:     "the Python library: wall clock, one value for all tries, fixed delay, no time-out",
		Source:    "redlock-py 1.0.8",
		Status:    Superseded,
		New:       newRedlockPy,
		Authority: Majority,
		Scripts:   []Script{releaseScript()},
		Deadline:  OnWall,
		Identity:  "value",
		Lease:     true,
	}
}

// redlockPyTries is the library's default_retry_count.
const redlockPyTries = 3

type redlockPyLock struct {
	p       Process
	options Options
}

func newRedlockPy(o Options) Builder {
	o = o.withDefaults()
	if o.Retry.Tries == 0 {
		o.Retry.Tries = redlockPyTries // retry_count or self.default_retry_count
	}
	return func(p Process) (Lock, error) { return &redlockPyLock{p, o}, nil }
}

// Acquire is the library's lock method.
func (l *redlockPyLock) Acquire(wait time.Duration) (Lease, error) {
	value := l.p.RandomValue() // one for all tries
	asked := l.p.Monotonic()
	for range l.options.Retry.Tries {
		lease, err := l.try(value)
		if !errors.Is(err, ErrNotAcquired) {
			return lease, err
		}
		left := wait - l.p.Monotonic().Sub(asked)
		if left <= 0 {
			break
		}
		l.p.Sleep(min(l.options.Retry.delay(l.p), left)) // also after the last try
	}
	return Lease{}, ErrNotAcquired
}

// try is the body of the library's loop.
func (l *redlockPyLock) try(value string) (Lease, error) {
	ttl := l.options.TTL
	drift := milliseconds(ttl/100) + 2*time.Millisecond
	votes := 0
	var failures serverErrors

	start := wallMilliseconds(l.p)
	for i := range l.p.RedisNodes() {
		ok, err := l.lockInstance(i, value)
		if err != nil {
			failures = append(failures, fmt.Errorf("redis server %d: %w", i, err))
		}
		if ok {
			votes++
		}
	}
	now := wallMilliseconds(l.p)

	validity := ttl - now.Sub(start) - drift
	if validity > 0 && votes >= l.p.RedisNodes()/2+1 {
		if len(failures) > 0 {
			// MultipleRedlockException: the caller has no lock, and the keys stay.
			return Lease{}, fmt.Errorf("won %d votes: %w", votes, failures)
		}
		return Lease{Value: value, Deadline: WallDeadline(now.Add(validity))}, nil
	}
	l.unlock(value)
	return Lease{}, ErrNotAcquired // the failures are forgotten
}

// Release is the library's unlock method, which never fails.
func (l *redlockPyLock) Release(lease Lease) error {
	l.unlock(lease.Value)
	return nil
}

func (l *redlockPyLock) lockInstance(i int, value string) (bool, error) {
	reply, err := l.p.Redis(i).Do(l.options.Timeout, "SET", l.options.Key, value, "NX", "PX", millis(l.options.TTL))
	return reply.OK(), err
}

func (l *redlockPyLock) unlock(value string) {
	for i := range l.p.RedisNodes() {
		_, _ = Eval(l.p.Redis(i), l.options.Timeout, releaseScript(), []string{l.options.Key}, value)
	}
}

// wallMilliseconds is int(time.time() * 1000).
func wallMilliseconds(p Process) Wall { return Wall(milliseconds(time.Duration(p.Wall()))) }

func milliseconds(d time.Duration) time.Duration { return d.Truncate(time.Millisecond) }
