package locks

import "time"

// setWithoutNX forgets NX: it makes the key whether or not there is one.
//
// It promises nothing but that it never waits. Its release is the right one, so that all of its harm comes from the
// missing word: the second client simply takes the lock from the first.
func setWithoutNX() Algorithm {
	return Algorithm{
		Name:      "set-without-nx",
		Title:     "SET PX without NX: the second client overwrites the first",
		Source:    "a mistake that explanations of SET NX PX warn of",
		Status:    Mistake,
		New:       newSetWithoutNX,
		Authority: OneNode,
		Scripts:   []Script{releaseScript()},
		Identity:  "value",
		Lease:     true,
	}
}

type setWithoutNXLock struct{ oneServer }

func newSetWithoutNX(o Options) Builder {
	return func(p Process) (Lock, error) { return &setWithoutNXLock{onOneServer(p, o)}, nil }
}

// Acquire overwrites the key.
func (l *setWithoutNXLock) Acquire(wait time.Duration) (Lease, error) {
	value := l.p.RandomValue()
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		if _, err := l.do("SET", value, "PX", millis(l.options.TTL)); err != nil {
			return Lease{}, err
		}
		return Lease{Value: value}, nil
	})
}

// Release removes the key if it is still the holder's own.
func (l *setWithoutNXLock) Release(lease Lease) error { return l.compareAndDelete(lease.Value) }
