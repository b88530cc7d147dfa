package locks

import (
	"errors"
	"fmt"
	"time"
)

// redissonMulti is Redisson's multi-lock over two locks of Redisson's (reentrant) on one server: it takes one after the other, and if it
// does not get one in time it gives back those that it has and begins again with the first. Each lock has a watchdog of its own. Waits are
// measured by the monotonic clock, where Redisson takes the wall clock.
//
// It promises what its locks do, and that nobody else has any of them meanwhile. It releases them one after the other, and stops at the
// first that it does not hold: what comes behind stays taken, and its watchdog renews it for as long as the process lives. So the loss
// of one lock, to a pause or an eviction, blocks the others for good. With a life given for the locks it is redissonMultiLease.
func redissonMulti() Algorithm {
	return Algorithm{
		Name:       "redisson-multi",
		Title:      "Redisson's multi-lock: two locks with a watchdog each, taken one after the other",
		Source:     "Redisson, RedissonMultiLock.tryLock and unlock",
		Status:     Mistake, // a release may leave a lock behind that is renewed
		New:        func(o Options) Builder { return newRedissonMulti(o, false) },
		Authority:  MostKeys,
		Keys:       redissonMultiKeys,
		Scripts:    []Script{enterScript(), leaveScript(), renewOwnScript()},
		Identity:   "owner",
		HeedsRenew: true,
		Lease:      true,
		Keeps:      true,
	}
}

// redissonMultiKeys are the keys of the two locks, more than half of which are both.
func redissonMultiKeys(o Options) []string {
	key := o.withDefaults().Key
	return []string{key + ":1", key + ":2"}
}

type redissonMultiLock struct {
	p       Process
	options Options
	locks   []*reentrantLock
	leased  bool
}

func newRedissonMulti(o Options, leased bool) Builder {
	return func(p Process) (Lock, error) {
		l := &redissonMultiLock{p: p, options: o.withDefaults(), leased: leased}
		for _, key := range redissonMultiKeys(o) {
			own := o
			own.Key = key
			one := onRedisson(p, own)
			one.leased = leased
			l.locks = append(l.locks, one)
		}
		return l, nil
	}
}

// Acquire is tryLock; who waits forever calls it again and again, as lock does, with waits that are as long as is usual for so many
// locks, or drawn by the life that is given for them.
func (l *redissonMultiLock) Acquire(wait time.Duration) (Lease, error) {
	if wait != Forever {
		return l.tryLock(wait)
	}
	usual := time.Duration(len(l.locks)) * 1500 * time.Millisecond
	for {
		wait := usual
		if life := l.options.TTL; l.leased && life <= usual {
			wait = life/2 + time.Duration(l.p.Uniform(int64(life-life/2)))
		} else if l.leased {
			wait = usual + time.Duration(l.p.Uniform(int64(life-usual)))
		}
		if lease, err := l.tryLock(max(wait, 1)); !errors.Is(err, ErrNotAcquired) {
			return lease, err
		}
	}
}

// tryLock takes one lock after the other.
func (l *redissonMultiLock) tryLock(wait time.Duration) (Lease, error) {
	w := patienceOf(l.p, wait)
	life := l.options.TTL
	if wait != Try {
		life = 2 * wait // newLeaseTime
	}
	for i := 0; i < len(l.locks); i++ {
		one, left := l.locks[i], Try
		if wait != Try {
			left = w.left()
		}
		if l.leased {
			one.options.TTL = life
		}
		_, err := one.Acquire(left)
		if errors.Is(err, ErrUnknown) {
			l.unlock(l.locks[i : i+1])
		}
		if err != nil {
			l.unlock(l.locks[:i])
			if w.over() {
				return Lease{}, ErrNotAcquired
			}
			i = -1
			continue
		}
		if wait != Try && w.over() {
			l.unlock(l.locks[:i+1])
			return Lease{}, ErrNotAcquired
		}
	}
	return Lease{Value: l.p.Owner()}, l.expire()
}

// expire gives all locks the life that was asked for, now that there are all of them. Nobody looks whether they are still there, or
// whose they are.
func (l *redissonMultiLock) expire() error {
	if !l.leased {
		return nil
	}
	for _, one := range l.locks {
		if _, err := one.do("PEXPIRE", millis(l.options.TTL)); err != nil {
			return fmt.Errorf("multi-lock: %w", err)
		}
	}
	return nil
}

// unlock gives locks back, as far as they can be (unlockInner).
func (l *redissonMultiLock) unlock(locks []*reentrantLock) {
	for _, one := range locks {
		_ = one.Release(Lease{Value: l.p.Owner()})
	}
}

// Release leaves one lock after the other, until one fails.
func (l *redissonMultiLock) Release(lease Lease) error {
	for _, one := range l.locks {
		if err := one.Release(lease); err != nil {
			return err
		}
	}
	return nil
}
