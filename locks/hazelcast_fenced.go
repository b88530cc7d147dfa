package locks

import (
	"errors"
	"fmt"
	"time"
)

// hazelcastFenced is Hazelcast's FencedLock in its CP Subsystem (AbstractFencedLockProxy.java): a thread within the session of its
// process owns the lock, which a Raft group grants in the order of asking. The fence is the place of the request in the group's log. It
// is safe to send a request again, since it names its call: the group answers as it did before.
//
// It promises one owner at a time at the group, and fences that grow with each. It does not promise that a former owner stops: it is
// not told when its session ends. It finds out with its next call, so that only a resource which compares fences is safe from it. The
// group's members count sessions on their wall clocks.
//
// A thread may enter again. So a call that has failed without an answer and that the group carries out later makes the next call a
// second entry, which the thread leaves once: it has the lock until the session is over, which gets no heartbeats then.
func hazelcastFenced() Algorithm {
	return Algorithm{
		Name:       "hazelcast-fenced",
		Title:      "Hazelcast's FencedLock: a session with a Raft group, and a fence",
		Source:     "Hazelcast 5, FencedLock in the CP Subsystem",
		Servers:    "hazelcast",
		New:        newHazelcast("hazelcast"),
		Authority:  OneNode,
		Token:      true,
		Identity:   "session",
		Lease:      true,
		HeedsRenew: true,
		Keeps:      true,
	}
}

type hazelcastLock struct {
	p       Process
	kind    string // of the servers
	client  Hazelcast
	options Options
	within  uint64 // the session in which the thread has the lock, as it knows; 0: it has not
}

func newHazelcast(kind string) func(Options) Builder {
	return func(o Options) Builder {
		o = o.withDefaults()
		if o.Renew == 0 {
			o.Renew = hazelcastBeat
		}
		return func(p Process) (Lock, error) {
			return &hazelcastLock{p: p, kind: kind, client: p.Other(kind).(Hazelcast), options: o}, nil
		}
	}
}

// Acquire is lockAndGetFence, or tryLockAndGetFence with a time. If the session ends meanwhile it asks again in a new one.
func (l *hazelcastLock) Acquire(wait time.Duration) (Lease, error) {
	patience, s, number := patienceOf(l.p, wait), l.client.Session(), l.p.RandomValue()
	for {
		id, err := s.take(l)
		if err != nil {
			return Lease{}, fmt.Errorf("hazelcast session: %w", err)
		}
		if err = l.owned(id); err != nil {
			s.give(id)
			return Lease{}, err
		}
		fence, err := l.lock(id, number, patience.left())
		switch {
		case err == nil && fence != 0:
			l.within = id
			return Lease{Value: fmt.Sprintf("session-%d/%d", id, fence), Token: fence}, nil
		case errors.Is(err, ErrSessionExpired):
			s.end(id)
			if err = l.owned(0); err != nil {
				return Lease{}, err
			}
			if !patience.over() {
				continue
			}
		default:
			s.give(id)
		}
		if err == nil || errors.Is(err, ErrWaitCancelled) {
			err = ErrNotAcquired
		}
		return Lease{}, fmt.Errorf("hazelcast lock %s: %w", l.options.Key, err)
	}
}

// lock asks for the lock.
func (l *hazelcastLock) lock(session uint64, number string, wait time.Duration) (fence uint64, err error) {
	err = l.invoke(func(timeout time.Duration) error {
		fence, err = l.client.Lock(timeout, l.call(session, number), max(wait, Try))
		return err
	})
	return fence, err
}

func (l *hazelcastLock) call(session uint64, number string) HazelcastCall {
	return HazelcastCall{Session: session, Thread: l.p.Owner(), Lock: l.options.Key, Number: number}
}

// owned finds out that the session in which the thread had the lock is not the present one: it has lost the lock
// (LockOwnershipLostException).
func (l *hazelcastLock) owned(session uint64) error {
	if l.within == 0 || l.within == session {
		return nil
	}
	l.within = 0
	return fmt.Errorf("hazelcast lock %s: its session was closed: %w", l.options.Key, ErrNotHeld)
}

// invoke sends a request until it is answered, for two minutes (ClientInvocation.java): requests of locks and sessions may be
// repeated.
func (l *hazelcastLock) invoke(request func(timeout time.Duration) error) error {
	began, pause := l.p.Monotonic(), time.Millisecond
	for {
		err := request(l.options.Timeout)
		if !disturbed(err) || l.p.Monotonic().Sub(began) >= hazelcastInvoke {
			return err
		}
		l.p.Sleep(pause)
		pause = min(2*pause, hazelcastPause)
	}
}

// Release is unlock. A client that has no session, or another one, does not ask the group.
func (l *hazelcastLock) Release(Lease) error {
	s, number, still := l.client.Session(), l.p.RandomValue(), false
	id := s.id
	if err := l.owned(id); err != nil {
		return err
	}
	if id == 0 {
		return ErrNotHeld
	}
	err := l.invoke(func(timeout time.Duration) (err error) {
		still, err = l.client.Unlock(timeout, l.call(id, number))
		return err
	})
	switch {
	case errors.Is(err, ErrSessionExpired):
		s.end(id)
		return l.owned(0)
	case errors.Is(err, ErrNotHeld): // the session stays in use
		l.within = 0
	case err == nil:
		if !still {
			l.within = 0
		}
		s.give(id)
	}
	return err
}
