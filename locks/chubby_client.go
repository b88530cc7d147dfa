package locks

import (
	"errors"
	"time"
)

// Chubby is a client of a Chubby cell: the calls that the library of the paper makes. Every call waits at most its
// timeout for an answer; 0 waits for ever. All calls of a session share its connection, which a KeepAlive that fails
// closes. The error is ErrSessionExpired if there is no such session, ErrNewMaster if the master has changed since its
// last KeepAlive. Where no answer came it is ErrNotDone or ErrUnknown.
type Chubby interface {
	// CreateSession opens a session, and says how long it lives from then on. The locks that it holds when it ends are
	// kept from others for the delay; nil: for no time.
	CreateSession(timeout, ttl time.Duration, delay *time.Duration) (session uint64, lives time.Duration, err error)
	// EndSession closes a session. What it holds it gives back.
	EndSession(timeout time.Duration, session uint64) error
	// KeepAlive asks for the session to be extended. The master answers when that is due; it says how long it has held
	// the answer back, and how long the session lives from its answering on.
	KeepAlive(timeout time.Duration, session uint64) (held, lives time.Duration, err error)
	// Acquire waits for an exclusive lock, and returns its generation.
	Acquire(timeout time.Duration, session uint64, lock string) (generation uint64, err error)
	// TryAcquire is Acquire without waiting. The error is ErrNotAcquired if somebody else has the lock.
	TryAcquire(timeout time.Duration, session uint64, lock string) (generation uint64, err error)
	// Release gives a lock back; false if it was not held.
	Release(timeout time.Duration, session uint64, lock string) (bool, error)
}

// ErrNewMaster says that a request was made in the epoch of a master that is one no longer.
var ErrNewMaster = errors.New("the master has changed")
