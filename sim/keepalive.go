package sim

import "time"

// What the machines at both ends of a connection do when nothing comes through it, and their programs say nothing.

// retransmission is how long Linux repeats what is not acknowledged before it ends a connection (tcp(7), tcp_retries2).
const retransmission = 924600 * time.Millisecond

// KeepAlive makes the server's machine probe the client's, as TCP's keep-alive does: a connection whose client cannot
// be reached for idle ends at the server's end. Without it the server never notices a silent client. While something that the
// server has sent is not acknowledged it is repeated, and nothing is probed (Linux, tcp_keepalive_timer). A machine that has been off
// knows nothing of the connection, and answers either with a reset.
func (c *Conn) KeepAlive(idle time.Duration) {
	const probes = 8 // within idle, so that the end is noticed late by an eighth of it at most
	heard := c.engine.now
	var probe func()
	probe = func() {
		reset := c.clientOver && !c.hungUp && c.reachable()
		switch {
		case c.serverOver:
			return
		case c.reachable() && !reset:
			heard, c.unheard = c.engine.now, false
		case reset, c.engine.now.Sub(heard) >= retransmission, c.engine.now.Sub(heard) >= idle && !c.unheard && c.down.flight.len() == 0:
			c.inbox.push(&segment{kind: over})
			c.serveInbox()
			return
		}
		c.engine.schedule(c.engine.now.Add(idle/probes), action(probe), 0)
	}
	probe()
}

// probing is what the client's machine does with a connection on which it hears nothing.
type probing struct {
	every, after time.Duration // 0 is never
	under        bool          // way
	unheard      bool          // something that the client has sent will not be acknowledged
}

// Probe makes the client's machine probe the server's, as TCP's keep-alive does: when nothing comes through any more, a probe is
// sent after every duration of that name. A machine that is back and has forgotten the connection answers with a reset; a connection
// of which nothing was heard for the second duration ends, or after 924.6 s if something that was sent is not acknowledged. Both are
// then learnt by the client's Receiver.
func (c *Conn) Probe(every, after time.Duration) { c.probes = probing{every: every, after: after} }

// missServer begins to probe, now that nothing comes through.
func (c *Conn) missServer() {
	if c.probes.every <= 0 || c.probes.under || c.clientOver {
		return
	}
	c.probes.under = true
	since := c.engine.now
	var probe func()
	probe = func() {
		silence := c.engine.now.Sub(since)
		switch {
		case c.clientOver:
		case c.reachable():
			c.probes.under, c.probes.unheard = false, false
			if c.serverOver && c.down.flight.len() == 0 {
				c.down.send(segment{kind: over}, 0)
			}
		case silence >= retransmission, silence >= c.probes.after && !c.probes.unheard && c.up.flight.len() == 0:
			c.buffer.push(&segment{kind: over})
			c.readBuffer()
		default:
			c.engine.schedule(c.engine.now.Add(c.probes.every), action(probe), 0)
		}
	}
	c.engine.schedule(c.engine.now.Add(c.probes.every), action(probe), 0)
}

// reachable reports whether what one end's machine sends would be acknowledged by the other's.
func (c *Conn) reachable() bool {
	return !c.client.hostOff && c.up.blocked == 0 && c.down.blocked == 0
}
