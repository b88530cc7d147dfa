package locks

import "time"

// setNXExDel makes the key and its time to live in one command (SET NX with EX, or PX as here), and releases with a
// plain DEL.
//
// It promises that a dead holder's lock ends by itself. After an overrun its DEL removes the lock of the client
// that has it by then, and so lets a third client in beside the second.
func setNXExDel() Algorithm {
	return Algorithm{
		Name:      "set-nx-ex-del",
		Title:     "SET NX PX, released by plain DEL: removes another's lock after an overrun",
		Source:    "tutorials; the misdelete is what the Redis documentation's random value prevents",
		Status:    Mistake,
		New:       newSetNXExDel,
		Authority: OneNode,
		Identity:  "none",
		Lease:     true,
	}
}

type setNXExDelLock struct{ oneServer }

func newSetNXExDel(o Options) Builder {
	return func(p Process) (Lock, error) { return &setNXExDelLock{onOneServer(p, o)}, nil }
}

// Acquire makes the key if there is none.
func (l *setNXExDelLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) { return Lease{}, l.set(taken) })
}

// Release removes the key, even if another client made it.
func (l *setNXExDelLock) Release(Lease) error { return l.del() }
