package locks

import "time"

// setnx is the lock in the SETNX command's old documentation, without the time stamp that it advised to store.
//
// It promises mutual exclusion as long as the server keeps the key and no client releases a lock that it does
// not hold. The key has no expiry: a holder that dies keeps the lock forever.
func setnx() Algorithm {
	return Algorithm{
		Name:      "setnx",
		Title:     "SETNX, released by DEL: no expiry, no owner",
		Source:    "Redis documentation of SETNX (the pattern it now discourages)",
		Status:    Superseded,
		New:       newSetnx,
		Authority: OneNode,
		Identity:  "none",
	}
}

type setnxLock struct{ oneServer }

func newSetnx(o Options) Builder {
	return func(p Process) (Lock, error) { return &setnxLock{onOneServer(p, o)}, nil }
}

// Acquire makes the key if there is none.
func (l *setnxLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) { return Lease{}, l.setnx() })
}

// setnx makes the key without a time to live, unless there is one.
func (s *oneServer) setnx() error {
	made, err := s.do("SETNX", taken)
	if err != nil {
		return err
	}
	if made.Int == 0 {
		return ErrNotAcquired
	}
	return nil
}

// Release removes the key, even if another client made it.
func (l *setnxLock) Release(Lease) error { return l.del() }
