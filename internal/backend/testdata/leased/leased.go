// Package leased is an example of a backend: one server that keeps one lease a name, in memory, each with a number that
// grows. It shows all that a backend has to bring along; a test builds it into locksim by a line in each of the two lists.
package leased

import (
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
)

// Kind is a leased server.
var Kind backend.Kind = &kind{backend.One{Is: backend.Facts{
	Name: "leased", Title: "leased", Node: "leased", Entry: "lease", Doc: "One server.",
	Place: "one leased server", Token: "the number of the lease", Patience: 125, Monotonic: true,
	TTLs:    []time.Duration{10 * time.Second, time.Second},
	Refuses: []string{"too busy"},
}}}

type kind struct{ backend.One }

// Shape is that of one server, which keeps nothing on disk.
func (k *kind) Shape(s *backend.Servers) backend.Shape {
	d := k.One.Shape(s)
	d.Volatile = true
	return d
}

// Client is the port that locks have to the server.
type Client interface {
	// Take takes the lease of a name unless somebody has it, and returns its number; 0 if somebody has it.
	Take(timeout time.Duration, name string, ttl time.Duration) (number uint64, err error)
	// Drop gives a lease back; false if it is over.
	Drop(timeout time.Duration, name string, number uint64) (bool, error)
}

// Lock is the lock on it: a lease that is taken, and given back by its number.
func Lock() locks.Algorithm {
	return locks.Algorithm{
		Name: "leased", Title: "a lease of a name", Servers: "leased", Authority: locks.OneNode, Identity: "value",
		Lease: true, Token: true, Deadline: locks.OnMonotonic,
		New: func(o locks.Options) locks.Builder {
			return func(p locks.Process) (locks.Lock, error) {
				return &lock{p, p.Other("leased").(Client), o}, nil
			}
		},
	}
}

type lock struct {
	process locks.Process
	client  Client
	options locks.Options
}

// Acquire asks again and again until it may wait no longer. Its deadline counts from the request.
func (l *lock) Acquire(wait time.Duration) (locks.Lease, error) {
	for began := l.process.Monotonic(); ; l.process.Sleep(l.options.TTL / 10) {
		asked := l.process.Monotonic()
		number, err := l.client.Take(l.options.Timeout, l.options.Key, l.options.TTL)
		switch {
		case err != nil:
			return locks.Lease{}, err
		case number != 0:
			return locks.Lease{Token: number, Deadline: locks.MonotonicDeadline(asked.Add(l.options.TTL))}, nil
		case l.process.Monotonic().Sub(began) >= wait:
			return locks.Lease{}, locks.ErrNotAcquired
		}
	}
}

// Release gives the lease back.
func (l *lock) Release(lease locks.Lease) error {
	there, err := l.client.Drop(l.options.Timeout, l.options.Key, lease.Token)
	if err == nil && !there {
		return locks.ErrNotHeld
	}
	return err
}
