package lease

import (
	"time"

	"github.com/locksim/locksim/sim"
)

// call is a request until it is answered. Some wait: for a leader, for a change of a key, for the end of a session or
// of its lease, or for a moment.
type call struct {
	server  *Server
	conn    *sim.Conn
	request *Request
	since   int64  // when it came, on the monotonic clock
	from    int64  // Watch: the first revision that counts; Lock: at which its key was made; 0 until it is carried out
	key     string // Lock: the key
	timer   *sim.Timer
	late    bool      // the moment that it waited for has come
	woken   bool      // the key that it waited for has changed
	done    bool      // it has been answered, or withdrawn
	answer  *Response // FencedLock: with which its wait has ended
}

// client returns the name of who asks. Requests that another member passes on come on no connection.
func (c *call) client() string {
	if c.conn == nil {
		return c.request.Client
	}
	return c.conn.Client().Name
}

// over reports whether nobody waits for the answer any more.
func (c *call) over() bool { return c.done || c.conn.Session == nil }

// ringAfter has the call tried again after d at the latest.
func (c *call) ringAfter(d time.Duration) {
	n := c.server.node
	if c.timer == nil {
		c.timer = n.NewTimer(c)
	}
	c.timer.Arm(false, n.Monotonic()+int64(d))
}

// timed reports whether the call is going to be tried again at some moment.
func (c *call) timed() bool { return c.timer != nil && c.timer.Armed() }

// Ring tries the call again: its moment has come.
func (c *call) Ring() {
	c.late = true
	c.server.retry(c)
}

// finish ends the call.
func (c *call) finish() {
	c.done = true
	if c.timer != nil {
		c.timer.Stop()
	}
}

// hangUp ends the call's connection.
func (c *call) hangUp() {
	if !c.over() {
		c.conn.Hangup()
	}
	c.finish()
}

// awaitKey has the call tried again when a key has changed.
func (s *Server) awaitKey(c *call) {
	s.waiting[c.request.Key] = append(s.waiting[c.request.Key], c)
}

// awaitSession has the call tried again when the session is over.
func (s *Server) awaitSession(c *call, v *session) { v.calls = append(v.calls, c) }

// wake has the calls tried again that wait for one of the changes.
func (s *Server) wake(changes []Change) {
	if len(s.streams) > 0 && len(changes) > 0 {
		s.news.Arm(false, s.node.Monotonic())
	}
	for i := range changes {
		name := changes[i].Key.Name
		for _, c := range s.waiting[name] {
			c.woken = true
		}
		s.again(s.waiting[name])
		delete(s.waiting, name)
		if changes[i].Kind == Released {
			s.handOver(name)
		}
	}
}

// again has calls tried again, in their order, once the present step is over.
func (s *Server) again(calls []*call) {
	if len(calls) == 0 {
		return
	}
	s.ready = append(s.ready, calls...)
	s.news.Arm(false, s.node.Monotonic())
}

// tryAgain tries the calls again whose waiting may be over. An answer can be what a fault waits for, so that the
// process may be paused or dead after any of them.
func (s *Server) tryAgain() {
	for len(s.ready) > 0 && !s.node.Paused() {
		c := s.ready[0]
		s.ready = s.ready[1:]
		s.retry(c)
	}
	if len(s.ready) > 0 {
		s.news.Arm(false, s.node.Monotonic())
	}
	s.push()
}

// retry tries a call again that has waited.
func (s *Server) retry(c *call) {
	if c.over() {
		c.finish()
		return
	}
	a := c.answer
	if a == nil {
		a = s.attempt(c)
	}
	if a != nil {
		c.finish()
		a.Woken = c.woken
		c.conn.Reply(a)
	}
}
