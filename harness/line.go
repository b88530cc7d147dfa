package harness

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// line is a connection to a server on which one request at a time is sent and answered. As in the common client
// libraries a call that times out closes it: a late answer would be taken for that of the next request.
type line struct {
	server  *sim.Node
	conn    *sim.Conn
	over    bool // as the process's machine knows; its code finds out when it sends
	answer  sim.Payload
	settled sim.Signal // the answer is there, or will never come
}

func openLine(t *sim.Task, server *sim.Node, timeout time.Duration) (*line, error) {
	l := &line{server: server}
	conn, err := t.Dial(server, l, timeout)
	if err != nil {
		return nil, failed(l.server, locks.ErrNotDone, err)
	}
	l.conn = conn
	return l, nil
}

// Deliver takes the answer.
func (l *line) Deliver(p sim.Payload) {
	l.answer = p
	l.settled.Fire()
}

// Closed ends the wait for an answer.
func (l *line) Closed() {
	l.over = true
	l.settled.Fire()
}

// call sends a request and waits for the answer, at most timeout; 0 waits for ever.
func (l *line) call(t *sim.Task, request sim.Payload, timeout time.Duration) (sim.Payload, error) {
	l.answer, l.settled = nil, sim.Signal{}
	if err := l.conn.Send(t, request); err != nil {
		return nil, failed(l.server, locks.ErrNotDone, err)
	}
	if timeout <= 0 {
		timeout = sim.Forever
	}
	t.Wait(timeout, &l.settled)
	if l.answer == nil {
		l.close()
		return nil, failed(l.server, locks.ErrUnknown, nil)
	}
	return l.answer, nil
}

// close gives the connection up. Whoever waits for an answer on it waits no longer.
func (l *line) close() {
	l.over = true
	l.conn.Close()
	l.settled.Fire()
}

// failed is how a call of a server ended that has no answer, and why.
func failed(server *sim.Node, outcome, cause error) error {
	if cause == nil {
		return fmt.Errorf("%s: %w", server.Name, outcome)
	}
	return fmt.Errorf("%s: %w: %w", server.Name, outcome, cause)
}
