package sim

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Node is a machine with one process on it, a server or a client, and clocks of its own.
type Node struct {
	Clock
	Name    string
	index   int      // in engine.nodes
	server  Server   // nil for a client
	process *Process // nil for a server

	life    int   // counts deaths: what was begun in an earlier life does not reach this one
	pauses  int   // how many faults pause it now
	stood   int64 // for how long pauses that are over have stopped it, on its monotonic clock
	since   int64 // when the present one began, likewise
	down    bool  // its process is dead
	hostOff bool  // its machine is off too: nothing that is sent to it is even refused

	due     []*Timer // timers that came due during a pause
	held    []func() // what its code will do first after a pause
	inbound []*Conn  // a server's connections, in the order in which they were opened
	opened  []*Conn  // those that it has opened itself, in that order; some may be over
	sweep   int      // how many there may be before those that are over are forgotten
	order   *Rand    // the order in which ready connections are served
	delays  []delays // of what it sends, by the index of the other node
}

// Server is the code of a server process. It runs at one instant of virtual time and must not keep its node busy.
type Server interface {
	// Execute carries out a request and returns the answer; nil if there is none, or not yet.
	Execute(c *Conn, request Payload) Payload
	// Crash is called when the process has died, with or without its machine.
	Crash(host bool, keep string)
	// Restart is called when the process has been started again.
	Restart()
}

// Listener is a server that is told when its connections end.
type Listener interface {
	// Disconnected is called when a connection has ended: the client has closed it or died, it was reset, or its
	// keep-alive has given up. It is not called if the server ended the connection itself, by Conn.Hangup or its own
	// death.
	Disconnected(c *Conn)
}

// Refuser is a server that is told of requests that a fault answers with an error instead of executing them, because a
// failing request changes the server too, or because the server would never answer that request so.
type Refuser interface {
	// Refused returns the answer to a request at the moment at which it would have been executed: the error, or the
	// result of executing it.
	Refused(c *Conn, request, answer Payload) Payload
}

// AddServer adds a server node.
func (e *Engine) AddServer(name string, s Server) *Node {
	n := e.addNode(name)
	n.server = s
	n.order = e.Rand("order", name)
	return n
}

func (e *Engine) addNode(name string) *Node {
	if e.byName[name] != nil {
		panic("sim: there is already a node named " + name)
	}
	n := e.spare.nodes.take()
	n.Name, n.index, n.engine, n.wall = name, len(e.nodes), e, Epoch
	e.nodes = append(e.nodes, n)
	e.byName[name] = n
	return n
}

// emptied returns a node that is new, but for the memory of its lists.
func (n *Node) emptied() Node {
	return Node{
		Clock:   Clock{timers: emptied(n.timers)},
		inbound: emptied(n.inbound), opened: emptied(n.opened), delays: emptied(n.delays),
	}
}

// Wall returns the wall clock's reading in nanoseconds since 1970. The call counts as a look at the clock.
func (n *Node) Wall() int64 {
	n.engine.Trace.Look(n.Name, false)
	return n.Clock.Wall()
}

// Up reports whether the node's process is alive; it may be paused.
func (n *Node) Up() bool { return !n.down }

// Life counts the deaths of the node's process: nothing that an earlier life began reaches this one.
func (n *Node) Life() int { return n.life }

// Paused reports whether the node's code stands still.
func (n *Node) Paused() bool { return n.pauses > 0 }

// running reports whether the node's code runs.
func (n *Node) running() bool { return n.pauses == 0 && !n.down }

// Step records a step of the node that is not a message, and lets faults act on it. The code of a client uses
// Task.Step instead.
func (n *Node) Step(does trace.Does, what string, sum uint64, detail func() string) {
	s := trace.Step{Node: n.Name, Does: does, What: what}
	n.engine.before(&s, &message{})
	n.engine.took(&s, &message{}, sum, detail)
}

// Take is Step for a step that has an effect. Faults that are injected before it act first: a crash cancels it, a
// pause postpones it. The function effect reports whether it had an effect; if not, the step has not been taken.
func (n *Node) Take(does trace.Does, what string, effect func() bool) {
	s := trace.Step{Node: n.Name, Does: does, What: what}
	life := n.life
	n.engine.before(&s, &message{})
	switch {
	case n.life != life:
	case n.pauses > 0:
		n.hold(func() { n.take(&s, effect) })
	default:
		n.take(&s, effect)
	}
}

func (n *Node) take(s *trace.Step, effect func() bool) {
	if effect() {
		n.engine.took(s, &message{}, 0, nil)
	}
}

// Ran returns for how long the node's code has run, in nanoseconds of its monotonic clock: pauses do not count. No process
// could tell; it is for work that keeps the processor busy.
func (n *Node) Ran() int64 {
	ran := n.Monotonic() - n.stood
	if n.pauses > 0 {
		ran -= n.Monotonic() - n.since
	}
	return ran
}

// pause stops the node's code and returns what resumes it, which does nothing once the paused process has died.
func (n *Node) pause() (resume func()) {
	if n.pauses++; n.pauses == 1 {
		n.since = n.Monotonic()
	}
	life := n.life
	return func() {
		if n.life != life {
			return
		}
		n.pauses--
		if n.pauses == 0 {
			n.stood += n.Monotonic() - n.since
			n.engine.woken = append(n.engine.woken, n)
		}
	}
}

// hold keeps something that the node's code was about to do until the pause is over.
func (n *Node) hold(f func()) { n.held = append(n.held, f) }

// catchUp does what came up during a pause: first what the code was about to do, then what waits in the socket
// buffers, then the timers, then what became ready otherwise. A reply that waits in the buffer is therefore seen even
// if the time-out of its call has passed too; that is the more dangerous of the two orders that a real process may
// take. Each of these may pause the node again: the rest then waits for the next time.
func (n *Node) catchUp() {
	for n.running() && len(n.held) > 0 {
		f := n.held[0]
		n.held = n.held[1:]
		f()
	}
	n.serve()
	n.readBuffers()
	for n.running() && len(n.due) > 0 {
		t := n.due[0]
		n.due = n.due[1:]
		t.catchUp()
	}
	if n.process != nil {
		n.process.thaw()
	}
}

// readBuffers hands over what arrived during a pause on the connections that the node has opened.
func (n *Node) readBuffers() {
	var own []*Conn // what is read may open further connections
	for _, c := range n.opened {
		if c.buffer.len() > 0 {
			own = append(own, c)
		}
	}
	for _, c := range own {
		c.readBuffer()
	}
}

// serve executes what waits in the server's socket buffers: connections in random order, since a server's event loop
// promises none between them; what one connection sent, in its order.
func (n *Node) serve() {
	for {
		waiting := 0
		for _, c := range n.inbound {
			if c.mayServe() {
				waiting++
			}
		}
		switch waiting {
		case 0:
			return
		case 1:
			n.serveNth(0)
		default:
			n.serveNth(int(n.order.Int64N(int64(waiting))))
		}
	}
}

// serveNth gives a turn to one of the connections that wait for it.
func (n *Node) serveNth(i int) {
	for _, c := range n.inbound {
		if !c.mayServe() {
			continue
		}
		if i == 0 {
			c.serveInbox()
			return
		}
		i--
	}
}

// drop forgets a connection.
func (n *Node) drop(c *Conn) {
	if i := slices.Index(n.inbound, c); i >= 0 {
		n.inbound = slices.Delete(n.inbound, i, i+1)
	}
}

// crash kills the node's process, and switches its machine off if host. Data that was written to sockets still
// travels. It reports whether there was anything left to kill.
func (n *Node) crash(host bool, keep string) bool {
	if n.down && (!host || n.hostOff || n.process != nil) {
		return false
	}
	wasUp := !n.down
	n.hostOff = host
	n.die()
	if !wasUp {
		return true
	}
	if n.process != nil && n.engine.Crashed != nil {
		n.engine.Crashed(n)
	}
	if n.server != nil {
		n.server.Crash(host, keep)
	}
	return true
}

// die ends the node's process, by a crash or because its main task has returned.
func (n *Node) die() {
	n.down = true
	n.life++
	n.pauses = 0
	n.due, n.held = nil, nil
	for i := len(n.timers) - 1; i >= 0; i-- {
		if t := n.timers[i]; !t.always {
			t.Stop()
		}
	}
	for _, c := range n.opened {
		c.loseClient(n.hostOff)
	}
	if n.server != nil {
		for _, c := range n.engine.conns {
			if c.server == n {
				c.loseServer(n.hostOff)
			}
		}
	}
	n.inbound = n.inbound[:0]
	if n.process != nil {
		n.process.die()
	}
}

// restart starts the node's process again, and its machine if that was off.
func (n *Node) restart() {
	if !n.down {
		return
	}
	n.down, n.hostOff = false, false
	if n.server != nil {
		n.server.Restart()
	}
	if n.process != nil {
		n.process.start()
	}
	for _, c := range n.engine.conns {
		if c.server == n {
			c.endSilence()
		}
	}
}

// delays is the stream of delays of what one node sends to another.
type delays struct {
	to   int // the other's index
	rand *Rand
}

// linkRand returns the stream of delays from this node to another.
func (n *Node) linkRand(to *Node) *Rand {
	i, found := slices.BinarySearchFunc(n.delays, to.index, func(d delays, index int) int { return d.to - index })
	if !found {
		n.delays = slices.Insert(n.delays, i, delays{to.index, n.engine.Rand("latency", n.Name, to.Name)})
	}
	return n.delays[i].rand
}
