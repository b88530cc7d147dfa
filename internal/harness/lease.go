package harness

import (
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/lease"
)

// leaseService is a service of leases and sessions: etcd, Consul or Chubby.
type leaseService struct {
	plain
	server   *lease.Server
	dialect  lease.Dialect
	clientOf func(leaseClient) locks.Services
}

func newLeaseService(w *world, d lease.Dialect, clientOf func(leaseClient) locks.Services) *leaseService {
	s := &leaseService{dialect: d, clientOf: clientOf}
	s.server = lease.New(w.engine, lease.Config{
		Dialect: d, Name: w.plan.Case.Scenario.Servers.Names()[0], Observer: newLeaseTruth(w),
	})
	s.node = s.server.Node()
	return s
}

func (s *leaseService) command(n *sim.Node, a *sim.Action) bool {
	switch {
	case a.Kind == sim.EndSession:
		return s.server.EndSessions(n.Name)
	case n != s.node:
		return false
	case a.Kind == sim.Promote:
		return s.server.Promote()
	case a.Kind == sim.Snapshot:
		s.server.Snapshot()
		return true
	}
	return false
}

func (s *leaseService) errorReply(request sim.Payload, text string) sim.Payload {
	return lease.ErrorResponse(request, text)
}

// leaseClient is a task's client of the service.
type leaseClient struct {
	none
	process *process
	server  *sim.Node
}

func (s *leaseService) clients(p *process) locks.Services {
	return s.clientOf(leaseClient{none: none{s.dialect.Name}, process: p, server: s.node})
}

// tellTTL tells a reader if a session has been given another TTL than its client asked for.
func (c leaseClient) tellTTL(asked, given time.Duration) {
	if asked != given {
		c.process.world.note(c.process.client.name, fmt.Sprintf("asks for a TTL of %v and is given %v", asked, given))
	}
}

// refuseTTL refuses a TTL that the lock's servers would refuse.
func (p *Plan) refuseTTL() error {
	s := p.Case.Scenario
	for _, d := range []lease.Dialect{lease.Etcd(), lease.Consul(), lease.Chubby()} {
		if _, ok := d.Given(s.Lock.TTL); d.Name == s.Servers.Kind && !ok {
			return s.Errorf("lock.ttl", "%s refuses sessions with a TTL of %v: want %v to %v",
				s.Servers.Title(), s.Lock.TTL, d.MinTTL, d.MaxTTL)
		}
	}
	return nil
}

// refused returns what an answer says no with.
func refused(a *lease.Response) error {
	switch a.Err {
	case "":
		return nil
	case lease.NoSession:
		return locks.ErrSessionExpired
	case lease.StaleEpoch:
		return locks.ErrNewMaster
	}
	return fmt.Errorf("%v: %w", a.Request.Op, errors.New(a.Err))
}
