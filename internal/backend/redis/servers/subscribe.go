package servers

import (
	"cmp"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// subscription is a connection on which a channel is listened to.
type subscription struct {
	conn    *sim.Conn
	refused *redis.Reply // the answer to SUBSCRIBE if it is an error
	ready   sim.Signal   // the server has answered, or will not
	over    bool
	next    *sim.Signal
	woken   func()
}

// Deliver handles the answer to SUBSCRIBE, and messages.
func (s *subscription) Deliver(p sim.Payload) {
	switch p := p.(type) {
	case *redis.Response:
		if p.Reply.Type == redis.ReplyError {
			s.refused = &p.Reply
		}
		s.ready.Fire()
	default:
		s.woken()
		s.next.Fire()
		s.next = &sim.Signal{}
	}
}

// Closed wakes the waiting task: later messages are lost.
func (s *subscription) Closed() {
	s.over = true
	s.ready.Fire()
	s.next.Fire()
}

// Next returns a signal that fires with the next message, or with the end of the connection.
func (s *subscription) Next() locks.Signal { return s.next }

// Over reports whether the connection is lost.
func (s *subscription) Over() bool { return s.over }

// Close closes the connection.
func (s *subscription) Close() { s.conn.Close() }

// Subscribe opens a separate connection to the server, or to the master, and subscribes to a channel on it.
func (r *port) Subscribe(timeout time.Duration, channel string) (locks.Subscription, error) {
	p, at, l := r.process, r.server, limitOf(r.process, timeout)
	if r.state.router != nil {
		l = limitOf(p, cmp.Or(timeout, readTimeout))
		var err error
		if at, err = r.state.router.master(p, l); err != nil {
			return nil, err
		}
	}
	from := &r.state.pools[at]
	s := &subscription{next: &sim.Signal{}, woken: p.World().Woken}
	var err error
	if s.conn, err = p.Task().Dial(from.server, s, l.left()); err != nil {
		return nil, simulated.Failed(from.server, locks.ErrNotDone, err)
	}
	request := redis.NewRequest([]string{"SUBSCRIBE", channel}, "")
	request.Origin = p.Origin()
	if err := s.conn.Send(p.Task(), request); err != nil {
		return nil, simulated.Failed(from.server, locks.ErrNotDone, err)
	}
	p.Task().Wait(l.left(), &s.ready)
	switch {
	case s.refused != nil:
		s.conn.Close()
		return nil, &locks.RedisError{Text: s.refused.Text}
	case s.over || !s.ready.Fired():
		s.conn.Close()
		return nil, simulated.Failed(from.server, locks.ErrUnknown, nil)
	}
	return s, nil
}
