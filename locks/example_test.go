package locks_test

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/locksim/locksim/locks"
)

// ticketLock is a lock of one's own: the least that a Lock must do, on one Redis server.
type ticketLock struct {
	p     locks.Process
	redis locks.Redis
	ttl   time.Duration
}

// newTicketLock has the shape of a locks.Builder. Give it to code that runs client processes.
func newTicketLock(p locks.Process) (locks.Lock, error) {
	return &ticketLock{p: p, redis: p.Redis(0), ttl: 10 * time.Second}, nil
}

// Acquire tries every 100 ms until the wait is over, on the process's own clock.
func (l *ticketLock) Acquire(wait time.Duration) (locks.Lease, error) {
	start := l.p.Monotonic()
	value := l.p.RandomValue()
	ttl := strconv.FormatInt(l.ttl.Milliseconds(), 10)
	for {
		sent := l.p.Monotonic() // before the request: the server cannot have set its key earlier
		reply, err := l.redis.Do(time.Second, "SET", "ticket", value, "NX", "PX", ttl)
		if err != nil {
			return locks.Lease{}, fmt.Errorf("ticket lock: %w", err) // keeps ErrUnknown apart from ErrNotDone
		}
		if reply.OK() {
			return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(sent.Add(l.ttl))}, nil
		}
		if l.p.Monotonic().Sub(start) >= wait {
			return locks.Lease{}, locks.ErrNotAcquired
		}
		l.p.Sleep(100 * time.Millisecond)
	}
}

// Release deletes the key only if it is still the holder's own.
func (l *ticketLock) Release(lease locks.Lease) error {
	release := locks.Script{
		Name: "release",
		Body: `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`,
	}
	reply, err := locks.Eval(l.redis, time.Second, release, []string{"ticket"}, lease.Value)
	if err != nil {
		return fmt.Errorf("ticket lock: %w", err)
	}
	if reply.Int == 0 {
		return locks.ErrNotHeld
	}
	return nil
}

// A lock of one's own is a type with Acquire and Release, and a Builder that makes it in every client process.
func ExampleBuilder() {
	var build locks.Builder = newTicketLock

	inProcess("a", func(p locks.Process) {
		lock, err := build(p)
		if err != nil {
			fmt.Println("dialling:", err)
			return
		}
		lease, err := lock.Acquire(locks.Try)
		fmt.Println("acquired:", lease.Value, err)

		_, err = lock.Acquire(locks.Try)
		fmt.Println("again:", err)

		fmt.Println("released:", lock.Release(lease))
		fmt.Println("twice:", lock.Release(lease))
	})
	// Output:
	// acquired: value-1 <nil>
	// again: lock not acquired
	// released: <nil>
	// twice: lock not held
}

// Take a lock from the catalogue, wait for it a second at most, and look at the lease's deadline before acting.
func ExampleSet_Find() {
	redlock, ok := locks.Catalogue().Find("redlock")
	if !ok {
		return
	}
	build := redlock.New(locks.Options{Key: "invoice-7", TTL: 5 * time.Second})

	inProcess("a", func(p locks.Process) {
		lock, err := build(p)
		if err != nil {
			fmt.Println("dialling:", err)
			return
		}
		lease, err := lock.Acquire(time.Second)
		if errors.Is(err, locks.ErrNotAcquired) {
			fmt.Println("busy, try later")
			return
		}
		fmt.Println("held:", !lease.Deadline.Passed(p))
		p.Sleep(5 * time.Second)
		fmt.Println("held:", !lease.Deadline.Passed(p))
		fmt.Println(lock.Release(lease))
	})
	// Output:
	// held: true
	// held: false
	// lock not held
}

// inProcess runs fn in a process of a small world with five servers.
func inProcess(name string, fn func(p locks.Process)) {
	w := newWorld(5)
	w.start(name, fn)
	w.run(time.Hour)
}
