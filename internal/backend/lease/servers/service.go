// Package servers simulates services of leases and sessions in a run: etcd, Consul, Chubby.
package servers

import (
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// service is a service of leases and sessions: etcd, Consul or Chubby.
type service struct {
	simulated.One
	server   *lease.Server
	dialect  lease.Dialect
	clientOf func(client) locks.Services
}

// Servers builds a service of one dialect.
type Servers struct {
	dialect  lease.Dialect
	clientOf func(client) locks.Services
}

// Etcd simulates an etcd cluster.
func Etcd() Servers { return Servers{lease.Etcd(), newEtcdClient} }

// Consul simulates the servers of a Consul datacenter.
func Consul() Servers { return Servers{lease.Consul(), newConsulClient} }

// Chubby simulates a Chubby cell.
func Chubby() Servers { return Servers{lease.Chubby(), newChubbyClient} }

// Refuses refuses a TTL that the servers would refuse.
func (k Servers) Refuses(s *scenarios.Scenario) (field, problem string) {
	if _, ok := k.dialect.Given(s.Lock.TTL); ok {
		return "", ""
	}
	return "lock.ttl", fmt.Sprintf("%s refuses sessions with a TTL of %v: want %v to %v",
		s.Servers.Title(), s.Lock.TTL, k.dialect.MinTTL, k.dialect.MaxTTL)
}

// Build builds the service.
func (k Servers) Build(w simulated.World) simulated.Service {
	s := &service{dialect: k.dialect, clientOf: k.clientOf}
	s.server = lease.New(w.Engine(), lease.Config{
		Dialect: k.dialect, Name: w.Scenario().Servers.Names()[0], Observer: newTruth(w),
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
	process simulated.Process
	server  *sim.Node
}

// Clients makes a task's clients of the servers.
func (s *service) Clients(p simulated.Process) locks.Services {
	return s.clientOf(client{None: simulated.None{Kind: s.dialect.Name}, process: p, server: s.Node})
}

// tellTTL tells a reader if a session has been given another TTL than its client asked for.
func (c client) tellTTL(asked, given time.Duration) {
	if asked != given {
		c.process.World().Note(c.process.Client(), fmt.Sprintf("asks for a TTL of %v and is given %v", asked, given))
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
