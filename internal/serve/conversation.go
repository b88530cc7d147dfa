package serve

import (
	"cmp"
	"fmt"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

// conversation is one client's: the bytes of a socket on one side, a connection to the simulated server on the other. Its
// methods are called by the loop.
type conversation struct {
	wire.Conversation
	world *World
	conn  *sim.Conn
	limit func(*sim.Conn) redis.OutputLimit // how much may be unread; nil: the world's own limit is the only one
	out   *outbox
	name  string // of the client, for those who run the server
}

// converse begins a conversation with a server. Out takes what is to be sent to the client.
func (w *World) converse(f front, client string, out *outbox) *conversation {
	c := &conversation{Conversation: f.speak(client), world: w, limit: f.limit, out: out, name: client}
	c.conn = w.gateway.Connect(f.server, c)
	return c
}

// receive takes bytes of the client's. False ends the connection.
func (c *conversation) receive(bytes []byte) bool { return c.Receive(bytes, c.conn.Push) }

// over says that the client has disconnected, or is to be disconnected. Its earlier requests have been answered: the
// loop continues before every act.
func (c *conversation) over() {
	c.send(c.Farewell())
	c.conn.Close()
}

// Deliver handles the server's messages.
func (c *conversation) Deliver(p sim.Payload) { c.send(c.Append(nil, p)) }

// send has bytes sent, unless the client has left too many unread: then it is disconnected, and told of on the world's log.
func (c *conversation) send(bytes []byte) {
	own := redis.OutputLimit{Name: "the bound of this process for a client without a limit of its own", Hard: c.world.MaxUnread}
	limit := own
	if c.limit != nil {
		if l := c.limit(c.conn); l.Hard > 0 || l.Soft > 0 {
			limit, limit.Hard = l, cmp.Or(l.Hard, own.Hard)
		}
	}
	if exceeded := c.out.add(bytes, limit, c.world.engine.Now()); exceeded != "" {
		_, _ = fmt.Fprintf(c.world.Log, "%s is disconnected: %s\n", c.name, exceeded)
	}
}

// Closed is called when the server has closed the connection.
func (c *conversation) Closed() { c.out.end() }
