package locks

import "time"

// Consul is a client of a Consul cluster, as its Go library is one: its Session and KV. Every call waits at most its
// timeout for an answer; 0 waits for ever. The error is ErrSessionExpired if there is no such session. Where no answer
// came it is ErrNotDone or ErrUnknown.
type Consul interface {
	// CreateSession makes a session of that TTL, which Consul ends after twice the TTL at the latest. A lock that it
	// holds then is kept from others for the delay; nil: for Consul's own 15 s.
	CreateSession(timeout, ttl time.Duration, delay *time.Duration) (session uint64, err error)
	// RenewSession begins the session's life anew, and says how long its TTL is.
	RenewSession(timeout time.Duration, session uint64) (ttl time.Duration, err error)
	// DestroySession ends a session.
	DestroySession(timeout time.Duration, session uint64) error
	// Acquire gives a key to the session if it can be had now.
	Acquire(timeout time.Duration, key string, session uint64) (bool, error)
	// Release takes a key from the session; false if it does not have it.
	Release(timeout time.Duration, key string, session uint64) (bool, error)
	// Get reads a key; with an index that is not 0 it waits until the key has changed since, or the wait is over.
	Get(timeout time.Duration, key string, index int64, wait time.Duration) (ConsulPair, error)
}

// ConsulPair is a key of Consul's KV store.
type ConsulPair struct {
	Session   uint64 // that has it; 0 if none
	LockIndex uint64 // how often it has been acquired
	Index     int64  // to wait for a change of
}
