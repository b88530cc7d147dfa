package locks

import "time"

// Consul is a client of a Consul cluster, as its Go library is one: its Session and KV. Every call waits at
// most its timeout for an answer; 0 waits forever. The error is ErrSessionExpired if there is no such session.
// Where no answer came it is ErrNotDone or ErrUnknown.
type Consul interface {
	// CreateSession makes a session of that TTL, which Consul ends after twice the TTL at the latest. A lock
	// that it then holds is unavailable to others for the delay; nil: Consul's default of 15 s.
	CreateSession(timeout, ttl time.Duration, delay *time.Duration) (session uint64, err error)
	// RenewSession restarts the session's TTL, and returns it.
	RenewSession(timeout time.Duration, session uint64) (ttl time.Duration, err error)
	// DestroySession ends a session.
	DestroySession(timeout time.Duration, session uint64) error
	// Acquire acquires a key for the session if it is available now.
	Acquire(timeout time.Duration, key string, session uint64) (bool, error)
	// Release releases the session's key; false if it does not have it.
	Release(timeout time.Duration, key string, session uint64) (bool, error)
	// Get reads a key; if index is not 0 it waits until the key has changed since, or the wait is over.
	Get(timeout time.Duration, key string, index int64, wait time.Duration) (ConsulPair, error)
}

// ConsulPair is a key of Consul's KV store.
type ConsulPair struct {
	Session   uint64 // the session that has it; 0 if none
	LockIndex uint64 // how often it has been acquired
	Index     int64  // for the next Get that waits for a change
}
