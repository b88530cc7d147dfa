package servers

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// connection is shared by many calls, as in gRPC: each is answered when its answer is ready. The tasks of a
// process share it, and a task that finds it closed opens it again.
type connection struct {
	server  *sim.Node
	woken   func()      // is told of answers that had to wait for what somebody else does
	conn    *sim.Conn   // nil if it is not open
	gone    *sim.Signal // fires when the present connection is over
	dialled *sim.Signal // somebody opens it; nil if nobody does
	calls   []*outstanding
}

// outstanding is a request that has not been answered.
type outstanding struct {
	request *lease.Request
	settle  func(a *lease.Response) // nil: the connection is over
}

// connectionEnd is the process's end of one sim.Conn of a connection. Messages on an earlier one are discarded.
type connectionEnd struct {
	connection *connection
	conn       *sim.Conn
}

// Deliver handles an answer.
func (e *connectionEnd) Deliver(p sim.Payload) {
	a := p.(*lease.Response)
	c := e.connection
	if i := slices.IndexFunc(c.calls, func(o *outstanding) bool { return o.request == a.Request }); i >= 0 {
		o := c.calls[i]
		c.calls = slices.Delete(c.calls, i, i+1)
		if a.Woken {
			c.woken()
		}
		o.settle(a)
	}
}

// Closed ends the wait for all answers. If a connection closes while a task opens it, Dial reports that.
func (e *connectionEnd) Closed() {
	if e.conn != nil && e.connection.conn == e.conn {
		e.connection.drop()
	}
}

// drop forgets the connection, and with it what has not been answered.
func (c *connection) drop() {
	calls := c.calls
	c.conn, c.calls = nil, nil
	c.gone.Fire()
	for _, o := range calls {
		o.settle(nil)
	}
}

// close closes the connection.
func (c *connection) close() {
	if c.conn != nil {
		c.conn.Close()
		c.drop()
	}
}

// open opens the connection unless it is open.
func (c *connection) open(t *sim.Task, timeout time.Duration) error {
	for c.dialled != nil {
		if t.Wait(simulated.OrForever(timeout), c.dialled) < 0 {
			return simulated.Failed(c.server, locks.ErrNotDone, sim.ErrDialTimeout)
		}
	}
	if c.conn != nil {
		return nil
	}
	c.dialled = &sim.Signal{}
	end := &connectionEnd{connection: c}
	conn, err := t.Dial(c.server, end, timeout)
	c.dialled.Fire()
	c.dialled = nil
	if err != nil {
		return simulated.Failed(c.server, locks.ErrNotDone, err)
	}
	end.conn, c.conn, c.gone = conn, conn, &sim.Signal{}
	return nil
}

// send sends a request, whose answer goes to settle.
func (c *connection) send(p simulated.Process, r *lease.Request, settle func(a *lease.Response)) error {
	if c.conn == nil {
		return simulated.Failed(c.server, locks.ErrNotDone, sim.ErrClosed)
	}
	r.Origin = p.Origin()
	o := &outstanding{request: r, settle: settle}
	c.calls = append(c.calls, o)
	if err := c.conn.Send(p.Task(), r); err != nil {
		c.forget(r)
		return simulated.Failed(c.server, locks.ErrNotDone, err)
	}
	return nil
}

// forget gives up waiting for an answer.
func (c *connection) forget(r *lease.Request) {
	c.calls = slices.DeleteFunc(c.calls, func(o *outstanding) bool { return o.request == r })
}

// call sends a request and waits for its answer, at most timeout; 0 waits forever.
func (c *connection) call(p simulated.Process, timeout time.Duration, r *lease.Request) (*lease.Response, error) {
	began := p.Monotonic()
	if err := c.open(p.Task(), timeout); err != nil {
		return nil, err
	}
	var answer *lease.Response
	var settled sim.Signal
	err := c.send(p, r, func(a *lease.Response) {
		answer = a
		settled.Fire()
	})
	if err != nil {
		return nil, err
	}
	left := sim.Forever
	if timeout > 0 {
		left = timeout - p.Monotonic().Sub(began)
	}
	p.Task().Wait(left, &settled)
	if answer != nil {
		return answer, nil
	}
	c.forget(r)
	return nil, simulated.Failed(c.server, locks.ErrUnknown, nil)
}
