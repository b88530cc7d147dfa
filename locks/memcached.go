package locks

import (
	"fmt"
	"time"
)

// Memcached is a client of a memcached server: a pool of connections, each used by one call at a time. Each call
// takes at most timeout; 0 waits forever. An exptime is in seconds: 0 means no end, a negative one expires at once.
// An error of the server comes back as a *MemcachedError. If no answer arrived the error is ErrNotDone or ErrUnknown.
type Memcached interface {
	// Add stores an item unless there is one.
	Add(timeout time.Duration, key, value string, exptime int64) (stored bool, err error)
	// Set stores an item.
	Set(timeout time.Duration, key, value string, exptime int64) error
	// Gets returns an item with its CAS id.
	Gets(timeout time.Duration, key string) (item MemcachedItem, found bool, err error)
	// CompareAndSwap stores a value in place of an item, if it has not been changed.
	CompareAndSwap(timeout time.Duration, item MemcachedItem, value string, exptime int64) (swapped bool, err error)
	// Touch changes the expiry of an item.
	Touch(timeout time.Duration, key string, exptime int64) (found bool, err error)
	// Delete removes an item, regardless of its value.
	Delete(timeout time.Duration, key string) (found bool, err error)
}

// MemcachedItem is an item as it was read.
type MemcachedItem struct {
	Key, Value string
	CAS        uint64 // changes with every change of the item
}

// MemcachedError is an error reply: the command was refused or failed.
type MemcachedError struct{ Text string }

// Error returns the server's text.
func (e *MemcachedError) Error() string { return e.Text }

// onMemcached is what the locks on a memcached server share.
type onMemcached struct {
	p       Process
	server  Memcached
	options Options
}

func newMemcached(p Process, o Options) onMemcached {
	return onMemcached{p: p, server: p.Memcached(), options: o.withDefaults()}
}

// acquire adds the item, if there is none.
func (m *onMemcached) acquire(value string, wait time.Duration) (Lease, error) {
	return m.options.Retry.until(m.p, wait, func() (Lease, error) {
		stored, err := m.server.Add(m.options.Timeout, m.options.Key, value, seconds(m.options.TTL))
		switch {
		case err != nil:
			return Lease{}, fmt.Errorf("memcached add %s: %w", m.options.Key, err)
		case !stored:
			return Lease{}, ErrNotAcquired
		}
		return Lease{Value: value}, nil
	})
}
