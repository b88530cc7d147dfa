package locks

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// chubby is an exclusive lock of Chubby, kept by a session. When its holder has failed or cannot be reached, the cell
// keeps it from others for the lock-delay; its generation number is what a sequencer proves, to a server that compares
// it with the largest it has seen.
//
// It promises mutual exclusion to holders who stop at a jeopardy. It fails where they do not, or cannot in time: the
// lock-delay narrows that window, and only the sequencer closes it.
func chubby() Algorithm {
	return Algorithm{
		Name:      "chubby",
		Title:     "Chubby: a session's lease, a lock-delay, and a sequencer",
		Source:    "Burrows, The Chubby lock service (OSDI 2006), 2.4 and 2.8",
		Status:    Unavailable,
		Servers:   "chubby",
		New:       newChubby,
		Authority: OneNode,
		Token:     true,
		Identity:  "session",
		Lease:     true,
		Keeps:     true,
	}
}

type chubbyLock struct {
	p       Process
	options Options
	session *chubbySession
}

func newChubby(o Options) Builder {
	return func(p Process) (Lock, error) { return &chubbyLock{p: p, options: o.withDefaults()}, nil }
}

// Acquire waits for the lock, across changes of the master.
func (l *chubbyLock) Acquire(wait time.Duration) (Lease, error) {
	patience := patienceOf(l.p, wait)
	if l.session == nil || l.session.expired.Fired() {
		s, err := newChubbySession(patience, &l.options)
		if err != nil {
			return Lease{}, fmt.Errorf("chubby session: %w", err)
		}
		l.session = s
	}
	generation, err := l.ask(patience)
	switch {
	case err == nil && l.session.settle(patience):
		return l.lease(generation), nil
	case errors.Is(err, ErrNotAcquired) && !l.session.doubtful: // nothing of it is left
	default:
		err = cmp.Or(err, ErrNotAcquired)
		l.giveUp()
	}
	return Lease{}, fmt.Errorf("chubby acquire %s: %w", l.options.Key, err)
}

// ask asks for the lock.
func (l *chubbyLock) ask(w patience) (generation uint64, err error) {
	err = l.insist(w, func(c Chubby) error {
		if w.wait == Try {
			generation, err = c.TryAcquire(w.timeout(l.options.Timeout), l.session.id, l.options.Key)
		} else {
			generation, err = c.Acquire(w.timeout(0), l.session.id, l.options.Key)
		}
		return err
	})
	return generation, err
}

// insist makes a call until it is answered, through changes of the master and jeopardies, as long as the session may
// live.
func (l *chubbyLock) insist(w patience, call func(c Chubby) error) error {
	for {
		err := call(l.p.Chubby())
		if !disturbed(err) && !errors.Is(err, ErrNewMaster) {
			return err
		}
		l.session.doubtful = true
		l.p.Wait(min(chubbyPause, max(w.left(), 0)), l.session.expired)
		if !l.session.settle(w) || w.over() {
			return err
		}
	}
}

// giveUp ends a session of which something may still be on its way: it comes too late to do harm to a later one.
func (l *chubbyLock) giveUp() {
	l.session.end(l.p)
	l.session = nil
}

func (l *chubbyLock) lease(generation uint64) Lease {
	return Lease{
		Value: fmt.Sprintf("session-%d/%d", l.session.id, generation), Token: generation, Lost: l.session.jeopardy,
	}
}

// Release releases the lock. The session continues unless one of its calls had to be repeated. Without a
// session no lock is held: a Release that failed has ended it.
func (l *chubbyLock) Release(Lease) error {
	if l.session == nil {
		return ErrNotHeld
	}
	held, doubtful := false, l.session.doubtful
	err := l.insist(patienceOf(l.p, Forever), func(c Chubby) (err error) {
		held, err = c.Release(l.options.Timeout, l.session.id, l.options.Key)
		return err
	})
	repeated := l.session.doubtful && !doubtful
	if l.session.doubtful || err != nil {
		l.giveUp()
	}
	switch {
	case err != nil:
		return fmt.Errorf("chubby release %s: %w", l.options.Key, err)
	case !held && !repeated: // else the first of the calls gave it back
		return ErrNotHeld
	}
	return nil
}
