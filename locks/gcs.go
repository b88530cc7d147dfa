package locks

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// gcs is Hongli Lai's lock on Google Cloud Storage ("A robust distributed locking algorithm based on Google Cloud Storage", 2021;
// lock.rb of distributed-lock-google-cloud-storage): an empty object that is put unless there is one, whose metadata say whose it
// is and until when, by its writer's clock. A background task writes a later time again and again. Others delete the object when the
// time is over by their own clock, and try again. An object that names the task itself is left of an earlier life, and is deleted at once.
//
// It promises one holder at a time if all clocks show the same and holders stop when they are told that the lock is unhealthy: three
// refreshes in succession have failed, or one was refused.
//
// All refreshes and deletions have the metageneration as their condition, which counts the changes of one object's metadata. It
// begins with 1 for each new object, so that it means something with a generation only (Google's documentation,
// "Generations and preconditions"). A holder that comes too late for its first refresh prolongs its successor's lock in the place of
// its own, and the successor is told that the lock is lost; and one that unlocks then deletes the successor's.
func gcs() Algorithm {
	return Algorithm{
		Name:       "gcs",
		Title:      "an object on Google Cloud Storage with an expiry, kept and deleted if its metageneration is the same",
		Source:     "H. Lai, distributed-lock-google-cloud-storage 1.1.0",
		Status:     Mistake,
		Servers:    "object",
		New:        newGCS(false),
		Authority:  OneNode,
		Identity:   "owner",
		HeedsRenew: true,
		Lease:      true,
		Keeps:      true,
	}
}

// The library's numbers (constants.rb).
const (
	gcsFails      = 3 // refreshes in succession that make a lock unhealthy
	gcsBackoffMin = time.Second
	gcsBackoffMax = 30 * time.Second
)

type gcsLock struct {
	onObjects
	generation bool // conditions name it
	held       *gcsHold
}

// gcsHold is the lock while this task has it.
type gcsHold struct {
	object         Object
	unlocks, ended Signal
}

// gcsMetadata is the object's metadata.
type gcsMetadata struct {
	ExpiresAt Wall   `json:"expires_at"` // in nanoseconds since 1970
	Identity  string `json:"identity,omitempty"`
}

func newGCS(generation bool) func(Options) Builder {
	return func(o Options) Builder {
		return func(p Process) (Lock, error) {
			l := &gcsLock{onObjects: newOnObjects(p, o), generation: generation}
			if l.options.Renew == 0 {
				l.options.Renew = l.options.TTL / (3 * gcsFails)
			}
			return l, nil
		}
	}
}

// when is the condition that an object is as it was read or written.
func (l *gcsLock) when(purpose string, o Object) ObjectWrite {
	w := ObjectWrite{Purpose: purpose, IfMeta: o.Meta}
	if l.generation {
		w.IfVersion = o.Version
	}
	return w
}

// metadataOfGCS says whose an object is, if that is not there already, and until when from now on; the request says the latter, too.
func metadataOfGCS(p Process, ttl time.Duration, identity string, w ObjectWrite) (string, ObjectWrite, error) {
	w.Life, w.Until = ttl, p.Wall().Add(ttl)
	raw, err := json.Marshal(gcsMetadata{ExpiresAt: w.Until, Identity: identity})
	return string(raw), w, err
}

// Acquire makes the object, or sees why it is there (lock).
func (l *gcsLock) Acquire(wait time.Duration) (Lease, error) {
	w, pause := patienceOf(l.p, wait), gcsBackoffMin
	for {
		made, err := l.make()
		if err == nil {
			return l.holds(made), nil
		}
		again := false
		if answered(err) {
			if again, err = l.investigate(); err == nil {
				err = ErrNotAcquired
			}
		}
		switch {
		case w.over():
			return Lease{}, err
		case again:
			continue
		}
		l.p.Sleep(min(pause, w.left()))
		pause = min(gcsBackoffMin+time.Duration(l.p.Uniform(int64(2*pause-gcsBackoffMin)+1)), gcsBackoffMax)
	}
}

// make puts the object if there is none.
func (l *gcsLock) make() (Object, error) {
	raw, w, err := metadataOfGCS(l.p, l.options.TTL, l.p.Owner(), ObjectWrite{Purpose: "acquire", IfAbsent: true})
	if err != nil {
		return Object{}, err
	}
	return retriedByGoogle(l.p, func() (Object, error) {
		return l.at(l.p).Put(l.options.Timeout, Object{Name: l.options.Key, Value: raw}, w)
	})
}

// investigate looks at the object that is there, and deletes it if nobody has the lock. It reports whether to try again at once.
func (l *gcsLock) investigate() (again bool, err error) {
	found, err := l.at(l.p).Get(l.options.Timeout, l.options.Key)
	switch {
	case errors.Is(err, ErrNoObject):
		return true, nil
	case err != nil:
		return false, err
	}
	var there gcsMetadata
	if err := json.Unmarshal([]byte(found.Value), &there); err != nil {
		return false, fmt.Errorf("gcs %s: %w", l.options.Key, err)
	}
	own := there.Identity == l.p.Owner()
	if own || l.p.Wall() > there.ExpiresAt {
		err = l.delete(l.when("clear", found))
	}
	if answered(err) {
		err = nil
	}
	return own, err
}

func (l *gcsLock) delete(w ObjectWrite) error {
	_, err := retriedByGoogle(l.p, func() (Object, error) {
		return Object{}, l.at(l.p).Delete(l.options.Timeout, l.options.Key, w)
	})
	return err
}

// holds returns the lease on an object, and begins to refresh it.
func (l *gcsLock) holds(made Object) Lease {
	h := &gcsHold{object: made, unlocks: l.p.NewSignal()}
	lost := l.p.NewSignal()
	l.held = h
	h.ended = l.p.Go(func(p Process) { l.refresh(p, h, lost) })
	return Lease{Value: l.p.Owner(), Lost: lost}
}

// refresh writes a later time again and again, and says so if it cannot (refresher_thread_main).
func (l *gcsLock) refresh(p Process, h *gcsHold, lost Signal) {
	for due, fails := p.Monotonic().Add(l.options.Renew), 0; fails < gcsFails; {
		if p.Wait(max(due.Sub(p.Monotonic()), 0), h.unlocks) == 0 {
			return
		}
		due = p.Monotonic().Add(l.options.Renew)
		raw, w, err := metadataOfGCS(p, l.options.TTL, "", l.when("renew", h.object))
		if err == nil {
			var o Object
			o, err = retriedByGoogle(p, func() (Object, error) {
				return l.at(p).Patch(l.options.Timeout, Object{Name: l.options.Key, Value: raw}, w)
			})
			if err == nil {
				h.object = o
			}
		}
		switch {
		case err == nil:
			fails = 0
		case answered(err):
			fails = gcsFails
		default:
			fails++
		}
	}
	lost.Fire()
}

// Release stops refreshing, and deletes the object (unlock).
func (l *gcsLock) Release(Lease) error {
	h := l.held
	if h == nil {
		return ErrNotHeld
	}
	l.held = nil
	h.unlocks.Fire()
	l.p.Wait(Forever, h.ended)
	if err := l.delete(l.when("release", h.object)); !answered(err) {
		return err
	}
	return ErrNotHeld
}

// retriedByGoogle sends a request up to four times, as Google's client for Ruby does if there is no answer, or an error of the
// service, with growing pauses (google-apis-core, retries: 3, first after a second).
func retriedByGoogle(p Process, request func() (Object, error)) (Object, error) {
	for pause := time.Second; ; pause *= 2 {
		o, err := request()
		if err == nil || answered(err) || pause > 4*time.Second {
			return o, err
		}
		p.Sleep(pause)
	}
}
