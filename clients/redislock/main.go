// Command redislock brings bsm/redislock, on go-redis, into a simulation. Both have their defaults, but for what the scenario
// says; who waits asks again every 100 ms, since redislock by itself asks once.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

func open(c guest.Config) (guest.Mutex, error) {
	locker := redislock.New(redis.NewClient(&redis.Options{
		Addr: c.Servers[0], Dialer: guest.Dial, ReadTimeout: c.Timeout,
	}))
	var held *redislock.Lock
	take := func(again redislock.RetryStrategy) func(context.Context) (guest.Lease, error) {
		return func(ctx context.Context) (guest.Lease, error) {
			lock, err := locker.Obtain(ctx, c.Key, c.TTL, &redislock.Options{RetryStrategy: again})
			if err != nil {
				return guest.Lease{}, named(err)
			}
			held = lock
			return guest.Lease{Value: lock.Token()}, nil
		}
	}
	return guest.Mutex{
		Lock:    take(redislock.LinearBackoff(cmp.Or(c.Retry.Delay, 100*time.Millisecond))),
		TryLock: take(nil),
		Unlock:  func(ctx context.Context) error { return named(held.Release(ctx)) },
		Valid: func(ctx context.Context) error {
			left, err := held.TTL(ctx)
			if err == nil && left == 0 {
				return guest.ErrNotHeld
			}
			return err
		},
	}, nil
}

// named says in guest's words what an error means.
func named(err error) error {
	switch {
	case errors.Is(err, redislock.ErrNotObtained):
		return fmt.Errorf("%w: %w", guest.ErrNotAcquired, err)
	case errors.Is(err, redislock.ErrLockNotHeld):
		return fmt.Errorf("%w: %w", guest.ErrNotHeld, err)
	}
	return err
}
