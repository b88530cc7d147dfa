package sim

import (
	"errors"
	"slices"
)

// Payload is the content of a segment: a value for clients that run in this program, bytes for wire clients.
type Payload interface {
	// What returns the message's name for traces and triggers, and a second name or none: ("SET", "acquire").
	What() (what, alt string)
	// Sum is a digest of the content.
	Sum() uint64
	// String formats the content.
	String() string
}

// Receiver is the client's end of a connection. It is called while the client's process runs, never during a pause.
type Receiver interface {
	// Deliver takes a message that has arrived.
	Deliver(p Payload)
	// Closed is called when an open connection has ended: nothing more will arrive. It is not called when the
	// client itself has closed it.
	Closed()
}

// The errors of dialing and sending.
var (
	// ErrRefused says that no process listens at the other end.
	ErrRefused = errors.New("connection refused")
	// ErrDialTimeout says that the other end did not answer in time.
	ErrDialTimeout = errors.New("dial timed out")
	// ErrClosed says that the connection was already closed.
	ErrClosed = errors.New("connection closed")
)

// linkLatency gives some links a latency of their own.
type linkLatency struct {
	link    route
	latency Latency
}

// SetLatency gives the connections between two sets of nodes a latency of their own. The last call that matches a
// connection counts. The nodes must have been added before, and open connections keep their latency.
func (e *Engine) SetLatency(l Link, latency Latency) {
	e.links = append(e.links, linkLatency{link: e.route(l), latency: latency})
}

func (e *Engine) latencyBetween(from, to *Node) Latency {
	for i := len(e.links) - 1; i >= 0; i-- {
		if e.links[i].link.has(from, to) {
			return e.links[i].latency
		}
	}
	return e.config.Latency
}

// route is a link whose names have been resolved; roles are those of the moment when they were.
type route struct {
	from, to []*Node
	oneWay   bool
}

func (e *Engine) route(l Link) route {
	return route{from: e.nodesOf(l.From), to: e.nodesOf(l.To), oneWay: l.OneWay}
}

func (e *Engine) nodesOf(names []string) (nodes []*Node) {
	for _, n := range e.nodes {
		if slices.ContainsFunc(names, func(name string) bool { return MatchesNode(name, n.Name, e.Role) }) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// has reports whether what travels from one node to another takes the route.
func (r route) has(from, to *Node) bool {
	return slices.Contains(r.from, from) && slices.Contains(r.to, to) ||
		!r.oneWay && slices.Contains(r.from, to) && slices.Contains(r.to, from)
}

func (r route) empty() bool { return len(r.from) == 0 || len(r.to) == 0 }

// barrier holds up what travels on a route.
type barrier struct {
	route
	vanish bool // packets vanish and must be sent again; otherwise they just wait
}

// raise puts a barrier up and returns what takes it down. Connections that are opened meanwhile are held up too.
func (e *Engine) raise(b *barrier) (lower func()) {
	e.barriers = append(e.barriers, b)
	e.eachStream(b, func(s *stream) { s.block(b.vanish) })
	return func() {
		e.barriers = slices.DeleteFunc(e.barriers, func(other *barrier) bool { return other == b })
		e.eachStream(b, func(s *stream) { s.unblock(b.vanish) })
	}
}

func (e *Engine) eachStream(b *barrier, f func(*stream)) {
	for _, c := range e.conns {
		if b.has(c.client, c.server) {
			f(&c.up)
		}
		if b.has(c.server, c.client) {
			f(&c.down)
		}
	}
}

// addConn remembers a connection.
func (e *Engine) addConn(c *Conn) {
	remember(&e.conns, &e.sweep, c)
	remember(&c.client.opened, &c.client.sweep, c)
}

// remember adds a connection to a list, and from time to time removes closed ones, so that a run with many
// connections does not slow down.
func remember(list *[]*Conn, sweep *int, c *Conn) {
	if len(*list) >= *sweep {
		*list = slices.DeleteFunc(*list, (*Conn).finished)
		*sweep = 2*len(*list) + 32
	}
	*list = append(*list, c)
}
