// Package lock adapts redsync's lock to a simulation, on any Redis client.
package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"

	"github.com/locksim/locksim/guest"
)

// Open returns the lock on servers that each have a pool of connections. It has redsync's defaults, except for
// the settings of the scenario.
func Open(c guest.Config, pools []redis.Pool) guest.Mutex {
	tries := cmp.Or(c.Retry.Tries, 32) // redsync's default
	options := []redsync.Option{redsync.WithExpiry(c.TTL), redsync.WithTries(tries)}
	if c.Retry.Delay > 0 {
		options = append(options, redsync.WithRetryDelay(c.Retry.Delay))
	}
	m := redsync.New(pools...).NewMutex(c.Key, options...)
	take := func(lock func(context.Context) error) func(context.Context) (guest.Lease, error) {
		return func(ctx context.Context) (guest.Lease, error) {
			if err := lock(ctx); err != nil {
				return guest.Lease{}, named(err, guest.ErrNotAcquired)
			}
			return guest.Lease{Value: m.Value(), Until: m.Until()}, nil
		}
	}
	return guest.Mutex{
		Lock: take(m.LockContext), TryLock: take(m.TryLockContext),
		Unlock: func(ctx context.Context) error {
			if released, err := m.UnlockContext(ctx); !released {
				return named(err, guest.ErrNotHeld)
			}
			return nil
		},
		Extend: func(ctx context.Context) (until time.Time, err error) {
			if extended, err := m.ExtendContext(ctx); !extended {
				return until, named(err, guest.ErrNotHeld)
			}
			return m.Until(), nil
		},
	}
}

// silent is redsync's error of a server that did not answer.
type silent = *redsync.RedisError

// named tells a lock that is somebody else's, or nobody's, from servers that did not answer. What an error says of a lock is
// certain only if all servers have spoken.
func named(err, refusal error) error {
	var server silent
	switch {
	case err == nil:
		return refusal
	case errors.As(err, &server):
		return err
	}
	return fmt.Errorf("%w: %w", refusal, err)
}
