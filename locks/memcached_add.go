package locks

import (
	"fmt"
	"time"
)

// memcachedAdd adds an item with an exptime, and deletes it to release.
//
// It promises no more than that memcached stores one item per key at a time: the item ends up to a second earlier
// than requested, may be evicted before, and does not survive a restart; the delete removes any client's item.
func memcachedAdd() Algorithm {
	return Algorithm{
		Name:      "memcached-add",
		Title:     "add with an expiry, released by a plain delete",
		Source:    "tutorials; the FAQ of memcached, \"ghetto central locking\"",
		Status:    Mistake,
		Servers:   "memcached",
		New:       newMemcachedAdd,
		Authority: OneNode,
		Identity:  "none",
		Lease:     true,
	}
}

type memcachedAddLock struct{ onMemcached }

func newMemcachedAdd(o Options) Builder {
	return func(p Process) (Lock, error) { return &memcachedAddLock{newMemcached(p, o)}, nil }
}

// Acquire adds the item.
func (l *memcachedAddLock) Acquire(wait time.Duration) (Lease, error) {
	lease, err := l.acquire(taken, wait)
	lease.Value = ""
	return lease, err
}

// Release deletes the item, even if another client added it.
func (l *memcachedAddLock) Release(Lease) error {
	found, err := l.server.Delete(l.options.Timeout, l.options.Key)
	switch {
	case err != nil:
		return fmt.Errorf("memcached delete %s: %w", l.options.Key, err)
	case !found:
		return ErrNotHeld
	}
	return nil
}
