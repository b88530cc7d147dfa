package guest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/locks"
)

// lock is a library's lock as the workload uses it.
type lock struct {
	mutex  Mutex
	config Config
	clock  locks.Clock
	late   time.Duration // how much later than it should the application prolongs the lease
	rest   func()        // ends the prolonging of the lease; nil if it is not prolonged
}

// verifier is one that can be asked whether it is still held.
type verifier struct{ lock }

// build makes the registered lock.
func build(c Config, late time.Duration, clock locks.Clock) (locks.Lock, error) {
	mutex, err := registered(c)
	if err != nil {
		return nil, err
	}
	l := lock{mutex: mutex, config: c, late: late, clock: clock}
	if mutex.Valid == nil {
		return &l, nil
	}
	return &verifier{l}, nil
}

// Acquire requests the lock.
func (l *lock) Acquire(wait time.Duration) (locks.Lease, error) {
	ctx, ask := context.Background(), l.mutex.Lock
	switch {
	case wait == locks.Try && l.mutex.TryLock != nil:
		ask = l.mutex.TryLock
	case wait != locks.Try && wait != locks.Forever:
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		ctx = limited
	}
	lease, err := ask(ctx)
	if err != nil {
		return locks.Lease{}, orUnknown(err, locks.ErrNotAcquired)
	}
	if l.config.Renew > 0 && l.mutex.Extend != nil {
		l.rest = l.keep(&lease, time.Now())
	}
	return l.leaseOf(&lease), nil
}

// Release releases the lock.
func (l *lock) Release(locks.Lease) error {
	if l.rest != nil {
		l.rest()
		l.rest = nil
	}
	return orUnknown(l.mutex.Unlock(context.Background()), locks.ErrNotHeld)
}

// Verify asks the servers whether the lock is still held.
func (v *verifier) Verify(locks.Lease) error {
	return orUnknown(v.mutex.Valid(context.Background()), locks.ErrNotHeld)
}

// orUnknown says of an error that is not known to mean that nothing was done that it may have been.
func orUnknown(err, failed error) error {
	if err == nil || errors.Is(err, failed) {
		return err
	}
	return fmt.Errorf("%w: %w", locks.ErrUnknown, err)
}

func (l *lock) leaseOf(lease *Lease) locks.Lease {
	out := locks.Lease{Value: lease.Value, Token: lease.Token, Deadline: l.deadline(lease.Until)}
	if lease.Lost != nil {
		out.Lost = &signal{lease.Lost}
	}
	if lease.Suspended != nil {
		out.Suspended = &signal{lease.Suspended}
	}
	return out
}

// deadline puts a moment onto the clock that it was read from: time.Time keeps a monotonic reading until that is
// stripped.
func (l *lock) deadline(until time.Time) locks.Deadline {
	switch {
	case until.IsZero():
		return locks.Deadline{}
	case until == until.Round(0): //nolint:staticcheck // Equal would not see the reading that Round takes away
		return locks.WallDeadline(locks.Wall(until.UnixNano()))
	default:
		return locks.MonotonicDeadline(l.clock.Monotonic().Add(time.Until(until)))
	}
}
