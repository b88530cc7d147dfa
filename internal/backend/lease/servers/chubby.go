package servers

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
)

// chubbyClient is a task's client of a Chubby cell. Every session has a connection of its own.
type chubbyClient struct{ leaseClient }

func newChubbyClient(c leaseClient) locks.Services { return chubbyClient{c} }

// Chubby returns the client.
func (c chubbyClient) Chubby() locks.Chubby { return c }

// chubbyWire is the connection of a session, and the epoch of the master that it knows.
type chubbyWire struct {
	wire
	session lease.SessionID
	epoch   int
}

// of returns the connection of a session.
func (c chubbyClient) of(id uint64) *chubbyWire {
	wires, _ := (*c.process.Own()).([]*chubbyWire)
	i := slices.IndexFunc(wires, func(w *chubbyWire) bool { return w.session == lease.SessionID(id) })
	return wires[i]
}

func (c chubbyClient) call(timeout time.Duration, w *chubbyWire, r *lease.Request) (*lease.Response, error) {
	r.Session, r.Epoch = w.session, w.epoch
	a, err := w.call(c.process, timeout, r)
	if err != nil {
		return nil, err
	}
	if a.Err == "" && (r.Op == lease.KeepAlive || r.Op == lease.CreateSession) {
		w.epoch = a.Epoch
	}
	return a, refused(a)
}

// CreateSession opens a session.
func (c chubbyClient) CreateSession(
	timeout, ttl time.Duration, delay *time.Duration,
) (id uint64, lives time.Duration, err error) {
	w := &chubbyWire{wire: wire{server: c.server, woken: c.process.World().Woken}}
	a, err := c.call(timeout, w, &lease.Request{Op: lease.CreateSession, TTL: ttl, LockDelay: lockDelay(delay)})
	if err != nil {
		return 0, 0, err
	}
	c.tellTTL(ttl, a.TTL)
	w.session = a.Session
	wires, _ := (*c.process.Own()).([]*chubbyWire)
	*c.process.Own() = append(wires, w)
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
	w := c.of(id)
	a, err := c.call(timeout, w, &lease.Request{Op: lease.KeepAlive, Purpose: backend.Renew})
	if err != nil {
		w.close()
		return 0, 0, err
	}
	return a.Held, a.TTL, nil
}

// Acquire waits for a lock.
func (c chubbyClient) Acquire(timeout time.Duration, id uint64, lock string) (generation uint64, err error) {
	return c.acquire(timeout, id, &lease.Request{Op: lease.Acquire, Key: lock, Purpose: backend.Acquire})
}

// TryAcquire requests a lock without waiting.
func (c chubbyClient) TryAcquire(timeout time.Duration, id uint64, lock string) (generation uint64, err error) {
	return c.acquire(timeout, id, &lease.Request{Op: lease.TryAcquire, Key: lock, Purpose: backend.Acquire})
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
	a, err := c.call(timeout, c.of(id), &lease.Request{Op: lease.Release, Key: lock, Purpose: backend.Release})
	if err != nil {
		return false, err
	}
	return a.Succeeded, nil
}
