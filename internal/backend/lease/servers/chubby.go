package servers

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// chubbyClient is a task's client of a Chubby cell. Every session has a connection of its own.
type chubbyClient struct{ client }

func newChubbyClient(c client) locks.Services { return chubbyClient{c} }

// Chubby returns the client.
func (c chubbyClient) Chubby() locks.Chubby { return c }

// chubbySession is the connection of a session, and the epoch of the master that it knows.
type chubbySession struct {
	connection
	session lease.SessionID
	epoch   int
}

// of returns the connection of a session.
func (c chubbyClient) of(id uint64) *chubbySession {
	sessions, _ := (*c.Process.Own()).([]*chubbySession)
	i := slices.IndexFunc(sessions, func(s *chubbySession) bool { return s.session == lease.SessionID(id) })
	return sessions[i]
}

func (c chubbyClient) call(timeout time.Duration, s *chubbySession, r *lease.Request) (*lease.Response, error) {
	r.Session, r.Epoch = s.session, s.epoch
	a, err := s.call(c.Process, timeout, r)
	if err != nil {
		return nil, err
	}
	if a.Err == "" && (r.Op == lease.KeepAlive || r.Op == lease.CreateSession) {
		s.epoch = a.Epoch
	}
	return a, refused(a)
}

// CreateSession opens a session.
func (c chubbyClient) CreateSession(
	timeout, ttl time.Duration, delay *time.Duration,
) (id uint64, lives time.Duration, err error) {
	s := &chubbySession{connection: connection{server: c.server, woken: c.Process.World().Woken}}
	a, err := c.call(timeout, s, &lease.Request{Op: lease.CreateSession, TTL: ttl, LockDelay: lockDelay(delay)})
	if err != nil {
		return 0, 0, err
	}
	c.tellTTL(ttl, a.TTL)
	s.session = a.Session
	sessions, _ := (*c.Process.Own()).([]*chubbySession)
	*c.Process.Own() = append(sessions, s)
	return uint64(a.Session), a.TTL, nil
}

// EndSession closes a session.
func (c chubbyClient) EndSession(timeout time.Duration, id uint64) error {
	_, err := c.call(timeout, c.of(id), &lease.Request{Op: lease.EndSession})
	return err
}

// KeepAlive requests an extension of the session. If that fails, it closes the connection, since the master may
// have changed.
func (c chubbyClient) KeepAlive(timeout time.Duration, id uint64) (held, lives time.Duration, err error) {
	s := c.of(id)
	a, err := c.call(timeout, s, &lease.Request{Op: lease.KeepAlive, Purpose: trace.ToRenew})
	if err != nil {
		s.close()
		return 0, 0, err
	}
	return a.Held, a.TTL, nil
}

// Acquire waits for a lock.
func (c chubbyClient) Acquire(timeout time.Duration, id uint64, lock string) (generation uint64, err error) {
	return c.acquire(timeout, id, &lease.Request{Op: lease.Acquire, Key: lock, Purpose: trace.ToAcquire})
}

// TryAcquire requests a lock without waiting.
func (c chubbyClient) TryAcquire(timeout time.Duration, id uint64, lock string) (generation uint64, err error) {
	return c.acquire(timeout, id, &lease.Request{Op: lease.TryAcquire, Key: lock, Purpose: trace.ToAcquire})
}

func (c chubbyClient) acquire(timeout time.Duration, id uint64, r *lease.Request) (generation uint64, err error) {
	a, err := c.call(timeout, c.of(id), r)
	switch {
	case err != nil:
		return 0, err
	case !a.Succeeded:
		return 0, locks.ErrNotAcquired
	}
	return uint64(a.Keys[0].LockIndex), nil
}

// Release releases a lock.
func (c chubbyClient) Release(timeout time.Duration, id uint64, lock string) (bool, error) {
	a, err := c.call(timeout, c.of(id), &lease.Request{Op: lease.Release, Key: lock, Purpose: trace.ToRelease})
	if err != nil {
		return false, err
	}
	return a.Succeeded, nil
}
