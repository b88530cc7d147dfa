// Package servers simulates an object store in a run.
package servers

import (
	"cmp"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// service is one object store.
type service struct {
	simulated.One
	server *object.Server
}

// Build builds the server.
func Build(w simulated.World) simulated.Service {
	server := object.New(newTruths(w))
	server.Staleness = w.Scenario().Servers.Staleness
	node := w.Engine().AddServer(w.Scenario().Servers.Names()[0], server)
	server.Attach(node)
	return &service{simulated.One{Node: node, Port: clientPort}, server}
}

func newTruths(w simulated.World) (all truths) {
	for _, l := range w.Locks() {
		all = append(all, &truth{Succession: record.NewSuccession(w.Recorder().Truth), world: w, key: l.Keys[0]})
	}
	return all
}

// Command knows none.
func (*service) Command(*sim.Node, *sim.Action) bool { return false }

// ErrorReply answers a request with an error.
func (*service) ErrorReply(request sim.Payload, text string) sim.Payload {
	return object.ErrorResponse(request, text)
}

// clients is a task's client of the store.
type clients struct {
	simulated.None
	server *sim.Node
	set    *replicaSet // of which the server is a member; nil: it is alone
}

// Clients makes a task's clients of the servers.
func (s *service) Clients(p simulated.Process) locks.Services {
	return &clients{None: simulated.None{Process: p}, server: s.Node}
}

// Other returns the client.
func (c *clients) Other(string) any { return c }

// Get returns an object.
func (c *clients) Get(timeout time.Duration, name string) (locks.Object, error) {
	return c.do(timeout, &object.Request{Op: object.Get, Name: name}, locks.ObjectWrite{Purpose: "look"})
}

// GetEventually returns an object as it was.
func (c *clients) GetEventually(timeout time.Duration, name string) (locks.Object, error) {
	return c.do(timeout, &object.Request{Op: object.Get, Name: name, Eventual: true}, locks.ObjectWrite{Purpose: "look"})
}

// Last returns the last object whose name begins with a prefix.
func (c *clients) Last(timeout time.Duration, prefix string) (locks.Object, error) {
	return c.do(timeout, &object.Request{Op: object.List, Name: prefix}, locks.ObjectWrite{Purpose: "look"})
}

// Put stores an object.
func (c *clients) Put(timeout time.Duration, o locks.Object, w locks.ObjectWrite) (locks.Object, error) {
	return c.do(timeout, &object.Request{Op: object.Put, Name: o.Name, Value: o.Value}, w)
}

// Patch writes some members of an object.
func (c *clients) Patch(timeout time.Duration, o locks.Object, w locks.ObjectWrite) (locks.Object, error) {
	return c.do(timeout, &object.Request{Op: object.Patch, Name: o.Name, Value: o.Value}, w)
}

// Delete removes an object.
func (c *clients) Delete(timeout time.Duration, name string, w locks.ObjectWrite) error {
	_, err := c.do(timeout, &object.Request{Op: object.Delete, Name: name}, w)
	return err
}

// Lease acquires, renews or releases a lease.
func (c *clients) Lease(timeout time.Duration, name string, w locks.ObjectWrite) error {
	op := object.AcquireLease
	switch w.Purpose {
	case trace.ToRenew:
		op = object.RenewLease
	case trace.ToRelease:
		op = object.ReleaseLease
	}
	_, err := c.do(timeout, &object.Request{Op: op, Name: name}, w)
	return err
}

// GetLeased returns a member of an object that has a lease.
func (c *clients) GetLeased(timeout time.Duration, name, member, lease string) (locks.Object, error) {
	return c.do(timeout, &object.Request{Op: object.Get, Name: name, Value: member}, locks.ObjectWrite{Purpose: access, Lease: lease})
}

// do sends a request on an idle connection of the process, or on a new one.
func (c *clients) do(timeout time.Duration, r *object.Request, w locks.ObjectWrite) (locks.Object, error) {
	r.Purpose, r.Life, r.Until, r.Version, r.Lease = w.Purpose, int64(w.Life), int64(w.Until), w.IfVersion, w.Lease
	r.Meta, r.Now, r.Once, r.Majority = w.IfMeta, int64(w.IfOver), w.Once, w.Majority
	switch {
	case w.IfValue != "":
		r.When, r.ETag = object.IfETag, object.ETag(w.IfValue)
	case w.IfAbsent:
		r.When = object.IfAbsent
	case w.IfOver != 0:
		r.When = object.IfOver
	case w.IfMeta != 0:
		r.When = object.IfMeta
	case w.IfVersion != 0:
		r.When = object.IfVersion
	}
	a, err := c.ask(timeout, r)
	if err != nil {
		return locks.Object{}, err
	}
	switch a.Result {
	case object.NotFound:
		return locks.Object{}, locks.ErrNoObject
	case object.Failed, object.Duplicate:
		return locks.Object{}, locks.ErrObjectChanged
	case object.Leased, object.LeaseMissing:
		return locks.Object{}, locks.ErrObjectLeased
	case object.LeaseMismatch, object.LeaseMismatchBlob, object.LeaseNotPresent, object.LeaseLost:
		return locks.Object{}, locks.ErrLeaseLost
	case object.Refused:
		return locks.Object{}, &locks.ObjectError{Text: a.Value}
	case object.SteppedDown:
		return locks.Object{}, simulated.Failed(c.server, locks.ErrUnknown, nil)
	default:
		o := locks.Object{Name: cmp.Or(a.Name, r.Name), Value: cmp.Or(a.Value, r.Value), Version: a.Version, Meta: a.Meta}
		if r.Op == object.List {
			o.Modified = locks.Wall(a.Modified)
		}
		return o, nil
	}
}

// ask sends a request to the server, or to the one that the process takes for the primary.
func (c *clients) ask(timeout time.Duration, r *object.Request) (*object.Response, error) {
	if c.set != nil {
		return c.set.ask(c, timeout, r)
	}
	return c.send(timeout, r)
}

func (c *clients) send(timeout time.Duration, r *object.Request) (*object.Response, error) {
	p, err := simulated.Pooled(c.Process, c.server, timeout, func(turn uint64) sim.Payload {
		r.Origin = c.Process.Origin()
		r.Sent = turn
		return r
	})
	if err != nil {
		return nil, err
	}
	return p.(*object.Response), nil
}
