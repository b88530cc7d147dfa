package locks

import "time"

// setNXLua is the right lock on a single Redis server, from the Redis documentation ("Distributed Locks with Redis",
// correct implementation with a single instance): SET NX PX with a random value, released by a script that deletes
// the key only if it still has that value.
//
// It promises mutual exclusion while holders finish within the lease and the server keeps its keys and its clock,
// and that a release never removes another's lock. It fails when a holder overruns its lease, and when the server
// forgets the key or its clock jumps. Its lease states no deadline and its holder cannot learn of the loss.
//
// The value is drawn once for an acquisition. If the reply to its SET is lost, the next try meets the key that this
// one made, takes it for somebody else's, and waits until its own lease has ended: safe, at the price of one lease.
// Common client libraries that retry by themselves behave so too (go-redis, for one).
func setNXLua() Algorithm {
	return Algorithm{
		Name:      "set-nx-lua",
		Title:     "SET NX PX with a random value, released by a script: the right single-server lock",
		Source:    "Redis documentation, Distributed Locks with Redis: single instance",
		New:       newSetNXLua,
		Authority: OneNode,
		Scripts:   []Script{releaseScript()},
		Identity:  "value",
		Lease:     true,
	}
}

type setNXLuaLock struct{ oneServer }

func newSetNXLua(o Options) Builder {
	return func(p Process) (Lock, error) { return &setNXLuaLock{onOneServer(p, o)}, nil }
}

// Acquire makes the key if there is none.
func (l *setNXLuaLock) Acquire(wait time.Duration) (Lease, error) {
	value := l.p.RandomValue()
	return l.options.Retry.until(l.p, wait, func() (Lease, error) { return Lease{Value: value}, l.set(value) })
}

// Release removes the key if it is still the holder's own.
func (l *setNXLuaLock) Release(lease Lease) error { return l.compareAndDelete(lease.Value) }
