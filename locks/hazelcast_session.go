package locks

import (
	"cmp"
	"errors"
	"time"
)

// HazelcastSession is the session of a process with a CP group (AbstractProxySessionManager.java). It is made when a thread asks for
// a lock, and gets heartbeats for as long as a thread has a lock or asks for one. A heartbeat that is answered by an error ends it here; no
// thread is told. One that is not in use, and as old as the TTL, is taken for over.
type HazelcastSession struct {
	id   uint64 // 0: there is none
	uses int
	ends Wall   // if it is not in use
	made Signal // a task makes it; nil if none does
	over Signal // it is no longer the process's
}

// The client's numbers.
const (
	hazelcastBeat   = 5 * time.Second   // session-heartbeat-interval-seconds
	hazelcastSilent = 60 * time.Second  // hazelcast.client.heartbeat.timeout: without an answer, it closes the connection
	hazelcastInvoke = 120 * time.Second // hazelcast.client.invocation.timeout.seconds: so long it sends a request again
	hazelcastPause  = time.Second       // hazelcast.client.invocation.retry.pause.millis
)

// take returns the session for one more use. It makes one if there is none.
func (s *HazelcastSession) take(l *hazelcastLock) (uint64, error) {
	for s.made != nil && !s.made.Fired() {
		l.p.Wait(Forever, s.made)
	}
	if s.uses == 0 && l.p.Wall() > s.ends {
		s.end(s.id)
	}
	if s.id == 0 {
		s.made = l.p.NewSignal()
		defer s.made.Fire()
		err := l.invoke(func(timeout time.Duration) (err error) {
			s.id, err = l.client.CreateSession(cmp.Or(timeout, hazelcastSilent), l.options.TTL)
			if errors.Is(err, ErrUnknown) {
				l.client.Reconnect()
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		s.uses, s.ends, s.over = 0, l.p.Wall().Add(l.options.TTL), l.p.NewSignal()
		id := s.id
		l.p.Go(func(p Process) { s.beat(p, p.Other(l.kind).(Hazelcast), id, min(l.options.Renew, l.options.TTL/2)) })
	}
	s.uses++
	return s.id, nil
}

// give ends a use of a session.
func (s *HazelcastSession) give(id uint64) {
	if s.id == id {
		s.uses--
	}
}

// end forgets a session that the group has ended.
func (s *HazelcastSession) end(id uint64) {
	if id != 0 && s.id == id {
		s.id, s.uses = 0, 0
		s.over.Fire()
	}
}

// beat sends heartbeats. If none is answered for long it takes the connection for dead, as the client does by heartbeats of its own.
func (s *HazelcastSession) beat(p Process, client Hazelcast, id uint64, every time.Duration) {
	over, last, heard := s.over, p.Monotonic(), p.Monotonic()
	for p.Wait(max(last.Add(every).Sub(p.Monotonic()), 0), over) < 0 {
		last = p.Monotonic()
		if s.uses == 0 {
			heard = last
			continue
		}
		switch err := client.Heartbeat(every, id); {
		case err == nil:
			heard = p.Monotonic()
		case errors.Is(err, ErrSessionExpired):
			s.end(id)
		case p.Monotonic().Sub(heard) >= hazelcastSilent:
			client.Reconnect()
			heard = p.Monotonic()
		}
	}
}
