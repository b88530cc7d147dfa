package locks

import (
	"errors"
	"time"
)

// Chubby is a client of a Chubby cell: the calls that the library of the paper makes. Every call waits at most
// its timeout for an answer; 0 waits forever. All calls of a session share its connection, which a KeepAlive
// that fails closes. The error is ErrSessionExpired if there is no such session, ErrNewMaster if the master has
// changed since its last KeepAlive. Where no answer came it is ErrNotDone or ErrUnknown.
type Chubby interface {
	// CreateSession opens a session, and returns how long it lives from then on. Locks that it holds when it
	// ends are unavailable to others for the delay; nil: no delay.
	CreateSession(timeout, ttl time.Duration, delay *time.Duration) (session uint64, lives time.Duration, err error)
	// EndSession closes a session and releases its locks.
	EndSession(timeout time.Duration, session uint64) error
	// KeepAlive requests an extension of the session. The master answers when that is due, with how long it has
	// held the answer back, and how long the session lives from the answer on.
	KeepAlive(timeout time.Duration, session uint64) (held, lives time.Duration, err error)
	// Acquire waits for an exclusive lock, and returns its generation.
	Acquire(timeout time.Duration, session uint64, lock string) (generation uint64, err error)
	// TryAcquire is Acquire without waiting. The error is ErrNotAcquired if another client has the lock.
	TryAcquire(timeout time.Duration, session uint64, lock string) (generation uint64, err error)
	// Release releases a lock; false if it was not held.
	Release(timeout time.Duration, session uint64, lock string) (bool, error)
}

// ErrNewMaster says that a request was made in the epoch of a former master.
var ErrNewMaster = errors.New("the master has changed")
