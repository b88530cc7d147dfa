// Package servers simulates the example's server in a run.
package servers

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// request is what clients ask: to take a lease, or to give it back.
type request struct {
	sim.Origin
	name   string
	ttl    time.Duration // to take
	number uint64        // to give back
}

// What returns the request's name and its purpose.
func (r *request) What() (what, alt string) {
	if r.number != 0 {
		return "drop", trace.ToRelease
	}
	return "take", trace.ToAcquire
}

// Sum digests the request.
func (r *request) Sum() uint64 {
	var d trace.Digest
	d.String(r.name)
	d.Uint64(uint64(r.ttl))
	d.Uint64(r.number)
	return d.Sum()
}

// String formats the request.
func (r *request) String() string {
	what, _ := r.What()
	return fmt.Sprintf("%s %s %d %v", what, r.name, r.number, r.ttl)
}

// answer is the number of a lease that has been taken or given back; 0 if none has.
type answer struct {
	*request
	number uint64
	err    string
}

// Sum digests the answer.
func (a *answer) Sum() uint64 { return a.request.Sum() + a.number }

// String formats the answer.
func (a *answer) String() string { return fmt.Sprint(a.number, a.err) }

// server keeps one lease a name.
type server struct {
	node   *sim.Node
	leases map[string]*given
	last   uint64
	truth  *truth
}

// given is a lease that somebody has.
type given struct {
	server *server
	name   string
	number uint64
	timer  *sim.Timer
}

// Ring ends a lease.
func (g *given) Ring() {
	if g.server.leases[g.name] != g {
		return // lost in a crash
	}
	delete(g.server.leases, g.name)
	if g.name == g.server.truth.key {
		g.server.truth.Forgot(history.Expired)
	}
}

// Execute carries out a request.
func (s *server) Execute(_ *sim.Conn, p sim.Payload) sim.Payload {
	r := p.(*request)
	a, held := &answer{request: r}, s.leases[r.name]
	switch {
	case r.number == 0 && held == nil:
		s.last++
		g := &given{server: s, name: r.name, number: s.last}
		g.timer = s.node.NewTimer(g)
		g.timer.Arm(false, s.node.Monotonic()+int64(r.ttl))
		s.leases[r.name], a.number = g, g.number
	case r.number != 0 && held != nil && held.number == r.number:
		held.timer.Stop()
		delete(s.leases, r.name)
		a.number = r.number
	}
	s.truth.executed(s.node, r, a.number != 0)
	return a
}

// Crash loses all leases, but for the number of the last, which is on disk.
func (s *server) Crash(bool, string) { s.leases = nil }

// Restart begins without leases.
func (s *server) Restart() {
	s.leases = make(map[string]*given)
	s.truth.Forgot(history.Wiped)
}

// truth tells who holds the lock: who has its lease.
type truth struct {
	*record.Succession
	key string
}

func (t *truth) executed(node *sim.Node, r *request, done bool) {
	switch {
	case r.name != t.key:
	case r.number == 0:
		if done {
			t.Took(node.Name, r.Origin, t.Now().Add(r.ttl))
		}
		t.Asked(node.Name, r.Origin, done)
	case done:
		t.Released(node.Name, r.Origin, t.Holder())
	default:
		t.Released(node.Name, r.Origin, 0)
	}
}

// Build builds the server.
func Build(w simulated.World) simulated.Service {
	s := &server{leases: make(map[string]*given), truth: &truth{record.NewSuccession(w.Recorder().Truth), w.Keys()[0]}}
	s.node = w.Engine().AddServer(w.Scenario().Servers.Names()[0], s)
	return &service{simulated.One{Node: s.node}}
}

type service struct{ simulated.One }

// Clients makes a task's clients of the server.
func (s *service) Clients(p simulated.Process) locks.Services {
	return &client{simulated.None{Process: p}, s.Node}
}

// Command knows none.
func (*service) Command(*sim.Node, *sim.Action) bool { return false }

// ErrorReply answers a request with an error.
func (*service) ErrorReply(p sim.Payload, text string) sim.Payload {
	return &answer{request: p.(*request), err: text}
}

// client is a task's client. The tasks of a process open a connection for each call.
type client struct {
	simulated.None
	server *sim.Node
}

// Other returns the client.
func (c *client) Other(string) any { return c }

// Take takes a lease.
func (c *client) Take(timeout time.Duration, name string, ttl time.Duration) (uint64, error) {
	return c.ask(timeout, &request{name: name, ttl: ttl})
}

// Drop gives a lease back.
func (c *client) Drop(timeout time.Duration, name string, number uint64) (bool, error) {
	number, err := c.ask(timeout, &request{name: name, number: number})
	return number != 0, err
}

func (c *client) ask(timeout time.Duration, r *request) (uint64, error) {
	line, err := simulated.Open(c.Process.Task(), c.server, timeout)
	if err != nil {
		return 0, err
	}
	defer line.Close()
	r.Origin = c.Process.Origin()
	p, err := line.Call(c.Process.Task(), r, timeout)
	if err != nil {
		return 0, err
	}
	if a := p.(*answer); a.err != "" {
		return 0, fmt.Errorf("leased: %s: %w", a.err, locks.ErrNotDone)
	}
	return p.(*answer).number, nil
}
