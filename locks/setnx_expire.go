package locks

import (
	"strconv"
	"time"
)

// setnxExpire gives the key of SETNX a time to live with a second command, as code did before SET took NX and PX
// together (Redis 2.6.12).
//
// It promises that a dead holder's lock ends by itself, and breaks the promise: if the client or the server
// dies between the two commands, or EXPIRE is lost, the key stays forever. It shares set-nx-ex-del's release,
// which removes another client's lock after an overrun.
func setnxExpire() Algorithm {
	return Algorithm{
		Name:      "setnx-expire",
		Title:     "SETNX, then EXPIRE as a second command, released by DEL",
		Source:    "tutorials and code older than Redis 2.6.12",
		Status:    Mistake,
		New:       newSetnxExpire,
		Authority: OneNode,
		Identity:  "none",
		Lease:     true,
	}
}

type setnxExpireLock struct{ oneServer }

func newSetnxExpire(o Options) Builder {
	return func(p Process) (Lock, error) { return &setnxExpireLock{onOneServer(p, o)}, nil }
}

// Acquire makes the key if there is none, and then sets its time to live.
func (l *setnxExpireLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		if err := l.setnx(); err != nil {
			return Lease{}, err
		}
		// Any fault here leaves a key that does not expire. So does an error: the next try finds the key that
		// this one made.
		if _, err := l.do("EXPIRE", wholeSeconds(l.options.TTL)); err != nil {
			return Lease{}, err
		}
		return Lease{}, nil
	})
}

// Release removes the key, even if another client made it.
func (l *setnxExpireLock) Release(Lease) error { return l.del() }

// wholeSeconds rounds up: EXPIRE counts in seconds, and 0 would remove the key at once.
func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
