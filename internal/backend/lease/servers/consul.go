package servers

import (
	"time"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// consulClient is a task's client of a Consul cluster. As HTTP clients do it takes a connection for each call, idle
// ones first.
type consulClient struct{ client }

func newConsulClient(c client) locks.Services { return consulClient{c} }

// Consul returns the client.
func (c consulClient) Consul() locks.Consul { return c }

func (c consulClient) call(timeout time.Duration, r *lease.Request) (*lease.Response, error) {
	p := c.Process
	idle, _ := (*p.Own()).([]*connection)
	conn := &connection{server: c.server, woken: p.World().Woken}
	if n := len(idle); n > 0 {
		conn, *p.Own() = idle[n-1], idle[:n-1]
	}
	a, err := conn.call(p, timeout, r)
	if err != nil {
		conn.close()
		return nil, err
	}
	idle, _ = (*p.Own()).([]*connection)
	*p.Own() = append(idle, conn)
	return a, refused(a)
}

// CreateSession makes a session.
func (c consulClient) CreateSession(timeout, ttl time.Duration, delay *time.Duration) (uint64, error) {
	a, err := c.call(timeout, &lease.Request{Op: lease.SessionCreate, TTL: ttl, LockDelay: lockDelay(delay)})
	if err != nil {
		return 0, err
	}
	return uint64(a.Session), nil
}

// lockDelay returns how a request states a lock-delay.
func lockDelay(delay *time.Duration) time.Duration {
	switch {
	case delay == nil:
		return 0
	case *delay == 0:
		return -1
	}
	return *delay
}

// RenewSession restarts the session's TTL.
func (c consulClient) RenewSession(timeout time.Duration, id uint64) (time.Duration, error) {
	a, err := c.call(timeout, &lease.Request{Op: lease.SessionRenew, Session: lease.SessionID(id), Purpose: trace.ToRenew})
	if err != nil {
		return 0, err
	}
	return a.TTL, nil
}

// DestroySession ends a session.
func (c consulClient) DestroySession(timeout time.Duration, id uint64) error {
	_, err := c.call(timeout, &lease.Request{Op: lease.SessionDestroy, Session: lease.SessionID(id)})
	return err
}

// Acquire acquires a key for the session.
func (c consulClient) Acquire(timeout time.Duration, key string, id uint64) (bool, error) {
	return c.apply(timeout, &lease.Request{Op: lease.KVAcquire, Key: key, Session: lease.SessionID(id), Purpose: trace.ToAcquire})
}

// Release releases the session's key.
func (c consulClient) Release(timeout time.Duration, key string, id uint64) (bool, error) {
	return c.apply(timeout, &lease.Request{Op: lease.KVRelease, Key: key, Session: lease.SessionID(id), Purpose: trace.ToRelease})
}

func (c consulClient) apply(timeout time.Duration, r *lease.Request) (bool, error) {
	a, err := c.call(timeout, r)
	if err != nil {
		return false, err
	}
	return a.Succeeded, nil
}

// Get reads a key.
func (c consulClient) Get(
	timeout time.Duration, key string, index int64, wait time.Duration,
) (locks.ConsulPair, error) {
	a, err := c.call(timeout, &lease.Request{Op: lease.KVGet, Key: key, Index: index, Wait: wait, Purpose: trace.ToLook})
	if err != nil {
		return locks.ConsulPair{}, err
	}
	pair := locks.ConsulPair{Index: a.Revision}
	if len(a.Keys) > 0 {
		pair.Session, pair.LockIndex = uint64(a.Keys[0].Session), uint64(a.Keys[0].LockIndex)
	}
	return pair, nil
}
