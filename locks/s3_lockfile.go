package locks

import (
	"errors"
	"fmt"
	"time"
)

// s3Lockfile is the lock of Terraform's S3 backend with use_lockfile (internal/backend/remote-state/s3/client.go): an object that is
// put unless there is one, and contains a random id. To unlock is to read it, compare the id, and delete it, in two requests.
//
// It promises that nobody else has the lock until somebody deletes the object. It never ends by itself: the lock of a dead
// process stays until a person runs force-unlock. A client whose PUT is carried out while its answer is lost sends it again, by
// AWS's SDK, and is told that there is an object: it is its own, and nobody will delete it. And as the DELETE has no condition, one
// that is sent again, or comes late, deletes the next holder's object.
func s3Lockfile() Algorithm {
	return Algorithm{
		Name:      "s3-lockfile",
		Title:     "Terraform's lock file on S3: an object that is put unless there is one, without an end",
		Source:    "hashicorp/terraform 1.10, use_lockfile of the S3 backend",
		Status:    Mistake,
		Servers:   "object",
		New:       newS3Lockfile,
		Authority: OneNode,
		Identity:  "value",
	}
}

type s3LockfileLock struct{ onObjects }

func newS3Lockfile(o Options) Builder {
	return func(p Process) (Lock, error) { return &s3LockfileLock{newOnObjects(p, o)}, nil }
}

// Acquire puts the object, and tries again with growing delays (statemgr.LockWithContext).
func (l *s3LockfileLock) Acquire(wait time.Duration) (Lease, error) {
	const longest = 16 * time.Second
	w, id := patienceOf(l.p, wait), l.p.RandomValue()
	for delay := time.Second; ; delay = min(2*delay, longest) {
		_, err := retriedByAWS(l.p, func() (Object, error) {
			return l.at(l.p).Put(l.options.Timeout, Object{Name: l.options.Key, Value: id}, ObjectWrite{Purpose: "acquire", IfAbsent: true})
		})
		if err == nil {
			return Lease{Value: id}, nil
		}
		if answered(err) {
			err = ErrNotAcquired
		}
		if w.over() {
			return Lease{}, err
		}
		l.p.Sleep(min(delay, w.left()))
	}
}

// Release deletes the object if its id is the lease's.
func (l *s3LockfileLock) Release(lease Lease) error {
	found, err := l.at(l.p).Get(l.options.Timeout, l.options.Key)
	switch {
	case errors.Is(err, ErrNoObject) || err == nil && found.Value != lease.Value:
		return ErrNotHeld
	case err != nil:
		return fmt.Errorf("s3 get %s: %w", l.options.Key, err)
	}
	_, err = retriedByAWS(l.p, func() (Object, error) {
		return Object{}, l.at(l.p).Delete(l.options.Timeout, l.options.Key, ObjectWrite{Purpose: "release"})
	})
	if errors.Is(err, ErrNoObject) { // S3 answers as if there had been one
		return nil
	}
	return err
}
