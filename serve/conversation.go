package serve

import (
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/wire"
)

// conversation is one client's: the bytes of a socket on one side, a connection to the simulated server on the other. Its
// methods are called by the loop.
type conversation struct {
	wire.Conversation
	conn *sim.Conn
	out  *outbox
}

// converse begins a conversation with a server. Out takes what is to be sent to the client.
func (w *World) converse(n *sim.Node, speak wire.Conversation, out *outbox) *conversation {
	c := &conversation{Conversation: speak, out: out}
	c.conn = w.gateway.Connect(n, c)
	return c
}

// receive takes bytes of the client's. False ends the connection.
func (c *conversation) receive(bytes []byte) bool { return c.Receive(bytes, c.conn.Push) }

// over says that the client has gone, or is to go. What it sent before has been answered: the loop goes on before every act.
func (c *conversation) over() {
	c.out.add(c.Farewell())
	c.conn.Close()
}

// Deliver takes what the server sends.
func (c *conversation) Deliver(p sim.Payload) { c.out.add(c.Append(nil, p)) }

// Closed says that the server has closed the connection.
func (c *conversation) Closed() { c.out.end() }
