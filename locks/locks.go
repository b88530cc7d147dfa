// Package locks contains distributed locks as plain blocking Go, and the small ports that they need from the
// process in which they run.
//
// Start with [Catalogue] for the existing locks, or write your own [Builder]: a function that runs once for
// every task of a client process and returns a [Lock]. A lock sees only its [Process]: that process's clocks, its
// randomness, its tasks and its connections. The same code runs under simulation and against real servers.
//
// A release names its lease by a random value, and the lifetime of that value decides what a late release can
// do: servers execute bytes that a client has sent even after it has given up on them. A value that names a
// single try can at worst remove that try's key. So a good lock that releases after a failed try draws a fresh
// value for every try (Redlock), and one that does not draws one for every acquisition (set-nx-lua).
//
// Stability: the API of this package keeps working within a major version.
package locks

import (
	"errors"
	"math"
	"time"
)

// Lock is one process's handle of one distributed lock.
type Lock interface {
	// Acquire requests the lock and waits for it at most wait: Try requests once and returns at once, Forever does
	// not give up by itself. It returns ErrNotAcquired if the lock was not available, or an error of the servers;
	// in both cases the caller does not hold the lock, though a server may believe that it does (see ErrUnknown).
	Acquire(wait time.Duration) (Lease, error)
	// Release releases the lease. ErrNotHeld says that the servers have no such lease, or no longer have it. After another error it may be
	// called again with the same lease.
	Release(Lease) error
}

// Bounds of waiting for Lock.Acquire.
const (
	Try     time.Duration = 0
	Forever time.Duration = math.MaxInt64
)

// Lease describes a holder's grant.
type Lease struct {
	// Value identifies the holder at the servers: a random value, a session, an owner. Locks that have no owner
	// leave it empty.
	Value string
	// Token is the fencing token, which grows from grant to grant; 0 means that the lock has none.
	Token uint64
	// Deadline is when the lease ends unless renewed, on the clock that the lock measures with.
	Deadline Deadline
	// Lost fires when the holder learns that the lease is lost; nil if it cannot learn that.
	Lost Signal
	// Suspended fires when the connection that keeps the lease alive is interrupted, so that the lease may end
	// without its holder's knowledge; nil if there is no such connection.
	Suspended Signal
}

// Verifier is a Lock that can ask the servers whether a lease is still valid: a careful client does so before
// each access. The error is ErrNotHeld if it is not; any other error leaves the question open.
type Verifier interface {
	Verify(Lease) error
}

// Guard is a Lock whose servers store the protected data too, and execute an access in one step, or one
// transaction, with the check that the lease is valid. The data then need no token.
type Guard interface {
	// Read returns the version of a register.
	Read(l Lease, register int) (version uint64, err error)
	// Write replaces the version that was read with a new one. The error is ErrNotHeld if the servers refused it.
	Write(l Lease, register int, read, version uint64) error
}

// Builder makes a lock inside a client process, one for each of its tasks: no two tasks share a [Lock], and whether they
// could is not tested. Dialling takes time and may fail.
type Builder func(p Process) (Lock, error)

// The errors of unsuccessful operations. An operation ends in one of three ways: done, certainly not done, or
// unknown; no code may guess between the last two.
var (
	// ErrNotAcquired says that another client holds the lock, or that too few servers granted it.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrNotHeld says that the client that released the lock did not hold it.
	ErrNotHeld = errors.New("lock not held")
	// ErrNotDone says that the request was certainly not executed: it never left, or was refused before execution.
	ErrNotDone = errors.New("certainly not done")
	// ErrUnknown says that the request was sent and no answer arrived: it may have been executed, or may yet be.
	ErrUnknown = errors.New("outcome unknown")
)

// Monotonic is a reading of a process's monotonic clock, in nanoseconds since an arbitrary moment.
type Monotonic int64

// Wall is a reading of a process's wall clock, in nanoseconds since 1970. It may step in either direction.
type Wall int64

// Add returns the reading d later.
func (m Monotonic) Add(d time.Duration) Monotonic { return m + Monotonic(d) }

// Sub returns the time from n to m as that clock measured it.
func (m Monotonic) Sub(n Monotonic) time.Duration { return time.Duration(m - n) }

// Add returns the reading d later.
func (w Wall) Add(d time.Duration) Wall { return w + Wall(d) }

// Sub returns the time from v to w as that clock showed it.
func (w Wall) Sub(v Wall) time.Duration { return time.Duration(w - v) }

// Clock gives a process access to its clocks.
type Clock interface {
	Wall() Wall
	Monotonic() Monotonic
}

// ClockKind names one of a process's two clocks.
type ClockKind uint8

// The clocks on which a deadline can be measured.
const (
	NoClock ClockKind = iota
	OnMonotonic
	OnWall
)

// Deadline is a moment on one of the holder's own clocks. The zero value is no deadline.
type Deadline struct {
	On ClockKind
	At int64 // the clock's reading, in nanoseconds
}

// MonotonicDeadline is a deadline on the monotonic clock.
func MonotonicDeadline(at Monotonic) Deadline { return Deadline{On: OnMonotonic, At: int64(at)} }

// WallDeadline is a deadline on the wall clock.
func WallDeadline(at Wall) Deadline { return Deadline{On: OnWall, At: int64(at)} }

// Stated reports whether there is a deadline at all.
func (d Deadline) Stated() bool { return d.On != NoClock }

// Passed reports whether the deadline has passed on its clock.
func (d Deadline) Passed(c Clock) bool {
	switch d.On {
	case OnMonotonic:
		return int64(c.Monotonic()) >= d.At
	case OnWall:
		return int64(c.Wall()) >= d.At
	default:
		return false
	}
}

// Signal is an event that happens once: a task's end, a loss, a request to stop.
type Signal interface {
	Fire() // fires the signal; firing again does nothing
	Fired() bool
}

// Process is the only interface of a lock to the process in which it runs. Its methods belong to the task that
// received it: pass the Process that Go passes to fn on to all code that runs in the new task.
type Process interface {
	Clock
	Services
	// Sleep blocks for d on the monotonic clock.
	Sleep(d time.Duration)
	// Wait blocks until one of the signals has fired or d has passed on the monotonic clock, and returns the index
	// of the first fired signal, or -1. Forever waits for the signals alone.
	Wait(d time.Duration, signals ...Signal) int
	// NewSignal returns a signal that has not fired.
	NewSignal() Signal
	// Go runs fn as another task of this process and returns a signal of its end. Tasks share the process's
	// pauses and its crash.
	Go(fn func(p Process)) Signal
	// Uniform returns a random number in [0, n); n must be positive.
	Uniform(n int64) int64
	// RandomValue returns a fresh random string that no other acquisition has (20 bytes, as the Redis
	// documentation advises), unless two processes share their randomness.
	RandomValue() string
	// Owner identifies the task within the whole system, as Redisson's "uuid:threadId" does.
	Owner() string
}

// Services are the clients of the servers with which a process is configured. Requesting a client that is not
// configured is a bug of the lock, and panics.
type Services interface {
	// Redis returns the client of the i-th Redis server, from 0. For servers that replicate each other there is
	// one client, of the server that the process considers the master.
	Redis(i int) Redis
	// RedisNodes returns how many independent Redis servers there are.
	RedisNodes() int
	// ZooKeeper returns the client of a ZooKeeper ensemble.
	ZooKeeper() ZooKeeper
	// Etcd returns the client of an etcd cluster.
	Etcd() Etcd
	// Consul returns the client of a Consul cluster.
	Consul() Consul
	// Chubby returns the client of a Chubby cell.
	Chubby() Chubby
	// Memcached returns the client of a memcached server.
	Memcached() Memcached
	// SQL returns the client of a MySQL or PostgreSQL server.
	SQL() SQL
	// Other returns the client of servers of a kind that has no method here. Its backend says of what type it is.
	Other(kind string) any
}
