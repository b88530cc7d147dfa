package locks

import (
	"fmt"
	"time"
)

// memcachedCAS adds an item with a random value and releases by reading it and replacing what was read, in one step
// with the comparison, by an item that has already ended: the protocol has no compare-and-delete.
//
// It promises that a release leaves another's lock alone. In all else it is memcachedAdd.
func memcachedCAS() Algorithm {
	return Algorithm{
		Name:      "memcached-cas",
		Title:     "add with an expiry and a random value, released by gets and cas",
		Source:    "the text protocol of memcached, \"cas\"",
		Servers:   "memcached",
		New:       newMemcachedCAS,
		Authority: OneNode,
		Identity:  "value",
		Lease:     true,
	}
}

type memcachedCASLock struct{ onMemcached }

func newMemcachedCAS(o Options) Builder {
	return func(p Process) (Lock, error) { return &memcachedCASLock{newMemcached(p, o)}, nil }
}

// Acquire adds the item with a value of its own.
func (l *memcachedCASLock) Acquire(wait time.Duration) (Lease, error) {
	return l.acquire(l.p.RandomValue(), wait)
}

// Release ends the item, if it is the holder's own and stays so until then.
func (l *memcachedCASLock) Release(lease Lease) error {
	const over = -1
	item, found, err := l.server.Gets(l.options.Timeout, l.options.Key)
	if err != nil {
		return fmt.Errorf("memcached gets %s: %w", l.options.Key, err)
	}
	if !found || item.Value != lease.Value {
		return ErrNotHeld
	}
	swapped, err := l.server.CompareAndSwap(l.options.Timeout, item, "", over)
	switch {
	case err != nil:
		return fmt.Errorf("memcached cas %s: %w", l.options.Key, err)
	case !swapped:
		return ErrNotHeld
	}
	return nil
}
