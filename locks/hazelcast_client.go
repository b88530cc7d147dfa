package locks

import (
	"errors"
	"time"
)

// Hazelcast is a client of a Hazelcast cluster: what its proxies send to a CP group. It is what Process.Other returns for it. Every
// call waits at most its timeout for an answer; 0 waits as long as the connection lives. The error is ErrSessionExpired if there is
// no such session. Where no answer came it is ErrNotDone or ErrUnknown. Tasks of a process share the connection.
type Hazelcast interface {
	// CreateSession makes a session, which the group ends after the TTL unless it hears of it.
	CreateSession(timeout, ttl time.Duration) (session uint64, err error)
	// Heartbeat restarts the session's TTL.
	Heartbeat(timeout time.Duration, session uint64) error
	// Lock enters a lock, and returns the fence; 0 if it was not free for the wait, which may be Try or Forever. A repeated call
	// has the same number. The error is ErrWaitCancelled if another call of the same thread has ended the wait.
	Lock(timeout time.Duration, c HazelcastCall, wait time.Duration) (fence uint64, err error)
	// Unlock leaves a lock, and reports whether the thread still has it. The error is ErrNotHeld if it had not.
	Unlock(timeout time.Duration, c HazelcastCall) (still bool, err error)
	// Reconnect gives the connection up. Calls that wait for an answer end.
	Reconnect()
	// Session returns where the tasks of the process keep their session.
	Session() *HazelcastSession
}

// HazelcastCall names a lock, who asks, and the call.
type HazelcastCall struct {
	Session uint64
	Thread  string
	Lock    string
	Number  string // the same in all attempts
}

// ErrWaitCancelled says that a client has asked for the lock again, and so ended its own wait.
var ErrWaitCancelled = errors.New("the wait was cancelled")
