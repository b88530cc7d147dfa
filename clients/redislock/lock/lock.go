// Package lock adapts redislock's lock to a simulation, with the library's token or with one that the application chooses.
package lock

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

// Open returns the lock that is obtained with these options. Both libraries have their defaults, except for the
// scenario's settings; a waiting client tries again every 100 ms, since redislock by itself tries once.
func Open(c guest.Config, client RedisClient, options redislock.Options) guest.Mutex {
	locker := redislock.New(client)
	var held *redislock.Lock
	take := func(again func() redislock.RetryStrategy) func(context.Context) (guest.Lease, error) {
		return func(ctx context.Context) (guest.Lease, error) {
			options.RetryStrategy = again()
			lock, err := locker.Obtain(ctx, c.Key, c.TTL, &options)
			if err != nil {
				return guest.Lease{}, named(err)
			}
			held = lock
			return guest.Lease{Value: lock.Token()}, nil
		}
	}
	return guest.Mutex{
		Lock: take(func() redislock.RetryStrategy { return patience(c) }), TryLock: take(redislock.NoRetry),
		Unlock: func(ctx context.Context) error { return named(held.Release(ctx)) },
		Extend: func(ctx context.Context) (until time.Time, err error) {
			if err = held.Refresh(ctx, c.TTL, nil); errors.Is(err, redislock.ErrNotObtained) {
				err = fmt.Errorf("%w: %w", guest.ErrNotHeld, err)
			}
			return until, err
		},
		Valid: func(ctx context.Context) error {
			left, err := held.TTL(ctx)
			if err == nil && left == 0 {
				return guest.ErrNotHeld
			}
			return err
		},
	}
}

// RedisClient is go-redis's client of a deployment.
type RedisClient = redis.UniversalClient

// Client is that for the deployment.
func Client(c guest.Config) (RedisClient, error) {
	switch {
	case c.Sentinel != "":
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: c.Sentinel, SentinelAddrs: c.Servers, Dialer: guest.Dial, ReadTimeout: c.Timeout,
		}), nil
	case c.Cluster:
		return redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Servers, Dialer: guest.Dial, ReadTimeout: c.Timeout}), nil
	default:
		return redis.NewClient(&redis.Options{Addr: c.Servers[0], Dialer: guest.Dial, ReadTimeout: c.Timeout}), nil
	}
}

// Connect has the client open a connection, which its pool keeps.
func Connect(ctx context.Context, client RedisClient) error { return client.Ping(ctx).Err() }

// patience is how one call of Obtain asks again. A strategy that counts is spent after one call (see FINDINGS.md).
func patience(c guest.Config) redislock.RetryStrategy {
	steady := redislock.LinearBackoff(cmp.Or(c.Retry.Delay, 100*time.Millisecond))
	if c.Retry.Tries == 0 {
		return steady
	}
	return redislock.LimitRetry(steady, c.Retry.Tries-1)
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
