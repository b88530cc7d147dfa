package locks

import (
	"fmt"
	"time"
)

// consul is the lock of Consul's Go library (api/lock.go): a session that is renewed in the background acquires a key.
// Consul ends a session that is not renewed, and gives the key to nobody for the lock-delay, so that a holder who still
// believes may notice.
//
// It promises mutual exclusion while the session lives and for the lock-delay after it, and a token, the key's
// LockIndex. It fails when the holder believes for longer: its notice of loss is a query on the key that returns only
// when the servers answer it, so that a holder who is cut off does not learn of anything (Consul issue 18271).
func consul() Algorithm {
	return Algorithm{
		Name:      "consul",
		Title:     "Consul: a session acquires a key, which a lock-delay keeps from others when the session has ended",
		Source:    "Consul's Go client, api.Lock",
		Servers:   "consul",
		New:       newConsul,
		Authority: OneNode,
		Token:     true,
		Identity:  "session",
		Lease:     true,
		Keeps:     true,
	}
}

// The library's numbers (api/lock.go).
const (
	consulWait  = 15 * time.Second // DefaultLockWaitTime: how long one query for a change waits
	consulRetry = 5 * time.Second  // DefaultLockRetryTime: after a refusal though nobody holds, which is a lock-delay's
)

type consulLock struct {
	p       Process
	consul  Consul
	options Options
	session *consulSession
}

// consulSession is a session of one acquisition.
type consulSession struct {
	id   uint64
	over Signal // it is no longer needed
}

func newConsul(o Options) Builder {
	return func(p Process) (Lock, error) {
		return &consulLock{p: p, consul: p.Consul(), options: o.withDefaults()}, nil
	}
}

// Acquire makes a session, and waits until it can acquire the key.
func (l *consulLock) Acquire(wait time.Duration) (Lease, error) {
	patience := patienceOf(l.p, wait)
	id, err := l.consul.CreateSession(patience.timeout(l.options.Timeout), l.options.TTL, l.options.LockDelay)
	if err != nil {
		return Lease{}, fmt.Errorf("consul session: %w", err)
	}
	s := &consulSession{id: id, over: l.p.NewSignal()}
	l.p.Go(func(p Process) { l.renew(p, s) })
	pair, err := l.await(s, patience)
	if err != nil {
		s.over.Fire()
		return Lease{}, err
	}
	lost := l.p.NewSignal()
	l.p.Go(func(p Process) { l.monitor(p, s, lost) })
	l.session = s
	return Lease{Value: fmt.Sprintf("session-%d", s.id), Token: pair.LockIndex, Lost: lost}, nil
}

// await is Lock's loop: wait while somebody has the key, try to acquire it, and find out why not.
func (l *consulLock) await(s *consulSession, w patience) (ConsulPair, error) {
	index := int64(0)
	for try := 1; ; try++ {
		if w.over() && try > 1 {
			return ConsulPair{}, ErrNotAcquired
		}
		pair, err := l.get(w, index, min(w.left(), consulWait))
		if err != nil {
			return ConsulPair{}, err
		}
		if pair.Session != 0 && pair.Session != s.id {
			index = pair.Index
			continue
		}
		acquired, err := l.consul.Acquire(w.timeout(l.options.Timeout), l.options.Key, s.id)
		if err != nil {
			return ConsulPair{}, fmt.Errorf("consul acquire %s: %w", l.options.Key, err)
		}
		pair, err = l.get(w, 0, 0)
		switch {
		case err != nil:
			return ConsulPair{}, err
		case acquired && pair.Session == s.id:
			return pair, nil // the library's monitor reads it, and so do users of a sequencer
		case pair.Session != 0:
			index = pair.Index
		default:
			index = 0
			l.p.Sleep(min(consulRetry, max(w.left(), 0)))
		}
	}
}

// get reads the key. What waits for a change may take its wait, and the servers' sixteenth more, besides.
func (l *consulLock) get(w patience, index int64, wait time.Duration) (ConsulPair, error) {
	limit := l.options.Timeout
	if limit > 0 && index > 0 {
		limit += wait + wait/16
	}
	pair, err := l.consul.Get(w.timeout(limit), l.options.Key, index, wait)
	if err != nil {
		return ConsulPair{}, fmt.Errorf("consul get %s: %w", l.options.Key, err)
	}
	return pair, nil
}

// renew renews the session every half of its TTL, and tells nobody if it cannot; in the end it destroys it
// (api/session.go, RenewPeriodic).
func (l *consulLock) renew(p Process, s *consulSession) {
	consul, ttl := p.Consul(), l.options.TTL
	pause, last := ttl/2, p.Monotonic()
	for p.Monotonic().Sub(last) <= ttl {
		if p.Wait(pause, s.over) == 0 {
			_ = consul.DestroySession(l.options.Timeout, s.id)
			return
		}
		renewed, err := consul.RenewSession(l.options.Timeout, s.id)
		switch {
		case disturbed(err):
			pause = time.Second
		case err != nil:
			return
		default:
			ttl, last = renewed, p.Monotonic()
			pause = ttl / 2
		}
	}
}

// monitor waits for the key to be another's, or for a query to fail (Lock.monitorLock, without retries, as is the
// library's default).
func (l *consulLock) monitor(p Process, s *consulSession, lost Signal) {
	consul, index := p.Consul(), int64(0)
	for {
		pair, err := consul.Get(0, l.options.Key, index, 0)
		if err != nil || pair.Session != s.id {
			lost.Fire()
			return
		}
		index = pair.Index
	}
}

// Release releases the key, and then ends the session.
func (l *consulLock) Release(Lease) error {
	s := l.session
	defer s.over.Fire()
	released, err := l.consul.Release(l.options.Timeout, l.options.Key, s.id)
	switch {
	case err != nil:
		return fmt.Errorf("consul release %s: %w", l.options.Key, err)
	case !released:
		return ErrNotHeld
	}
	return nil
}
