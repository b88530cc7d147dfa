package sim

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// Conn is a connection from a client to a server: two streams of segments, each of which arrives in order or not at
// all. Between connections there is no order.
type Conn struct {
	// Session is the server's own state of the connection. It is discarded when the server forgets the
	// connection.
	Session any

	engine         *Engine
	client, server *Node
	receiver       Receiver
	up, down       stream
	opened         Signal     // the dialling task waits for it
	refused        bool       // by the server
	accepted       bool       // by the server's machine
	ofServer       bool       // the client's end is the code of a server, which does not wait for anything
	early          []func()   // what a server pushed before its peer had accepted
	hungUp         bool       // the client's machine has told the server that it is over
	clientOver     bool       // the client has closed it, died, or learnt that it is over
	serverOver     bool       // the server has, or knows nothing of it
	unheard        bool       // something that the server has sent will not be acknowledged
	hostOff        bool       // the server's machine is off: what is sent to it waits for retransmission
	probes         probing    // of the client's machine
	inbox          mailbox    // of the server
	buffer         mailbox    // of the client
	slots          [4]segment // where the four queues begin
}

// mailbox is what has arrived at one end and is still to be read.
type mailbox struct {
	fifo
	held int // faults that delay the first of it
}

// Dial opens a connection from the task's node, which takes a round trip. A timeout of 0 waits forever.
func (t *Task) Dial(server *Node, r Receiver, timeout time.Duration) (*Conn, error) {
	t.mustLive()
	c := newConn(t.Node(), server, r)
	c.up.send(segment{kind: syn}, 0)
	if timeout <= 0 {
		timeout = Forever
	}
	if t.Wait(timeout, &c.opened) < 0 {
		c.giveUp()
		return nil, ErrDialTimeout
	}
	switch {
	case c.refused:
		return nil, ErrRefused
	case c.clientOver:
		return nil, ErrClosed
	}
	return c, nil
}

// Adopt returns a connection that the task's process has had since before the run: the server has executed the requests on it, and
// their answers have been read. It is for the start of a process. If the server's process is down by then, its machine has closed the
// connection.
func (t *Task) Adopt(server *Node, r Receiver, requests []Payload) *Conn {
	t.mustLive()
	c := newConn(t.Node(), server, r)
	c.accepted = true
	c.opened.Fire()
	if server.down {
		c.serverOver = true
		if !c.hostOff {
			c.learnEnd(false)
		}
		return c
	}
	server.inbound = append(server.inbound, c)
	for _, p := range requests {
		server.server.Execute(c, p)
	}
	return c
}

// Connect opens a connection from a server's code to a peer, without waiting for it: messages that are pushed before
// the peer has accepted are delivered after the opening. The receiver's Closed is called when the connection has ended
// or was refused.
func (n *Node) Connect(peer *Node, r Receiver) *Conn {
	c := newConn(n, peer, r)
	c.ofServer = true
	c.up.send(segment{kind: syn}, 0)
	return c
}

// Push sends a message on a connection that a server's code has opened. The error is ErrClosed if the connection
// has ended; the message was then certainly not sent.
func (c *Conn) Push(p Payload) error {
	if c.clientOver {
		return ErrClosed
	}
	s := stepOf(trace.Send, c.client, p, c.server)
	m := message{conn: c, payload: p}
	c.engine.before(&s, &m)
	switch {
	case c.clientOver:
		return ErrClosed
	case !c.opened.Fired():
		c.early = append(c.early, c.pushLater(s, m))
	case c.client.pauses > 0:
		c.client.hold(c.pushLater(s, m))
	default:
		c.push(&s, &m)
	}
	return nil
}

// pushLater returns what sends the message later. It stands apart so that its closure costs nothing else.
func (c *Conn) pushLater(s trace.Step, m message) func() {
	return func() { c.push(&s, &m) }
}

func (c *Conn) push(s *trace.Step, m *message) {
	m.id = c.engine.newMessage()
	c.up.send(segment{payload: m.payload, answer: m.answer, msg: m.id}, m.delay)
	c.engine.took(s, m, m.payload.Sum(), c.engine.detail(m.payload))
}

// pushEarly sends what waited for the connection to be opened, or has the paused code send it when it goes on.
func (c *Conn) pushEarly() {
	for _, push := range c.early {
		if c.client.pauses > 0 {
			c.client.hold(push)
		} else {
			push()
		}
	}
	c.early = nil
}

func newConn(client, server *Node, r Receiver) *Conn {
	c := client.engine.spare.conns.take()
	c.engine, c.client, c.server, c.receiver = client.engine, client, server, r
	c.up.init(c, client, server)
	c.down.init(c, server, client)
	for i, q := range [...]*fifo{&c.up.flight, &c.down.flight, &c.inbox.fifo, &c.buffer.fifo} {
		q.items = c.slots[i : i : i+1] // nearly always there is room for what they hold
	}
	if server.hostOff {
		c.meetSilence()
	}
	c.engine.addConn(c)
	return c
}

// giveUp ends an attempt to connect, which the client's kernel then no longer repeats.
func (c *Conn) giveUp() {
	if c.up.flight.len() > 0 {
		c.clientOver, c.hungUp = true, true
		c.up.lose()
		return
	}
	c.Close()
}

// Send puts a message of the client on the wire. A fault may pause or kill the task before it does. The error is
// ErrClosed if the connection has ended; the message was then certainly not sent.
func (c *Conn) Send(t *Task, p Payload) error {
	t.mustLive()
	if t.Node() != c.client {
		panic("sim: " + t.String() + " sends on a connection of " + c.client.Name)
	}
	if c.clientOver {
		return ErrClosed
	}
	s := stepOf(trace.Send, c.client, p, c.server)
	m := message{conn: c, payload: p}
	c.engine.before(&s, &m)
	t.checkpoint()
	if c.clientOver {
		return ErrClosed
	}
	c.push(&s, &m)
	t.checkpoint()
	return nil
}

// Reply sends a message from the server to the client: the answer to a request, or a push. Nothing is sent on a
// connection that has ended at the server's end, as all have when its process has died.
func (c *Conn) Reply(p Payload) {
	if c.serverOver {
		return
	}
	s := stepOf(trace.Reply, c.server, p, c.client)
	m := message{conn: c, payload: p, reply: true}
	c.engine.before(&s, &m)
	switch {
	case c.server.down:
	case c.server.pauses > 0:
		c.holdReply(s, m)
	default:
		c.sendReply(&s, &m)
	}
}

func (c *Conn) sendReply(s *trace.Step, m *message) {
	m.id = c.engine.newMessage()
	c.down.send(segment{payload: m.payload, msg: m.id}, m.delay)
	c.engine.took(s, m, m.payload.Sum(), c.engine.detail(m.payload))
}

// holdReply sends the answer when the server's code goes on. It stands apart so that its closure costs nothing else.
func (c *Conn) holdReply(s trace.Step, m message) {
	c.server.hold(func() { c.sendReply(&s, &m) })
}

// Close closes the client's end. Messages that were sent before still arrive at the server and are executed.
func (c *Conn) Close() {
	if c.clientOver {
		return
	}
	c.clientOver = true
	c.buffer.clear()
	c.hangUp()
	c.down.lose()
}

// Hangup closes the server's end. Messages that the server has sent still arrive, and then the client's Receiver learns
// that the connection has ended; messages that the client sends meanwhile are refused. The server's Disconnected is not
// called.
func (c *Conn) Hangup() {
	switch {
	case c.serverOver:
	case c.server.pauses > 0:
		c.server.hold(c.Hangup)
	default:
		c.forget()
		c.down.send(segment{kind: over}, 0)
	}
}

// hangUp is the client's kernel telling the server, once, that nobody is there any more.
func (c *Conn) hangUp() {
	if !c.hungUp {
		c.hungUp = true
		c.up.send(segment{kind: over}, 0)
	}
}

// Client returns the node at the client's end.
func (c *Conn) Client() *Node { return c.client }

// Server returns the node at the server's end.
func (c *Conn) Server() *Node { return c.server }

func (e *Engine) newMessage() uint64 {
	e.messages++
	return uint64(e.messages)
}

func stepOf(does trace.Does, n *Node, p Payload, peer *Node) trace.Step {
	what, alt := p.What()
	return trace.Step{Node: n.Name, Does: does, What: what, Alt: alt, Peer: peer.Name}
}

// arriveAtServer is what the server's machine does with a segment.
func (c *Conn) arriveAtServer(g *segment) {
	c.probes.unheard = c.probes.unheard || !c.reachable()
	switch {
	case g.kind == syn && c.server.down:
		c.down.send(segment{kind: over, refuse: true}, 0)
	case g.kind == syn:
		c.accepted = true
		c.server.inbound = append(c.server.inbound, c)
		c.down.send(segment{kind: synAck}, 0)
	case c.server.down || c.serverOver:
		c.serverOver = true
		if g.kind == data {
			c.down.send(segment{kind: over}, 0)
		}
	case g.kind == over:
		c.inbox.push(g)
		c.serveInbox()
	default:
		c.receive(g)
	}
}

// receive takes a request off the wire.
func (c *Conn) receive(g *segment) {
	s := stepOf(trace.Receive, c.server, g.payload, c.client)
	m := message{conn: c, payload: g.payload, id: g.msg, arriving: true}
	if !g.seen {
		c.engine.before(&s, &m)
		g.seen = true
		if m.answer != nil {
			g.answer = m.answer
		}
		switch {
		case m.lost, c.server.down && !c.hostOff:
			return
		case c.hostOff: // nobody acknowledges it, so that it will be sent again
			g.seen = false
			c.up.flight.pushFront(g)
			return
		case m.delay > 0:
			c.up.flight.pushFront(g)
			c.up.delay(0, m.delay)
			return
		}
	}
	g.seen = false
	c.inbox.push(g)
	c.engine.took(&s, &m, 0, nil)
	c.serveInbox()
}

// serveInbox executes what has arrived on the connection, in order, as one turn of the server's event loop.
func (c *Conn) serveInbox() {
	for c.mayServe() {
		first := c.inbox.at(0)
		switch {
		case first.kind == over:
			c.hearEnd()
		case !first.seen:
			first.seen = true
			c.beforeExecution(first) // after which all may be different
		default:
			c.execute(c.inbox.pop())
		}
	}
}

// mayServe reports whether there is something that the server can execute now.
func (c *Conn) mayServe() bool {
	return c.inbox.len() > 0 && c.inbox.held == 0 && c.server.running()
}

// beforeExecution lets the faults act that are hung before the execution of the first request of the inbox.
func (c *Conn) beforeExecution(g *segment) {
	s := stepOf(trace.Execute, c.server, g.payload, c.client)
	m := message{conn: c, payload: g.payload, id: g.msg}
	c.engine.before(&s, &m)
	switch {
	case c.inbox.len() == 0: // the server has crashed
	case m.lost: // and with it what came after it
		c.inbox.clear()
	default:
		if m.answer != nil {
			c.inbox.at(0).answer = m.answer
		}
		if m.delay > 0 {
			c.hold(&c.inbox, m.delay, c.serveInbox)
		}
	}
}

// hold delays the first segment of a mailbox, and with it all that follow.
func (c *Conn) hold(box *mailbox, d time.Duration, release func()) {
	box.held++
	c.engine.arrivals++
	c.engine.schedule(c.engine.now.Add(d), action(func() {
		box.held--
		c.engine.arrivals--
		release()
	}), 0)
}

func (c *Conn) execute(g segment) {
	s := stepOf(trace.Execute, c.server, g.payload, c.client)
	answer := g.answer
	if answer == nil {
		answer = c.server.server.Execute(c, g.payload)
	} else if s, ok := c.server.server.(Refuser); ok {
		answer = s.Refused(c, g.payload, answer)
	}
	sum := g.payload.Sum()
	if answer != nil {
		sum ^= answer.Sum() * 3
	}
	m := message{conn: c, payload: g.payload, id: g.msg}
	c.engine.took(&s, &m, sum, c.engine.exchange(g.payload, answer))
	if answer != nil {
		c.Reply(answer)
	}
}

// arriveAtClient is what the client's machine does with a segment.
func (c *Conn) arriveAtClient(g *segment) {
	c.unheard = c.unheard || !c.reachable()
	switch {
	case c.client.hostOff:
	case c.client.down || c.clientOver:
		if g.kind == data {
			c.hangUp()
		}
	case g.kind == synAck:
		c.opened.Fire()
		c.pushEarly()
	default:
		c.buffer.push(g)
		c.readBuffer()
	}
}

// readBuffer hands what has arrived to the client's code.
func (c *Conn) readBuffer() {
	for c.buffer.len() > 0 && c.buffer.held == 0 && c.client.running() && !c.clientOver {
		if first := c.buffer.at(0); first.kind == over {
			c.learnEnd(first.refuse)
		} else if c.mayDeliver(first) {
			c.receiver.Deliver(c.buffer.pop().payload)
		}
	}
}

// learnEnd is the client's code learning that the connection is over.
func (c *Conn) learnEnd(refused bool) {
	c.buffer.clear()
	c.clientOver, c.hungUp, c.refused = true, true, refused
	if c.ofServer || c.opened.Fired() {
		c.receiver.Closed()
		return
	}
	c.opened.Fire()
}

// mayDeliver lets the faults act that are hung before and after the reception of the buffer's first message, each of
// them once; it reports whether the client's code may have it now.
func (c *Conn) mayDeliver(g *segment) bool {
	s := stepOf(trace.Receive, c.client, g.payload, c.server)
	m := message{conn: c, payload: g.payload, id: g.msg, reply: true, arriving: true}
	if !g.seen {
		g.seen = true
		c.engine.before(&s, &m)
		switch {
		case c.buffer.len() == 0: // the client has crashed
			return false
		case m.lost: // and with it what came after it
			c.buffer.clear()
			return false
		case m.delay > 0:
			c.hold(&c.buffer, m.delay, c.readBuffer)
			return false
		case !c.client.running():
			return false
		}
	}
	if !g.noted {
		g.noted = true
		c.engine.took(&s, &m, 0, nil)
	}
	return c.buffer.len() > 0 && c.buffer.held == 0 && c.client.running()
}

// hearEnd is the server's code learning that the connection is over.
func (c *Conn) hearEnd() {
	if l, ok := c.server.server.(Listener); ok {
		l.Disconnected(c)
	}
	c.forget()
}

// forget ends the connection at the server's end.
func (c *Conn) forget() {
	c.serverOver = true
	c.Session = nil
	c.inbox.clear()
	c.server.drop(c)
}

// finished reports whether nothing can happen on the connection any more.
func (c *Conn) finished() bool {
	return c.clientOver && (c.serverOver || !c.accepted) &&
		c.up.flight.len() == 0 && c.down.flight.len() == 0 && c.inbox.len() == 0
}

// waits reports whether a message of the client is held up on its way or by the server.
func (c *Conn) waits() bool { return c.up.flight.carries() || c.inbox.carries() }

// loseClient is what becomes of the connection when the client's process dies. Its kernel closes the connection,
// unless its machine goes off: then there is only silence.
func (c *Conn) loseClient(host bool) {
	if host {
		c.up.powerOff()
	}
	if c.clientOver {
		return
	}
	c.clientOver = true
	c.buffer.clear()
	if !host {
		c.hangUp()
	}
}

// loseServer is what becomes of the connection when the server's process dies. Its kernel closes the connection,
// unless its machine goes off: then there is only silence, until the machine is back and answers with a reset.
func (c *Conn) loseServer(host bool) {
	c.inbox.clear()
	c.Session = nil
	if host {
		c.down.powerOff()
		c.meetSilence()
	}
	if !c.accepted || c.serverOver { // its SYN is still on its way, or its end
		return
	}
	c.serverOver = true
	if !host {
		c.down.send(segment{kind: over}, 0)
	}
}

// meetSilence makes what is sent to the server wait until its machine is on again.
func (c *Conn) meetSilence() {
	if !c.hostOff {
		c.hostOff = true
		c.up.block(true)
	}
}

// endSilence lets what was sent to a machine that was off arrive now that it is on.
func (c *Conn) endSilence() {
	if c.hostOff {
		c.hostOff = false
		c.up.unblock(true)
	}
}

// breakUp closes or resets the connection from the middle: both ends learn of it after their latency. A close lets
// what is on its way arrive; a reset destroys it, in both directions unless one is named.
func (c *Conn) breakUp(reset bool, lose Loss) {
	if destroys(reset, lose, LoseRequest) {
		c.up.drop()
	}
	if destroys(reset, lose, LoseReply) {
		c.down.drop()
	}
	c.up.send(segment{kind: over}, 0)
	c.down.send(segment{kind: over}, 0)
}

// destroys reports whether a break destroys what is on its way in a direction, which is named as the loss of it.
func destroys(reset bool, lose, direction Loss) bool {
	return lose == direction || reset && lose == LoseNothing
}
