package zookeeper

import (
	"time"

	"github.com/locksim/locksim/sim"
)

// Session is the client's view of a session.
type Session struct {
	ID      SessionID     // 0 until a server has opened it
	Timeout time.Duration // as requested, then as negotiated
	// Lost fires when the client learns that the session has expired, or the library assumes that it has: a session
	// that only the library considers expired may still be alive at the servers, and an expired one may not be lost
	// yet.
	Lost sim.Signal

	handle    *Handle
	suspended *sim.Signal
	since     int64      // when the connection was lost, on the wall clock
	timer     *sim.Timer // of the library that takes it for lost
}

func (h *Handle) newSession() *Session {
	s := &Session{Timeout: h.config.Timeout, handle: h, suspended: &sim.Signal{}}
	s.timer = h.node.NewTimer(s)
	return s
}

// Suspended returns a signal that fires when the present connection is lost; it has fired if an earlier connection was
// lost and there is none now.
func (s *Session) Suspended() *sim.Signal { return s.suspended }

// suspend says that the connection is lost.
func (s *Session) suspend() {
	if s.suspended.Fired() {
		return
	}
	if s.handle.config.Flavour.LostAfter > 0 {
		s.since = s.handle.node.Wall()
		s.timer.Arm(false, s.handle.node.Monotonic()+s.limit())
	}
	s.suspended.Fire()
}

// resume says that the session goes on, on another connection.
func (s *Session) resume() {
	s.timer.Stop()
	if s.suspended.Fired() {
		s.suspended = &sim.Signal{}
	}
}

func (s *Session) end() {
	s.timer.Stop()
	s.suspended.Fire()
}

// limit is how long after the loss of the connection the library takes the session for lost.
func (s *Session) limit() int64 { return int64(s.Timeout) * s.handle.config.Flavour.LostAfter / 100 }

// Ring checks whether the session is to be considered lost. As in Curator, the wait is on the monotonic clock and
// the check on the wall clock (ConnectionStateManager.processEvents, checkSessionExpiration).
func (s *Session) Ring() {
	if left := s.limit() - (s.handle.node.Wall() - s.since); left > 0 {
		s.timer.Arm(false, s.handle.node.Monotonic()+left)
		return
	}
	s.handle.expired("takes its session for lost, after so long without a connection")
}
