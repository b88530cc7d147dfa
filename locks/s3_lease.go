package locks

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// s3Lease is the lock of objsync (dpeckett/objsync, mutex.go): an object that says whose it is and until when, by its writer's wall
// clock, and how often it has changed hands, which makes a fencing token. Each write has the version that was read as its condition.
// The first one, when there is no object, is put on condition that there is none, which S3 has been able to do since August 2024.
//
// It promises one holder at a time if all wall clocks show the same and holders stop in time, and tokens that grow whatever clocks
// show. It fails when clocks differ by more than what holders leave of their lease: one that is ahead takes a lock that is held, and one
// that was ahead when it died keeps all others away until their clocks show what it wrote.
//
// If the answer to a PUT is lost and AWS's SDK sends it again, its condition no longer holds: the client takes its own lease for
// another's, and waits for its end. Waiters look ever more seldom: the pauses double, without a bound.
func s3Lease() Algorithm {
	return Algorithm{
		Name:      "s3-lease",
		Title:     "an object on S3 with an expiry by the clients' clocks, put if it has not changed",
		Source:    "dpeckett/objsync, with If-None-Match for the first put",
		Servers:   "object",
		New:       newS3Lease(true),
		Authority: OneNode,
		Deadline:  OnWall,
		Token:     true,
		Identity:  "value",
		Lease:     true,
	}
}

type s3LeaseLock struct {
	onObjects
	ifAbsent bool // the first put has a condition
	held     map[string]Object
}

// s3LeaseContent is what the object contains. Times are nanoseconds since 1970.
type s3LeaseContent struct {
	ID      string `json:"id,omitempty"`
	Expires Wall   `json:"expires,omitempty"`
	Fence   uint64 `json:"fence,omitempty"`
}

func newS3Lease(ifAbsent bool) func(Options) Builder {
	return func(o Options) Builder {
		return func(p Process) (Lock, error) {
			return &s3LeaseLock{onObjects: newOnObjects(p, o), ifAbsent: ifAbsent, held: map[string]Object{}}, nil
		}
	}
}

// Acquire tries with growing pauses (the defaults of avast/retry-go).
func (l *s3LeaseLock) Acquire(wait time.Duration) (Lease, error) {
	const jitter = 100 * time.Millisecond
	w, id := patienceOf(l.p, wait), l.p.RandomValue()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, time.Hour) {
		lease, err := l.try(id)
		if err == nil {
			return lease, nil
		}
		if w.over() {
			return Lease{}, err
		}
		l.p.Sleep(min(pause+time.Duration(l.p.Uniform(int64(jitter))), w.left()))
	}
}

// try takes the lease if it is over by the own clock (TryLock).
func (l *s3LeaseLock) try(id string) (Lease, error) {
	found, content, err := l.read()
	if err != nil {
		return Lease{}, err
	}
	if content.Expires != 0 && l.p.Wall() <= content.Expires {
		return Lease{}, ErrNotAcquired
	}
	content = s3LeaseContent{ID: id, Expires: l.p.Wall().Add(l.options.TTL), Fence: content.Fence + 1}
	w := ObjectWrite{
		Purpose: "acquire", Life: l.options.TTL, Until: content.Expires, IfVersion: found.Version, IfAbsent: found.Version == 0 && l.ifAbsent,
	}
	o, err := l.write(content, w)
	switch {
	case answered(err):
		return Lease{}, ErrNotAcquired
	case err != nil:
		return Lease{}, err
	}
	l.held[id] = o
	return Lease{Value: id, Token: content.Fence, Deadline: WallDeadline(content.Expires)}, nil
}

// read reads the object; one that is not there has no version.
func (l *s3LeaseLock) read() (found Object, content s3LeaseContent, err error) {
	found, err = retriedByAWS(l.p, func() (Object, error) { return l.at(l.p).Get(l.options.Timeout, l.options.Key) })
	switch {
	case errors.Is(err, ErrNoObject):
		return Object{}, content, nil
	case err != nil:
		return Object{}, content, fmt.Errorf("s3 get %s: %w", l.options.Key, err)
	}
	if err := json.Unmarshal([]byte(found.Value), &content); err != nil {
		return Object{}, content, fmt.Errorf("s3 %s: %w", l.options.Key, err)
	}
	return found, content, nil
}

// write puts the object.
func (l *s3LeaseLock) write(content s3LeaseContent, w ObjectWrite) (Object, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return Object{}, err
	}
	return retriedByAWS(l.p, func() (Object, error) {
		return l.at(l.p).Put(l.options.Timeout, Object{Name: l.options.Key, Value: string(raw)}, w)
	})
}

// Release reads the object, and writes it without a holder if it is the own one. It says nothing if it is not.
func (l *s3LeaseLock) Release(lease Lease) error {
	held, ok := l.held[lease.Value]
	if !ok {
		return ErrNotHeld
	}
	delete(l.held, lease.Value)
	found, content, err := l.read()
	if err != nil || found.Version != held.Version {
		return err
	}
	if _, err := l.write(s3LeaseContent{Fence: content.Fence}, ObjectWrite{Purpose: "release", IfVersion: found.Version}); !answered(err) {
		return err
	}
	return nil
}
