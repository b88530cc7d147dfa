// Package servers simulates a ZooKeeper ensemble in a run.
package servers

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// service is a ZooKeeper ensemble.
type service struct {
	ensemble *zookeeper.Ensemble
	nodes    []*sim.Node
	sessions map[*sim.Node]func() zookeeper.SessionID // the present one of every client process
}

// Build builds the ensemble.
func Build(w simulated.World) simulated.Service {
	deployed := &w.Scenario().Servers
	s := &service{sessions: make(map[*sim.Node]func() zookeeper.SessionID)}
	s.ensemble = zookeeper.New(w.Engine(), zookeeper.Config{
		Servers: deployed.Count(), Leader: deployed.Leader, Tick: deployed.Tick, SyncLimit: deployed.SyncLimit,
		LazyDisk: deployed.Persistence == "lazy", Observer: newTruth(w),
	})
	for _, server := range s.ensemble.Servers {
		s.nodes = append(s.nodes, server.Node())
	}
	return s
}

// Servers returns the nodes.
func (s *service) Servers() []*sim.Node { return s.nodes }

// Role finds the node that plays a role.
func (s *service) Role(name string) string {
	if leader := s.ensemble.Leader(); name == "leader" && leader != nil {
		return leader.Node().Name
	}
	return ""
}

// Command carries out an action on a server.
func (s *service) Command(n *sim.Node, a *sim.Action) bool {
	switch a.Kind {
	case sim.Promote:
		i := slices.Index(s.nodes, n)
		return i >= 0 && s.ensemble.Promote(s.ensemble.Servers[i])
	case sim.EndSession:
		session := s.sessions[n]
		return session != nil && s.ensemble.EndSession(session())
	default:
		return false
	}
}

// ErrorReply answers a request with an error.
func (s *service) ErrorReply(request sim.Payload, text string) sim.Payload {
	return zookeeper.ErrorResponse(request, text)
}

// open makes the handle of a process.
func (s *service) open(p simulated.Process, f zookeeper.Flavour, timeout time.Duration) *zookeeper.Handle {
	var servers []int
	for _, name := range p.Home() {
		servers = append(servers, 1+slices.IndexFunc(s.nodes, func(n *sim.Node) bool { return n.Name == name }))
	}
	node := p.Task().Node()
	h := zookeeper.NewHandle(p.Task(), s.ensemble, zookeeper.HandleConfig{
		Flavour: f, Timeout: timeout, Servers: servers, Rand: p.World().Engine().Rand("handle", node.Name, p.Life()),
		Woken: p.World().Woken, Tell: func(news string) { p.World().Recorder().Note(node.Name, news) },
	})
	s.sessions[node] = func() zookeeper.SessionID { return h.Session().ID }
	return h
}

// clients is a task's clients of the servers.
type clients struct {
	simulated.None
	service *service
}

// Clients makes a task's clients of the servers.
func (s *service) Clients(p simulated.Process) locks.Services {
	return &clients{None: simulated.None{Process: p}, service: s}
}

// ZooKeeper returns the ensemble.
func (c *clients) ZooKeeper() locks.ZooKeeper { return c }

// Open returns the process's handle.
func (c *clients) Open(library string, timeout time.Duration) locks.ZKHandle {
	p := c.Process
	handle, ok := (*p.Own()).(*zookeeper.Handle)
	if !ok || handle.Dead() {
		flavour, known := zookeeper.FindFlavour(library)
		if !known {
			panic("servers: there is no client library of ZooKeeper named " + library)
		}
		handle = c.service.open(p, flavour, timeout)
		*p.Own() = handle
	}
	return &port{process: p, handle: handle}
}

// port is the locks.ZKHandle of one task.
type port struct {
	process simulated.Process
	handle  *zookeeper.Handle
}

// Session returns the library's view of its session.
func (z *port) Session() locks.ZKSession {
	s := z.handle.Session()
	return locks.ZKSession{ID: uint64(s.ID), Lost: &s.Lost, Suspended: s.Suspended()}
}

// Create makes a node. An ephemeral node makes a holder.
func (z *port) Create(path, data string, kind locks.ZKKind) (locks.ZKNode, error) {
	r := &zookeeper.Request{Op: zookeeper.Create, Path: path, Data: data}
	switch kind {
	case locks.ZKContainer:
		r.Container = true
	case locks.ZKEphemeral:
		r.Ephemeral, r.Purpose = true, trace.ToAcquire
	case locks.ZKEphemeralSequential:
		r.Ephemeral, r.Sequential, r.Purpose = true, true, trace.ToAcquire
	case locks.ZKPersistent:
	}
	a, err := z.do(r, nil)
	if err != nil {
		return locks.ZKNode{}, err
	}
	return nodeOf(a.Path, data, &a.Stat), nil
}

// Delete removes a node.
func (z *port) Delete(path string) error {
	_, err := z.do(&zookeeper.Request{
		Op: zookeeper.Delete, Path: path, Version: zookeeper.AnyVersion, Purpose: trace.ToRelease,
	}, nil)
	return err
}

// Get reads a node.
func (z *port) Get(path string) (locks.ZKNode, error) { return z.get(path, nil) }

// Watch reads a node and watches it.
func (z *port) Watch(path string) (locks.ZKNode, locks.Signal, error) {
	w := &zookeeper.Watch{}
	node, err := z.get(path, w)
	return node, &w.Over, err
}

func (z *port) get(path string, w *zookeeper.Watch) (locks.ZKNode, error) {
	a, err := z.do(&zookeeper.Request{Op: zookeeper.GetData, Path: path, Purpose: trace.ToLook}, w)
	if err != nil {
		return locks.ZKNode{}, err
	}
	return nodeOf(path, a.Data, &a.Stat), nil
}

// Children lists a node's children.
func (z *port) Children(path string) ([]string, error) {
	a, err := z.do(&zookeeper.Request{Op: zookeeper.GetChildren, Path: path, Purpose: trace.ToLook}, nil)
	if err != nil {
		return nil, err
	}
	return slices.Clone(a.Children), nil
}

// Sync makes the server catch up.
func (z *port) Sync(path string) error {
	_, err := z.do(&zookeeper.Request{Op: zookeeper.Sync, Path: path, Purpose: trace.ToLook}, nil)
	return err
}

// Multi carries out operations in one transaction.
func (z *port) Multi(ops ...locks.ZKOp) (failed int, err error) {
	r := &zookeeper.Request{Op: zookeeper.Multi}
	for _, op := range ops {
		kind := [...]zookeeper.Op{
			locks.ZKCheck: zookeeper.Check, locks.ZKCreate: zookeeper.Create, locks.ZKSet: zookeeper.SetData,
		}[op.Kind]
		r.Ops = append(r.Ops, zookeeper.Request{Op: kind, Path: op.Path, Data: op.Data, Version: zookeeper.AnyVersion})
	}
	a, err := z.do(r, nil)
	if err != nil {
		return 0, err
	}
	for i := range a.Results {
		if a.Results[i].Err != zookeeper.OK {
			return i, refusal(a.Results[i].Err)
		}
	}
	return 0, nil
}

func nodeOf(path, data string, s *zookeeper.Stat) locks.ZKNode {
	return locks.ZKNode{Path: path, Data: data, Czxid: uint64(s.Czxid), Owner: uint64(s.EphemeralOwner)}
}

// do sends a request and tells its outcome in the words of the locks.
func (z *port) do(r *zookeeper.Request, w *zookeeper.Watch) (*zookeeper.Response, error) {
	r.Origin = z.process.Origin()
	a, err := z.handle.Do(z.process.Task(), r, w)
	switch {
	case err == nil:
		return a, refusal(a.Err)
	case errors.Is(err, zookeeper.ErrConnectionLoss):
		return nil, fmt.Errorf("%w: %w", locks.ErrUnknown, err)
	case errors.Is(err, zookeeper.ErrSessionExpired):
		return nil, fmt.Errorf("%w: %w", locks.ErrNotDone, locks.ErrSessionExpired)
	default:
		return nil, fmt.Errorf("%w: %w", locks.ErrNotDone, err)
	}
}

// refusal is what a server has said no with.
func refusal(code zookeeper.Code) error {
	switch code {
	case zookeeper.OK:
		return nil
	case zookeeper.NoNode:
		return locks.ErrNoNode
	case zookeeper.NodeExists:
		return locks.ErrNodeExists
	case zookeeper.SessionExpired:
		return fmt.Errorf("%w: %w", locks.ErrNotDone, locks.ErrSessionExpired)
	default:
		return fmt.Errorf("zookeeper: %v", code)
	}
}
