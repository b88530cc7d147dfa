package simulated

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// Line is a connection to a server on which one request, or one batch, at a time is sent and answered. As in the common client
// libraries a call that times out closes it: a late answer would be taken for that of the next request.
type Line struct {
	server  *sim.Node
	conn    *sim.Conn
	Over    bool           // as the process's machine knows; its code finds out when it sends
	answers []sim.Payload  // to what was sent last, in its order
	one     [1]sim.Payload // where they begin: nearly always there is one
	due     int            // how many there will be
	settled sim.Signal     // the answers are there, or will never come
}

// Open opens a connection to a server.
func Open(t *sim.Task, server *sim.Node, timeout time.Duration) (*Line, error) {
	l := &Line{server: server}
	l.answers = l.one[:0]
	conn, err := t.Dial(server, l, timeout)
	if err != nil {
		return nil, Failed(l.server, locks.ErrNotDone, err)
	}
	l.conn = conn
	return l, nil
}

// Deliver handles an answer.
func (l *Line) Deliver(p sim.Payload) {
	l.answers = append(l.answers, p)
	if len(l.answers) == l.due {
		l.settled.Fire()
	}
}

// Closed ends the wait for answers.
func (l *Line) Closed() {
	l.Over = true
	l.settled.Fire()
}

// Pooled sends a request to the one server of a process, or to the one that it turns to now, on an idle connection of the process or on
// a new one, and waits for the answer, at most timeout in all; 0 waits forever. The request is made when there is a connection; its turn
// is that of the call.
func Pooled(p Process, server *sim.Node, timeout time.Duration, request func(turn uint64) sim.Payload) (sim.Payload, error) {
	began, turn := p.Monotonic(), p.Turn()
	l, err := idle(p, server, timeout)
	if err != nil {
		return nil, err
	}
	if timeout > 0 {
		timeout = max(timeout-p.Monotonic().Sub(began), 1)
	}
	answer, err := l.Call(p.Task(), request(turn), timeout)
	if err != nil {
		return nil, err
	}
	pool, _ := (*p.Own()).([]*Line)
	*p.Own() = append(pool, l)
	return answer, nil
}

// idle takes a connection from the process's pool, or opens one.
func idle(p Process, server *sim.Node, timeout time.Duration) (*Line, error) {
	pool, _ := (*p.Own()).([]*Line)
	for n := len(pool); n > 0; n = len(pool) {
		l := pool[n-1]
		pool = pool[:n-1]
		*p.Own() = pool
		if l.server == server && !l.Over {
			return l, nil
		}
	}
	return Open(p.Task(), server, timeout)
}

// Call sends a request and waits for the answer, at most timeout; 0 waits forever.
func (l *Line) Call(t *sim.Task, request sim.Payload, timeout time.Duration) (sim.Payload, error) {
	l.expect(1)
	if err := l.conn.Send(t, request); err != nil {
		return nil, Failed(l.server, locks.ErrNotDone, err)
	}
	if err := l.await(t, timeout); err != nil {
		return nil, err
	}
	return l.answers[0], nil
}

// Batch sends requests without waiting in between, and waits for the answers to all. The caller has them until the next
// request is sent.
func (l *Line) Batch(t *sim.Task, requests []sim.Payload, timeout time.Duration) ([]sim.Payload, error) {
	l.expect(len(requests))
	for i, request := range requests {
		switch err := l.conn.Send(t, request); {
		case err != nil && i == 0:
			return nil, Failed(l.server, locks.ErrNotDone, err)
		case err != nil:
			return nil, Failed(l.server, locks.ErrUnknown, err)
		}
	}
	if err := l.await(t, timeout); err != nil {
		return nil, err
	}
	return l.answers, nil
}

func (l *Line) expect(answers int) {
	l.answers, l.due, l.settled = l.answers[:0], answers, sim.Signal{}
}

// await waits for the answers. If not all of them come, the connection is closed.
func (l *Line) await(t *sim.Task, timeout time.Duration) error {
	t.Wait(OrForever(timeout), &l.settled)
	if len(l.answers) < l.due {
		l.Close()
		return Failed(l.server, locks.ErrUnknown, nil)
	}
	return nil
}

// Close abandons the connection and ends all waits for answers on it.
func (l *Line) Close() {
	l.Over = true
	l.conn.Close()
	l.settled.Fire()
}

// Failed is how a call of a server ended that has no answer, and why.
func Failed(server *sim.Node, outcome, cause error) error {
	if cause == nil {
		return fmt.Errorf("%s: %w", server.Name, outcome)
	}
	return fmt.Errorf("%s: %w: %w", server.Name, outcome, cause)
}

// OrForever is a time-out, of which 0 is none.
func OrForever(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return sim.Forever
	}
	return timeout
}
