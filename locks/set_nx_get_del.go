package locks

import "time"

// setNXGetDel stores a random value and releases by reading it, comparing it in the client, and deleting.
//
// It promises that a release leaves another's lock alone, and does not keep it: the lease may end between GET and
// DEL, and the DEL then removes what the next client has made.
func setNXGetDel() Algorithm {
	return Algorithm{
		Name:      "set-nx-get-del",
		Title:     "SET NX PX with a random value, released by GET, compare, DEL: not atomic",
		Source:    "tutorials, as the step before the Lua release",
		Status:    Mistake,
		New:       newSetNXGetDel,
		Authority: OneNode,
		Identity:  "value",
		Lease:     true,
	}
}

type setNXGetDelLock struct{ oneServer }

func newSetNXGetDel(o Options) Builder {
	return func(p Process) (Lock, error) { return &setNXGetDelLock{onOneServer(p, o)}, nil }
}

// Acquire makes the key if there is none.
func (l *setNXGetDelLock) Acquire(wait time.Duration) (Lease, error) {
	value := l.p.RandomValue()
	return l.options.Retry.until(l.p, wait, func() (Lease, error) { return Lease{Value: value}, l.set(value) })
}

// Release removes the key if it was the holder's own a round trip ago.
func (l *setNXGetDelLock) Release(lease Lease) error {
	found, err := l.do("GET")
	if err != nil {
		return err
	}
	if found.Nil || found.Str != lease.Value {
		return ErrNotHeld
	}
	// Here the lease may end and another client may get the lock.
	return l.del()
}
