// Package locks holds distributed locks as plain blocking Go, and the small ports that they need from the process
// they run in.
//
// Start with [Catalogue] for the locks there are, or write a [Builder] of your own: a function that is run once in
// every client process and returns a [Lock]. A lock sees only its [Process]: that process's clocks, its randomness,
// its tasks and its connections. The same code runs under simulation and against real servers.
//
// A release names its lease by a random value, and how long a value lives decides what a late release can do: bytes
// that a client has sent are executed even after it has given up on them. A value that names one try only can at
// worst remove that try's key. So a good lock that releases after a failed try draws a fresh value for every try
// (Redlock), and one that does not draws one for every acquisition (set-nx-lua).
package locks

import (
	"errors"
	"math"
	"time"
)

// Lock is one process's handle of one distributed lock.
type Lock interface {
	// Acquire asks for the lock and waits for it at most wait: Try asks once and returns at once, Forever does not
	// give up by itself. It returns ErrNotAcquired if the lock was not to be had, or an error of the servers; in
	// both cases the caller does not hold the lock, though a server may believe that he does (see ErrUnknown).
	Acquire(wait time.Duration) (Lease, error)
	// Release gives the lease back. ErrNotHeld says that the servers knew of no such lease (any more).
	Release(Lease) error
}

// Bounds of waiting for Lock.Acquire.
const (
	Try     time.Duration = 0
	Forever time.Duration = math.MaxInt64
)

// Lease is what a holder has been given.
type Lease struct {
	// Value identifies the holder at the servers: a random value, a session, an owner. Locks that have no owner
	// leave it empty.
	Value string
	// Token is the fencing token, which grows from grant to grant; 0 means that the lock has none.
	Token uint64
	// Deadline is when the lease ends unless renewed, on the clock that the lock measures with.
	Deadline Deadline
	// Lost fires when the holder learns that the lease is lost; nil if it cannot learn of it.
	Lost Signal
}

// Builder makes a lock inside a client process. Dialling takes time and may fail.
type Builder func(p Process) (Lock, error)

// How an operation ended that did not succeed. An operation ends in one of three ways: done, certainly not done, or
// unknown; no code may guess between the last two.
var (
	// ErrNotAcquired says that somebody else holds the lock, or that too few servers granted it.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrNotHeld says that the lock was not held by the one who released it.
	ErrNotHeld = errors.New("lock not held")
	// ErrNotDone says that the request was certainly not executed: it never left, or was refused before execution.
	ErrNotDone = errors.New("certainly not done")
	// ErrUnknown says that the request was sent and no answer came: it may have been executed, or may yet be.
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

// Clock is what a process can know of time.
type Clock interface {
	Wall() Wall
	Monotonic() Monotonic
}

// ClockKind names one of a process's two clocks.
type ClockKind uint8

// The clocks a deadline can be measured on.
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

// Passed reports whether the deadline has come on the clock it is measured on.
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

// Signal is something that happens once: a task's end, a loss, a request to stop.
type Signal interface {
	Fire() // makes it happen; firing again does nothing
	Fired() bool
}

// Process is all that a lock can see of the process it runs in. Its methods belong to the task that received it:
// hand the Process that Go passes to fn to whatever runs in the new task.
type Process interface {
	Clock
	// Sleep blocks for d on the monotonic clock.
	Sleep(d time.Duration)
	// Wait blocks until one of the signals has fired or d has passed on the monotonic clock, and returns the index
	// of the first fired signal, or -1. Forever waits for the signals alone.
	Wait(d time.Duration, signals ...Signal) int
	// NewSignal returns a signal that has not fired.
	NewSignal() Signal
	// Go runs fn as another task of this process and returns the signal of its end. Tasks share the process's
	// pauses and its crash.
	Go(fn func(p Process)) Signal
	// Uniform returns a random number in [0, n); n must be positive.
	Uniform(n int64) int64
	// RandomValue returns a fresh random string that no other acquisition has (20 bytes, as the Redis documentation
	// advises), unless two processes share their randomness.
	RandomValue() string
	// Owner names the task within the whole system, as Redisson's "uuid:threadId" does.
	Owner() string
	// Redis returns the client of the i-th Redis server, from 0. It panics if there is no such server.
	Redis(i int) Redis
	// RedisNodes returns how many Redis servers the process was configured with.
	RedisNodes() int
}

// Redis is a client of one Redis server: a pool of connections, each used by one call at a time, as in the common
// client libraries. A call that times out closes its connection. What belongs to a connection, as WATCH and MULTI do,
// stays together as long as one task at a time uses the client.
type Redis interface {
	// Do sends one command and waits for its reply, at most timeout; 0 waits for ever. An error reply of the server
	// comes back as a *RedisError. Where no reply came the error is ErrNotDone or ErrUnknown.
	Do(timeout time.Duration, args ...string) (Reply, error)
}

// Eval runs a Lua script as client libraries do: EVALSHA first would save bytes and cost a round trip on the first
// use; locks here send the script itself. Keys come first, then the other arguments.
func Eval(r Redis, timeout time.Duration, s Script, keys []string, args ...string) (Reply, error) {
	command := make([]string, 0, 3+len(keys)+len(args))
	command = append(command, "EVAL", s.Body, itoa(len(keys)))
	command = append(command, keys...)
	command = append(command, args...)
	return r.Do(timeout, command...)
}

// Script is a Lua script with the name by which faults and traces know it: "release", "renew", "acquire".
type Script struct {
	Name string
	Body string
}

// Reply is what a Redis server answered.
type Reply struct {
	Nil   bool
	Int   int64
	Str   string // status or bulk string
	Array []Reply
}

// OK reports whether the reply is the status OK.
func (r Reply) OK() bool { return r.Str == "OK" }

// RedisError is an error reply: the command was refused or failed.
type RedisError struct{ Text string }

// Error returns the server's text.
func (e *RedisError) Error() string { return e.Text }
