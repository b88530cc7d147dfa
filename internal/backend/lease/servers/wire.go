package servers

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// wire is a connection that many calls share, as in gRPC: each is answered when its answer is ready. The tasks of a
// process share it, and a task that finds it closed opens it again.
type wire struct {
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

// wireEnd is the process's end of one connection of a wire. Messages on an earlier connection are discarded.
type wireEnd struct {
	wire *wire
	conn *sim.Conn
}

// Deliver handles an answer.
func (e *wireEnd) Deliver(p sim.Payload) {
	a := p.(*lease.Response)
	w := e.wire
	if i := slices.IndexFunc(w.calls, func(o *outstanding) bool { return o.request == a.Request }); i >= 0 {
		o := w.calls[i]
		w.calls = slices.Delete(w.calls, i, i+1)
		if a.Woken {
			w.woken()
		}
		o.settle(a)
	}
}

// Closed ends the wait for all answers. If a connection closes while a task opens it, Dial reports that.
func (e *wireEnd) Closed() {
	if e.conn != nil && e.wire.conn == e.conn {
		e.wire.drop()
	}
}

// drop forgets the connection, and with it what has not been answered.
func (w *wire) drop() {
	calls := w.calls
	w.conn, w.calls = nil, nil
	w.gone.Fire()
	for _, o := range calls {
		o.settle(nil)
	}
}

// close closes the connection.
func (w *wire) close() {
	if w.conn != nil {
		w.conn.Close()
		w.drop()
	}
}

// open opens the connection unless it is open.
func (w *wire) open(t *sim.Task, timeout time.Duration) error {
	for w.dialled != nil {
		if t.Wait(simulated.OrForever(timeout), w.dialled) < 0 {
			return simulated.Failed(w.server, locks.ErrNotDone, sim.ErrDialTimeout)
		}
	}
	if w.conn != nil {
		return nil
	}
	w.dialled = &sim.Signal{}
	end := &wireEnd{wire: w}
	conn, err := t.Dial(w.server, end, timeout)
	w.dialled.Fire()
	w.dialled = nil
	if err != nil {
		return simulated.Failed(w.server, locks.ErrNotDone, err)
	}
	end.conn, w.conn, w.gone = conn, conn, &sim.Signal{}
	return nil
}

// send sends a request, whose answer goes to settle.
func (w *wire) send(p simulated.Process, r *lease.Request, settle func(a *lease.Response)) error {
	if w.conn == nil {
		return simulated.Failed(w.server, locks.ErrNotDone, sim.ErrClosed)
	}
	r.Origin = p.Origin()
	o := &outstanding{request: r, settle: settle}
	w.calls = append(w.calls, o)
	if err := w.conn.Send(p.Task(), r); err != nil {
		w.forget(r)
		return simulated.Failed(w.server, locks.ErrNotDone, err)
	}
	return nil
}

// forget gives up waiting for an answer.
func (w *wire) forget(r *lease.Request) {
	w.calls = slices.DeleteFunc(w.calls, func(o *outstanding) bool { return o.request == r })
}

// call sends a request and waits for its answer, at most timeout; 0 waits forever.
func (w *wire) call(p simulated.Process, timeout time.Duration, r *lease.Request) (*lease.Response, error) {
	began := p.Monotonic()
	if err := w.open(p.Task(), timeout); err != nil {
		return nil, err
	}
	var answer *lease.Response
	var settled sim.Signal
	err := w.send(p, r, func(a *lease.Response) {
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
	w.forget(r)
	return nil, simulated.Failed(w.server, locks.ErrUnknown, nil)
}
