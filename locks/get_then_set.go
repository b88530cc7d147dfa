package locks

import "time"

// getThenSet is the lock that many authors write first: check whether the key exists, and create it if it does
// not. It is the first in the explanations that develop a Redis lock from its mistakes.
//
// It promises nothing. Check and creation are two commands, so two clients that check at the same time both
// acquire it, without any fault. The key has no expiry: a holder that dies keeps the lock forever. The key does
// not identify its owner, so DEL removes any client's key.
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

// Acquire checks with EXISTS and, if there is no key, creates it with SET.
func (l *getThenSetLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		there, err := l.do("EXISTS")
		if err != nil {
			return Lease{}, err
		}
		if there.Int != 0 {
			return Lease{}, ErrNotAcquired
		}
		// A client that checks now is told that the lock is free.
		if _, err := l.do("SET", taken); err != nil {
			return Lease{}, err
		}
		return Lease{}, nil
	})
}

// Release removes the key, even if another client made it.
func (l *getThenSetLock) Release(Lease) error { return l.del() }
