package lease

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// session is a session, or a lease. Its identity and parameters are replicated; its end is known to the leader alone,
// which keeps it in memory: a renewal takes no quorum (etcd: lease/lessor.go, Renew; Consul: session_ttl.go).
type session struct {
	id        SessionID
	client    string // who opened it
	ttl       time.Duration
	lockDelay time.Duration
	deletes   bool // its keys end with it; else they are released

	deadline int64 // on the leader's monotonic clock, or its wall clock
	timer    *sim.Timer
	conn     *sim.Conn // on which the last KeepAlive came
	calls    []*call   // which wait for the session's end, or for the leader's
}

// session returns a session; nil if it is over.
func (s *Server) session(id SessionID) *session {
	if i, found := s.find(id); found {
		return s.sessions[i]
	}
	return nil
}

func (s *Server) find(id SessionID) (int, bool) {
	return slices.BinarySearchFunc(s.sessions, id, func(v *session, id SessionID) int { return cmp.Compare(v.id, id) })
}

// open begins a session.
func (s *Server) open(c *call) *Response {
	r := c.request
	ttl, ok := s.dialect.Given(r.TTL)
	if r.Etcd != nil && r.TTL > s.dialect.MaxTTL {
		return &Response{Request: r, Err: LargeTTL}
	}
	if !ok {
		return &Response{Request: r, Err: BadTTL}
	}
	id, refused := s.newID(r)
	if refused != "" {
		return &Response{Request: r, Err: refused}
	}
	v := &session{
		id: id, client: c.client(), ttl: ttl, lockDelay: s.dialect.lockDelay(r.LockDelay),
		deletes: s.dialect.Deletes || r.Delete, conn: c.conn,
	}
	v.timer = s.node.NewTimer(alarm(func() { s.expire(v) }))
	i, _ := s.find(id)
	s.sessions = slices.Insert(s.sessions, i, v)
	s.refresh(v, 0)
	return &Response{Request: r, Succeeded: true, Session: v.id, TTL: ttl, Epoch: s.epoch}
}

// newID returns the next session's identity, or the one that a client of etcd wants, and why it cannot have it.
func (s *Server) newID(r *Request) (id SessionID, refused string) {
	if r.Etcd != nil && r.Session != 0 {
		if s.session(r.Session) != nil {
			return 0, LeaseExists
		}
		return r.Session, ""
	}
	for s.lastID++; s.session(s.lastID) != nil; s.lastID++ { // clients have taken these
	}
	return s.lastID, ""
}

// Given returns the TTL that a client gets if it asks for the given one, 0 for the service's default; false if
// the service refuses it.
func (d *Dialect) Given(asked time.Duration) (time.Duration, bool) {
	if asked == 0 {
		asked = d.TTL
	}
	given := min(max(asked, d.MinTTL), d.MaxTTL)
	if d.Strict && given != asked {
		return 0, false
	}
	return (given + d.Unit - 1) / d.Unit * d.Unit, true
}

func (d *Dialect) lockDelay(asked time.Duration) time.Duration {
	if asked == 0 {
		asked = d.LockDelay
	}
	return min(max(asked, 0), d.MaxLockDelay)
}

// refresh restarts a session's TTL.
func (s *Server) refresh(v *session, extend time.Duration) {
	until := s.clock() + int64(v.ttl)*s.dialect.Lives + int64(extend)
	if s.dialect.Shared {
		until = max(until, v.deadline)
	}
	s.lives(v, until)
}

// lives lets a session live until a moment.
func (s *Server) lives(v *session, until int64) {
	v.deadline = until
	v.timer.Arm(s.dialect.Wall, s.noticed(until))
	if s.observer != nil {
		s.observer.Renewed(s, v.id)
	}
}

// clock is what sessions are counted on.
func (s *Server) clock() int64 {
	if s.dialect.Wall {
		return s.node.Wall()
	}
	return s.node.Monotonic()
}

// noticed returns when the leader sees that a deadline has passed: with the next scan, or at once.
func (s *Server) noticed(deadline int64) int64 {
	scan := int64(s.dialect.Scan)
	if scan == 0 {
		return deadline
	}
	return s.phase + (deadline-s.phase+scan-1)/scan*scan
}

// renew restarts a session's TTL at its client's request. For a lease that has run out but has not been revoked yet, it
// waits until the lease is revoked (lease/lessor.go, Renew).
func (s *Server) renew(c *call) *Response {
	v := s.session(c.request.Session)
	switch {
	case v == nil:
		return &Response{Request: c.request, Err: NoSession}
	case v.deadline <= s.node.Monotonic():
		s.awaitSession(c, v)
		return nil
	}
	s.refresh(v, 0)
	return &Response{Request: c.request, Succeeded: true, Session: v.id, TTL: v.ttl}
}

// close ends a session at its client's wish.
func (s *Server) close(r *Request) *Response {
	v := s.session(r.Session)
	if v == nil {
		return &Response{Request: r, Err: NoSession}
	}
	s.end(v, s.dialect.DelayOnEnd)
	return &Response{Request: r, Succeeded: true}
}

// expire ends a session whose client has been silent for too long.
func (s *Server) expire(v *session) {
	s.expireFor(v, Expired, func() bool { return s.leading && v.deadline <= s.clock() })
}

// expireFor ends a session that the leader takes for expired, if it is still there and still so when that is done.
func (s *Server) expireFor(v *session, why Reason, still func() bool) {
	s.node.Take(trace.Expire, v.id.String(), func() bool {
		if s.session(v.id) != v || !still() {
			return false
		}
		s.endFor(v, why)
		return true
	})
}

// EndSessions ends a client's sessions, as an operator or a failed health check does. It reports whether there were
// any.
func (s *Server) EndSessions(client string) bool {
	theirs := slices.DeleteFunc(slices.Clone(s.sessions), func(v *session) bool { return v.client != client })
	for _, v := range theirs {
		s.endFor(v, Killed)
	}
	return len(theirs) > 0
}

// endFor ends a session although its client has not asked for it.
func (s *Server) endFor(v *session, why Reason) {
	s.end(v, true)
	changes := s.store.commit()
	if s.observer != nil {
		s.observer.Ended(s, v.id, why, changes)
	}
	s.wake(changes)
	if s.member != nil {
		s.member.copy(&Request{Op: cpEnd, Session: v.id})
	}
}

// end ends a session: its keys end or are released, and may not be had by others for the lock-delay.
func (s *Server) end(v *session, delayed bool) {
	names := s.store.of(v.id)
	s.leave(v.id)
	if s.dialect.Deletes {
		slices.Sort(names) // lease/lessor.go, Revoke
	}
	for _, name := range names {
		if v.deletes {
			s.store.remove(name)
		} else {
			s.store.release(name, v.id)
		}
		if delayed && v.lockDelay > 0 {
			s.delay(name, v.lockDelay)
		}
	}
	v.timer.Stop()
	if i, found := s.find(v.id); found {
		s.sessions = slices.Delete(s.sessions, i, i+1)
	}
	s.again(v.calls)
}
