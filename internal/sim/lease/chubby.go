package lease

import "time"

// Chubby is M. Burrows, "The Chubby lock service for loosely-coupled distributed systems" (OSDI 2006). The master keeps
// a session alive by answering KeepAlives, which it holds back until the lease is close to its end (2.8); how close is
// not said there. A new master has a new epoch, and gives every session a whole lease (2.9). A lock whose holder has
// failed or become unreachable is kept from others for its lock-delay (2.4), for which there is no default in the
// paper; here a lock-delay belongs to a session, not to a lock. Not simulated: that a new master serves no client until
// all sessions have heard of it, the cache, directories and access control.
func Chubby() Dialect {
	return Dialect{
		Name:         "chubby",
		TTL:          12 * time.Second,
		MinTTL:       time.Second,
		MaxTTL:       time.Minute,
		Unit:         1,
		Lives:        1,
		Ahead:        6,
		MaxLockDelay: time.Minute,
		Election:     5 * time.Second, // "typically a few seconds" (2.2)
		MovesClients: true,
	}
}

// keepAlive answers a KeepAlive when the lease is close to its end, and thereby extends it; at once if it came on a
// new connection, since the client may have missed the last answer, or has lost its master.
func (s *Server) keepAlive(c *call) *Response {
	v := s.session(c.request.Session)
	if v == nil {
		return &Response{Request: c.request, Err: NoSession, Epoch: s.epoch}
	}
	moved := v.conn != c.conn
	v.conn = c.conn
	left := time.Duration(v.deadline - s.node.Monotonic())
	if early := left - v.ttl/time.Duration(s.dialect.Ahead); early > 0 && !moved && !c.late {
		c.ringAfter(early)
		s.awaitSession(c, v)
		return nil
	}
	s.refresh(v, 0)
	held := time.Duration(s.node.Monotonic() - c.since)
	return &Response{Request: c.request, Session: v.id, TTL: v.ttl, Held: held, Epoch: s.epoch}
}

// acquireOrWait is Acquire: it waits for the lock in the order of asking.
func (s *Server) acquireOrWait(c *call) *Response {
	a := s.acquire(c.request)
	if a.Err != "" || a.Succeeded {
		return a
	}
	if left := s.delayed(c.request.Key); left > 0 {
		c.ringAfter(left)
	}
	s.awaitKey(c)
	return nil
}

// checkSequencer reports whether the lock is still held, and by the one who was given the sequencer.
func (s *Server) checkSequencer(r *Request) *Response {
	k := s.store.keys[r.Key]
	return &Response{Request: r, Succeeded: k != nil && k.Session != 0 && k.LockIndex == r.Index}
}
