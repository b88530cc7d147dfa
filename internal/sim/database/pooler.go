package database

import (
	"slices"

	"github.com/locksim/locksim/sim"
)

// Pooler is a PgBouncer whose pool_mode is transaction: clients connect to it, and it lends each of them one of its
// few connections to the server for the time of a transaction, or of a single statement. State of a connection, such
// as an advisory lock, is thereby shared by all clients.
//
// Create it with [NewPooler], add it with sim.Engine.AddServer, then call [Pooler.Attach].
type Pooler struct {
	node, server *sim.Node
	size         int
	backends     []*backend
	idle         []*backend // the one used last is used next (PgBouncer: server_round_robin is off)
	waiting      []*guest   // for a connection, in their order
}

var _ sim.Listener = (*Pooler)(nil)

// backend is a connection to the server.
type backend struct {
	pooler *Pooler
	conn   *sim.Conn
	lentTo *guest // nil if it is idle
}

// guest is a client's connection to the pooler.
type guest struct {
	conn  *sim.Conn
	queue []*Request // what it has sent and was not answered
	on    *backend   // what it has been lent; nil between transactions
}

// NewPooler returns a pooler that keeps at most size connections to the server.
func NewPooler(size int) *Pooler { return &Pooler{size: size} }

// Attach tells the pooler which node it runs on, and which server's node it forwards to.
func (p *Pooler) Attach(n, server *sim.Node) { p.node, p.server = n, server }

// Execute passes a statement on as soon as there is a connection for it.
func (p *Pooler) Execute(c *sim.Conn, payload sim.Payload) sim.Payload {
	g, ok := c.Session.(*guest)
	if !ok {
		g = &guest{conn: c}
		c.Session = g
	}
	g.queue = append(g.queue, payload.(*Request))
	if len(g.queue) == 1 {
		p.lend(g)
	}
	return nil
}

// lend gives a client a connection, unless it has one, and passes its statement on.
func (p *Pooler) lend(g *guest) {
	switch {
	case g.on != nil:
	case len(p.idle) > 0:
		last := len(p.idle) - 1
		g.on = p.idle[last]
		p.idle = p.idle[:last]
	case len(p.backends) < p.size:
		g.on = &backend{pooler: p}
		g.on.conn = p.node.Connect(p.server, g.on)
		p.backends = append(p.backends, g.on)
	default:
		p.waiting = append(p.waiting, g)
		return
	}
	g.on.lentTo = g
	_ = g.on.conn.Push(g.queue[0]) // if the connection is over, Closed says so
}

// Deliver passes an answer on, and returns the connection to the pool if no transaction is open on it.
func (b *backend) Deliver(payload sim.Payload) {
	p, g, answer := b.pooler, b.lentTo, payload.(*Response)
	g.queue = g.queue[1:]
	if !answer.Open {
		g.on, b.lentTo = nil, nil
		p.idle = append(p.idle, b)
	}
	g.conn.Reply(answer)
	p.lendNext()
	if len(g.queue) > 0 {
		p.lend(g)
	}
}

// lendNext gives the next in the queue a connection, if there is one.
func (p *Pooler) lendNext() {
	if len(p.waiting) > 0 && (len(p.idle) > 0 || len(p.backends) < p.size) {
		next := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.lend(next)
	}
}

// Closed ends the connection of the client that this one was lent to.
func (b *backend) Closed() {
	b.pooler.forget(b)
	if g := b.lentTo; g != nil {
		g.on, g.queue = nil, nil
		g.conn.Hangup()
	}
	b.pooler.lendNext()
}

func (p *Pooler) forget(b *backend) {
	other := func(one *backend) bool { return one == b }
	p.backends, p.idle = slices.DeleteFunc(p.backends, other), slices.DeleteFunc(p.idle, other)
}

// Disconnected closes the server connection that a client leaves in the middle of a transaction. Idle server
// connections stay open, with all their state.
func (p *Pooler) Disconnected(c *sim.Conn) {
	g, ok := c.Session.(*guest)
	if !ok {
		return
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(other *guest) bool { return other == g })
	if b := g.on; b != nil {
		p.forget(b)
		b.conn.Close()
		p.lendNext()
	}
}

// Crash drops all connections.
func (p *Pooler) Crash(bool, string) { p.backends, p.idle, p.waiting = nil, nil, nil }

// Restart starts the pooler without any connection.
func (p *Pooler) Restart() {}
