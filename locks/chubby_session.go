package locks

import (
	"errors"
	"time"
)

// chubbySession is what the library knows of a session (Burrows 2006, 2.8). It keeps one KeepAlive with the master at
// all times. Its own count of the lease is conservative: the master's TTL runs from when it answered, which was no
// earlier than the KeepAlive was sent and as long after as the master has held it. When that count is over, the
// session is in jeopardy: it may be lost or not. If the master is heard of within the grace period it is safe again,
// else it has expired. The paper also allows for a master whose clock is faster, without a number; that is left out.
type chubbySession struct {
	id       uint64
	deadline Monotonic // of the library's count
	jeopardy Signal    // fires when jeopardy begins; another one when it is over
	calm     Signal    // fires when a jeopardy is over, one way or the other
	expired  Signal
	doubtful bool // a call was repeated: the first one may still arrive
}

const (
	chubbyGrace  = 45 * time.Second       // 2.8
	chubbyDial   = time.Second            // how long one try to find the master may take
	chubbyPause  = 100 * time.Millisecond // between such tries
	chubbyLastly = 10 * time.Second       // how long the library bothers about a session that it no longer wants
)

func newChubbySession(w patience, o *Options) (*chubbySession, error) {
	p := w.p
	sent := p.Monotonic()
	id, lives, err := p.Chubby().CreateSession(w.timeout(o.Timeout), o.TTL, o.LockDelay)
	if err != nil {
		return nil, err
	}
	s := &chubbySession{
		id: id, deadline: sent.Add(lives), jeopardy: p.NewSignal(), calm: p.NewSignal(), expired: p.NewSignal(),
	}
	p.Go(s.keep)
	return s, nil
}

// keep sends one KeepAlive after the other until the session has expired.
func (s *chubbySession) keep(p Process) {
	for !s.expired.Fired() {
		sent := p.Monotonic()
		timeout := s.deadline.Sub(sent)
		if timeout <= 0 { // perhaps from the very beginning: the answer that made the session may have been late
			s.jeopardy.Fire()
			timeout = chubbyDial
		}
		held, lives, err := p.Chubby().KeepAlive(timeout, s.id)
		if err == nil {
			s.deadline = sent.Add(held + lives)
		}
		if s.expired.Fired() {
			return
		}
		s.judge(p, err)
		if err != nil {
			p.Wait(chubbyPause, s.expired)
		}
	}
}

// end closes the session without waiting for the master.
func (s *chubbySession) end(p Process) {
	s.expired.Fire()
	p.Go(func(p Process) { _ = p.Chubby().EndSession(chubbyLastly, s.id) })
}

// judge draws the conclusions from how a KeepAlive ended.
func (s *chubbySession) judge(p Process, err error) {
	late := p.Monotonic().Sub(s.deadline)
	switch {
	case errors.Is(err, ErrSessionExpired), late >= chubbyGrace:
		s.expired.Fire()
		s.jeopardy.Fire()
		s.calm.Fire()
	case late >= 0:
		s.jeopardy.Fire()
	case s.jeopardy.Fired():
		s.calm.Fire()
		s.jeopardy, s.calm = p.NewSignal(), p.NewSignal()
	}
}

// settle waits out a jeopardy, as every call of the library does; false if the patience is over before it, or the
// session.
func (s *chubbySession) settle(w patience) bool {
	for s.jeopardy.Fired() && !s.expired.Fired() && !w.over() {
		w.p.Wait(w.left(), s.calm)
	}
	return !s.jeopardy.Fired()
}
