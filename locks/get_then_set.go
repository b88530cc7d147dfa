package locks

import "time"

// getThenSet is the lock that everybody writes first: look whether the key is there, and make it if it is not. It
// opens the tellings that build a Redis lock up from its mistakes.
//
// It promises nothing. Looking and making are two commands, so two clients that look at the same time both get in,
// without any fault. The key has no expiry: a holder that dies keeps the lock for ever. The key does not say whose it
// is, so DEL removes whatever is there.
func getThenSet() Algorithm {
	return Algorithm{
		Name:      "get-then-set",
		Title:     "EXISTS, then SET: two commands, no expiry, no owner",
		Source:    "the first attempt in many tutorials on Redis locks",
		Status:    Mistake,
		New:       newGetThenSet,
		Authority: OneNode,
		Identity:  "none",
	}
}

type getThenSetLock struct{ oneServer }

func newGetThenSet(o Options) Builder {
	return func(p Process) (Lock, error) { return &getThenSetLock{onOneServer(p, o)}, nil }
}

// Acquire asks with EXISTS and, told that there is no key, makes it with SET.
func (l *getThenSetLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		there, err := l.do("EXISTS")
		if err != nil {
			return Lease{}, err
		}
		if there.Int != 0 {
			return Lease{}, ErrNotAcquired
		}
		// Whoever asks now is told that the lock is free.
		if _, err := l.do("SET", taken); err != nil {
			return Lease{}, err
		}
		return Lease{}, nil
	})
}

// Release removes the key, whoever made it.
func (l *getThenSetLock) Release(Lease) error { return l.del() }
