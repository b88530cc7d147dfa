package servers

import (
	"errors"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// hazelcastClient is a task's client of a Hazelcast cluster. The process has one connection, on which all calls are, and one session.
type hazelcastClient struct {
	client
	members []*sim.Node // of which one owns the partition, or the one that stands for a CP group
}

func newHazelcastClient(c client) locks.Services { return hazelcastClient{c, []*sim.Node{c.server}} }

// Other returns the client.
func (c hazelcastClient) Other(string) any { return c }

// hazelcastShared is what the tasks of a process share.
type hazelcastShared struct {
	connection
	session locks.HazelcastSession
}

// hazelcastDial is how long the client tries to connect (connection-timeout).
const hazelcastDial = 5 * time.Second

func (c hazelcastClient) shared() *hazelcastShared {
	s, ok := (*c.Process.Own()).(*hazelcastShared)
	if !ok {
		s = &hazelcastShared{connection: connection{server: c.server, woken: c.Process.World().Woken}}
		*c.Process.Own() = s
	}
	return s
}

func (c hazelcastClient) call(timeout time.Duration, r *lease.Request) (*lease.Response, error) {
	s := c.shared()
	if err := s.open(c.Process.Task(), hazelcastDial); err != nil {
		c.turn()
		return nil, err
	}
	a, err := s.call(c.Process, timeout, r)
	switch {
	case err != nil && s.conn == nil:
		c.turn()
		return nil, err
	case err != nil:
		return nil, err
	}
	switch a.Err {
	case lease.WrongTarget:
		c.turn()
		return nil, simulated.Failed(s.server, locks.ErrNotDone, errors.New(a.Err))
	case lease.Cancelled:
		return nil, locks.ErrWaitCancelled
	case lease.NotOwner:
		return nil, locks.ErrNotHeld
	case lease.NoLeader:
		return nil, simulated.Failed(s.server, locks.ErrNotDone, nil)
	}
	return a, refused(a)
}

// turn has the process ask the next member, which may have become the owner.
func (c hazelcastClient) turn() {
	if s := c.shared(); len(c.members) > 1 {
		s.close()
		s.server = c.members[(slices.Index(c.members, s.server)+1)%len(c.members)]
	}
}

// Session returns where the tasks of the process keep their session.
func (c hazelcastClient) Session() *locks.HazelcastSession { return &c.shared().session }

// Reconnect closes the connection.
func (c hazelcastClient) Reconnect() { c.shared().close() }

// CreateSession makes a session.
func (c hazelcastClient) CreateSession(timeout, ttl time.Duration) (uint64, error) {
	a, err := c.call(timeout, &lease.Request{Op: lease.CPCreateSession, TTL: ttl})
	if err != nil {
		return 0, err
	}
	c.tellTTL(ttl, a.TTL)
	return uint64(a.Session), nil
}

// Heartbeat restarts the session's TTL.
func (c hazelcastClient) Heartbeat(timeout time.Duration, session uint64) error {
	_, err := c.call(timeout, &lease.Request{Op: lease.CPHeartbeat, Session: lease.SessionID(session), Purpose: trace.ToRenew})
	return err
}

// Lock enters a lock.
func (c hazelcastClient) Lock(timeout time.Duration, call locks.HazelcastCall, wait time.Duration) (fence uint64, err error) {
	r := request(lease.FencedLock, call, trace.ToAcquire)
	if r.Wait = wait; wait == locks.Forever {
		r.Wait = -1
	}
	a, err := c.call(timeout, r)
	if err != nil || !a.Succeeded {
		return 0, err
	}
	return uint64(a.Keys[0].LockIndex), nil
}

// Unlock leaves a lock.
func (c hazelcastClient) Unlock(timeout time.Duration, call locks.HazelcastCall) (still bool, err error) {
	a, err := c.call(timeout, request(lease.FencedUnlock, call, trace.ToRelease))
	if err != nil {
		return false, err
	}
	return a.Succeeded, nil
}

func request(op lease.Op, c locks.HazelcastCall, purpose string) *lease.Request {
	return &lease.Request{
		Op: op, Session: lease.SessionID(c.Session), Key: c.Lock, Value: c.Thread, Once: c.Number, Purpose: purpose,
	}
}

// unsafeService is the members that keep a partition of a cluster without a CP Subsystem.
type unsafeService struct {
	*service
	backup *lease.Server
}

// HazelcastUnsafe builds the owner of a partition, and its backup.
func HazelcastUnsafe(w simulated.World) simulated.Service {
	s := &unsafeService{service: build(w, lease.HazelcastUnsafe(), nil)}
	s.backup = lease.New(w.Engine(), lease.Config{
		Dialect: lease.HazelcastUnsafe(), Name: w.Scenario().Servers.Names()[1], Observer: newTruths(w).observer(),
	})
	lease.Pair(s.server, s.backup)
	return s
}

// Servers returns the members.
func (s *unsafeService) Servers() []*sim.Node { return []*sim.Node{s.Node, s.backup.Node()} }

// Role finds the member that owns the partition; of two, the one that was the backup first.
func (s *unsafeService) Role(name string) string {
	for _, server := range []*lease.Server{s.backup, s.server} {
		if name == "master" && server.Owns() && server.Node().Up() {
			return server.Node().Name
		}
	}
	return ""
}

// Clients makes a task's clients of the members.
func (s *unsafeService) Clients(p simulated.Process) locks.Services {
	return hazelcastClient{client{simulated.None{Process: p}, s.Node}, s.Servers()}
}

// Command ends a client's sessions at each member that owns the partition.
func (s *unsafeService) Command(n *sim.Node, a *sim.Action) bool {
	did := false
	for _, server := range []*lease.Server{s.server, s.backup} {
		did = a.Kind == sim.EndSession && server.Owns() && server.EndSessions(n.Name) || did
	}
	return did
}
