// Package servers simulates services of leases and sessions in a run: etcd, Consul, Chubby, Hazelcast.
package servers

import (
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// service is a service of leases and sessions: etcd, Consul, Chubby or Hazelcast.
type service struct {
	simulated.One
	server   *lease.Server
	locks    truths
	clientOf func(client) locks.Services
}

// Etcd builds an etcd cluster.
func Etcd(w simulated.World) simulated.Service {
	s := build(w, lease.Etcd(), newEtcdClient)
	s.Port = etcdPort
	return &etcdService{s}
}

// Consul builds the servers of a Consul datacenter.
func Consul(w simulated.World) simulated.Service {
	s := build(w, lease.Consul(), newConsulClient)
	s.Port = consulPort
	return &consulService{s}
}

// Chubby builds a Chubby cell.
func Chubby(w simulated.World) simulated.Service { return build(w, lease.Chubby(), newChubbyClient) }

// Hazelcast builds a CP group.
func Hazelcast(w simulated.World) simulated.Service {
	return build(w, lease.Hazelcast(), newHazelcastClient)
}

func build(w simulated.World, dialect lease.Dialect, clientOf func(client) locks.Services) *service {
	s := &service{clientOf: clientOf}
	s.locks = newTruths(w)
	s.server = lease.New(w.Engine(), lease.Config{
		Dialect: dialect, Name: w.Scenario().Servers.Names()[0], Observer: s.locks.observer(),
	})
	s.Node = s.server.Node()
	return s
}

// Command carries out an action on a server.
func (s *service) Command(n *sim.Node, a *sim.Action) bool {
	switch {
	case a.Kind == sim.EndSession:
		return s.server.EndSessions(n.Name)
	case n != s.Node:
		return false
	case a.Kind == sim.Promote:
		return s.server.Promote()
	case a.Kind == sim.Snapshot:
		s.server.Snapshot()
		return true
	}
	return false
}

// ErrorReply answers a request with an error.
func (s *service) ErrorReply(request sim.Payload, text string) sim.Payload {
	return lease.ErrorResponse(request, text)
}

// client is a task's client of the service.
type client struct {
	simulated.None
	server *sim.Node
}

// Clients makes a task's clients of the servers.
func (s *service) Clients(p simulated.Process) locks.Services {
	return s.clientOf(client{simulated.None{Process: p}, s.Node})
}

// tellTTL tells a reader if a session has been given another TTL than its client asked for.
func (c client) tellTTL(asked, given time.Duration) {
	if asked != given {
		c.Process.World().Recorder().Note(c.Process.Client(), fmt.Sprintf("asks for a TTL of %v and is given %v", asked, given))
	}
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
