package locktest_test

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// myLock is a whole lock: a key with an end that only one client can make. That client deletes it.
type myLock struct {
	p     locks.Process
	redis locks.Redis
}

func newMyLock(p locks.Process) (locks.Lock, error) { return &myLock{p, p.Redis(0)}, nil }

// Acquire asks five times a second.
func (l *myLock) Acquire(wait time.Duration) (locks.Lease, error) {
	for start := l.p.Monotonic(); ; l.p.Sleep(200 * time.Millisecond) {
		value := l.p.RandomValue()
		reply, err := l.redis.Do(time.Second, "SET", "my-lock", value, "NX", "PX", "10000")
		if err == nil && reply.OK() {
			return locks.Lease{Value: value}, nil
		}
		if wait != locks.Forever && l.p.Monotonic().Sub(start) >= wait {
			return locks.Lease{}, locks.ErrNotAcquired
		}
	}
}

// Release deletes the key, even if it is another client's by now.
func (l *myLock) Release(locks.Lease) error {
	_, err := l.redis.Do(time.Second, "DEL", "my-lock")
	return err
}

// A test is one call:
//
//	func TestMyLock(t *testing.T) { locktest.Run(t, newMyLock, locktest.Options{}) }
//
// Check finds the same outside of a test.
func ExampleCheck() {
	found, err := locktest.Check(newMyLock, locktest.Options{Only: []locktest.Promise{locktest.ReleaseSafety}})
	switch {
	case err != nil:
		fmt.Println(err)
	case found == nil:
		fmt.Println("all promises are kept")
	default:
		fmt.Println(found.Promise)
		fmt.Println(found.Story())
		fmt.Println(found.Blame)
	}
	// Output:
	// release-safety
	// a/0 acquires the lock with a lease of 10 s, and its lease expires at 10 s while a/0 is still in its critical section. redis-1 grants the lock to a/1 at 10.1 s, and a/0's release (DEL) deletes a/1's key at 20 s: a DEL does not compare whose key it is.
	//   The work of a must be between about 10.1s and 20s; with 10s and with 20.1s the promise is kept.
	// this lock: set-nx-lua keeps the property in the same scenario (runs compared: 60)
}
