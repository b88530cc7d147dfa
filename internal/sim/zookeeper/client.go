package zookeeper

import (
	"net/netip"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
)

// client is a client's connection at the server that hosts it.
//
// Invariant: queue holds what has not been answered, in the order of arrival; its head is a write, a sync or a connect
// that the leader has not decided yet.
type client struct {
	server  *Server
	conn    *sim.Conn
	session SessionID
	timeout time.Duration
	queue   []*Request
	early   []*Request // what came before the answer to the connect request
	is      []Identity // who the client has proved to be
	address string     // where it is, if that is known

	established int64 // when it connected, by the wall clock
	counts      counts
	touched     bool // since the leader's last ping
	over        bool

	executing *Request    // the one that Execute is called for
	answer    sim.Payload // what Execute will return for it
}

// clientOf finds or makes the server's side of a connection.
func (s *Server) clientOf(conn *sim.Conn) *client {
	if c, ok := conn.Session.(*client); ok {
		return c
	}
	if len(s.clients) >= s.sweep {
		s.clients = slices.DeleteFunc(s.clients, (*client).gone)
		s.watches.purge()
		s.sweep = 2*len(s.clients) + 32
	}
	c := &client{server: s, conn: conn}
	conn.Session = c
	s.clients = append(s.clients, c)
	return c
}

// gone reports whether nobody hears what is sent: the client or the server has closed the connection.
func (c *client) gone() bool { return c.over || c.conn.Session != c }

// execute takes a request in, and returns the answer if it can be given at once.
func (c *client) execute(r *Request) sim.Payload {
	if c.over {
		return nil
	}
	c.executing = r
	c.take(r)
	answer := c.answer
	c.executing, c.answer = nil, nil
	return answer
}

func (c *client) take(r *Request) {
	s := c.server
	c.counts.received++
	s.counts.received++
	switch {
	case r.Op == FourLetterWord:
		c.address = r.Address
		c.reply(&Response{Request: r, Data: s.word(r.Path)})
		c.hangUp()
		return
	case !s.serving:
		c.hangUp()
		return
	case r.Op == Connect:
		c.connect(r)
		return
	case c.connecting(): // nothing more is read until the session is there
		c.early = append(c.early, r)
		return
	case c.session == 0:
		c.hangUp()
		return
	case r.Op == Authenticate:
		c.authenticate(r)
		return
	case !s.touch(c):
		return // MissingSessionException: the packet is dropped
	case r.Op == Unknown: // UnimplementedRequestProcessor
		c.reply(&Response{Request: r, Zxid: noZxid, Err: Unimplemented})
		c.hangUp()
		return
	}
	c.queue = append(c.queue, r)
	switch {
	case r.Op.writes():
		r.Auth = c.is
		s.submit(c.session, r, 0)
	case r.Op == Sync:
		s.submitSync(c.session, r)
	}
	c.drain()
}

// noZxid stands where a server has none to tell.
const noZxid = ^Zxid(0)

// connect opens a session, or asks the leader whether the client may go on with its own. A client that has seen more
// than this server is turned away without an answer (ZooKeeperServer.processConnectRequest).
func (c *client) connect(r *Request) {
	s := c.server
	tick := s.config.Tick
	c.timeout = min(max(r.Timeout, 2*tick), 20*tick)
	c.established = s.wall()
	if address, err := netip.ParseAddrPort(r.Address); err == nil {
		c.address = r.Address
		c.prove(Identity{"ip", address.Addr().Unmap().String()})
	}
	switch {
	case c.session != 0 || r.Seen > s.lastApplied():
		c.hangUp()
	case r.Session != 0:
		if old := s.hosted[r.Session]; old != nil {
			old.hangUp() // its unread requests are not executed; this happens before the password is checked
		}
		c.queue = append(c.queue, r)
		if r.Forged {
			c.validated(r.Session, false)
		} else {
			s.revalidate(c, r.Session)
		}
	default:
		c.queue = append(c.queue, r)
		c.bind(s.newSession())
		s.submit(c.session, r, c.timeout)
	}
}

// authenticate accepts the identity of a name and a password (digest), and that of the client's address (ip). Other
// schemes are unknown (ProviderRegistry) and end the connection. The server answers at once.
func (c *client) authenticate(r *Request) {
	a := &Response{Request: r}
	switch {
	case r.Malformed:
		c.hangUp()
		return
	case r.Scheme == "digest":
		c.prove(Digest(r.Data))
	case r.Scheme != "ip":
		a.Err = AuthFailed
	}
	c.reply(a)
	if a.Err != OK {
		c.hangUp()
	}
}

// prove notes who the client is. Requests that are on their way have been made before.
func (c *client) prove(id Identity) {
	if !slices.Contains(c.is, id) {
		c.is = append(slices.Clip(c.is), id)
	}
}

// bind makes it the connection of a session. An earlier one, if it is still open, does not hear of the session's end.
func (c *client) bind(id SessionID) {
	c.session = id
	c.server.hosted[id] = c
}

// validated takes the leader's word on the session that the client wants to go on with.
func (c *client) validated(id SessionID, valid bool) {
	if c.gone() || len(c.queue) == 0 {
		return
	}
	r := c.queue[0]
	c.queue = c.queue[1:]
	if !valid {
		c.reply(&Response{Request: r, Zxid: c.server.lastApplied()})
		c.hangUp()
		return
	}
	c.bind(id)
	c.reply(&Response{Request: r, Zxid: c.server.lastApplied(), Session: id, Timeout: c.timeout})
	c.drain()
}

// connecting reports whether the leader has not decided yet on the connect request.
func (c *client) connecting() bool { return len(c.queue) > 0 && c.queue[0].Op == Connect }

// drain answers what the server can answer by itself. Everything behind a write or a sync waits for it, pings too
// (CommitProcessor): that is what makes a client with a write on its way notice that its server has been cut off.
func (c *client) drain() {
	for len(c.early) > 0 && !c.connecting() && !c.gone() {
		first := c.early[0]
		c.early = c.early[1:]
		c.take(first)
	}
	for len(c.queue) > 0 && !c.gone() {
		r := c.queue[0]
		if r.Op.writes() || r.Op == Sync || r.Op == Connect {
			return
		}
		c.queue = c.queue[1:]
		a := c.server.read(c, r)
		if o := c.server.config.Observer; o != nil {
			o.Answered(c.server, a)
		}
		c.reply(a)
	}
}

// finish answers the head of the queue if it is the request, which the leader has decided.
func (c *client) finish(r *Request, answer func() *Response) bool {
	if len(c.queue) == 0 || c.queue[0] != r {
		return false
	}
	c.queue = c.queue[1:]
	c.reply(answer())
	return true
}

// reply answers a request.
func (c *client) reply(r *Response) {
	c.counts.answered(r.Request, c.server.node.Monotonic())
	c.server.counts.sent++
	if r.Request == c.executing && c.answer == nil {
		c.answer = r
		return
	}
	c.send(r)
}

// send puts a message on the connection, behind the answer that Execute was going to return.
func (c *client) send(p sim.Payload) {
	if c.gone() {
		return
	}
	if first := c.answer; first != nil {
		c.answer = nil
		c.conn.Reply(first)
	}
	c.conn.Reply(p)
}

// hangUp closes the connection, behind the answer that Execute was going to return.
func (c *client) hangUp() {
	if first := c.answer; first != nil {
		c.answer = nil
		c.conn.Reply(first)
	}
	c.conn.Hangup()
	c.over = true
	c.queue = nil
	if c.server.hosted[c.session] == c {
		delete(c.server.hosted, c.session)
	}
}
