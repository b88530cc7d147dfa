package zookeeper

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/sim"
)

// wire is one connection of a handle.
type wire struct {
	handle *Handle
	conn   *sim.Conn
	hello  *Response  // the answer to the connect request
	ready  sim.Signal // it has come
	over   sim.Signal // the connection is lost or closed
}

// Deliver handles a server's message.
func (w *wire) Deliver(p sim.Payload) {
	h := w.handle
	h.heard = h.node.Monotonic()
	switch p := p.(type) {
	case *Response:
		if p.Request.Op == Connect {
			w.hello = p
			w.ready.Fire()
			return
		}
		h.answered(p)
	case *WatchEvent:
		h.notify(p)
	default:
		panic("zookeeper: a client was sent " + p.String())
	}
}

// Closed is called when the server, or its machine, has closed the connection.
func (w *wire) Closed() { w.handle.disconnected(w) }

func (w *wire) send(t *sim.Task, r *Request) error {
	w.handle.sent = w.handle.node.Monotonic()
	return w.conn.Send(t, r)
}

// keep is the task that keeps the handle connected, and with it the session alive.
func (h *Handle) keep(t *sim.Task) {
	for !h.closed && !h.dead {
		w := h.connect(t)
		if w != nil && h.greet(t, w) {
			h.stay(t, w)
		}
		h.drop(w)
	}
}

// connect opens a connection to the next server; nil if it does not answer.
func (h *Handle) connect(t *sim.Task) *wire {
	server, round := h.servers.next()
	if round {
		h.fail(&h.unsent, ErrNoServer)
		t.Sleep(roundPause)
	}
	if scatter := h.config.Flavour.Scatter; h.again && scatter > 0 {
		t.Sleep(time.Duration(h.config.Rand.Int64N(int64(scatter))))
	}
	if h.closed || h.givenUp() {
		return nil
	}
	w := &wire{handle: h}
	conn, err := t.Dial(server, w, h.dialTimeout())
	if err != nil {
		return nil
	}
	w.conn = conn
	h.heard, h.again = h.node.Monotonic(), true // ClientCnxnSocketNIO.doIO counts the opening too
	return w
}

// greet asks for a session, or for the handle's own; false if the server does not serve, or has not got it.
func (h *Handle) greet(t *sim.Task, w *wire) bool {
	session := h.session
	hello := &Request{Op: Connect, Session: session.ID, Timeout: session.Timeout, Seen: h.seen}
	hello.Client = h.node.Name
	if h.closed || w.send(t, hello) != nil {
		return false
	}
	t.Wait(h.patience(), &w.ready, &w.over)
	switch {
	case w.hello == nil || h.closed || h.session != session:
		return false
	case w.hello.Session == 0:
		h.expired("is told by " + w.conn.Server().Name + " that its session has expired")
		return false
	case session.ID != 0:
		h.tell("goes on with its session on " + w.conn.Server().Name)
	case h.renewed:
		h.tell("has a new session on " + w.conn.Server().Name)
	}
	if asked := h.config.Timeout; session.ID == 0 && w.hello.Session != 0 && w.hello.Timeout != asked {
		h.tell(fmt.Sprintf("asks for a TTL of %v and is given %v", asked, w.hello.Timeout))
	}
	session.ID, session.Timeout = w.hello.Session, w.hello.Timeout
	h.servers.connected()
	if w.over.Fired() {
		return false
	}
	h.wire = w
	session.resume()
	return true
}

// stay sends what has waited for the connection, and then pings, until the connection is over or silent for too long.
func (h *Handle) stay(t *sim.Task, w *wire) {
	if r := h.rearm(); r != nil {
		_ = w.send(t, r)
	}
	for h.wire == w && len(h.unsent) > 0 {
		first := h.unsent[0]
		h.unsent = h.unsent[1:]
		h.post(t, first)
	}
	third := int64(h.session.Timeout) / 3
	beat := h.node.Monotonic()
	for h.wire == w {
		if !h.config.Flavour.Beats {
			beat = h.sent
		}
		now := h.node.Monotonic()
		switch dead := h.heard + 2*third; {
		case now >= dead:
			return
		case now >= beat+third:
			beat += (now - beat) / third * third // a ticker does not make up for what it has missed
			_ = w.send(t, &Request{Op: Ping})
		default:
			t.Wait(time.Duration(min(dead, beat+third)-now), &w.over)
		}
	}
}

// drop ends an attempt to connect, or a connection. Requests that wait for one fail, unless the library lets them wait
// on. If silence ended it, the library checks at once whether that was too long; if the server did, only when it has
// begun to connect again: a client that was paused does not know yet that its session has expired.
func (h *Handle) drop(w *wire) {
	silent := w == nil || !w.over.Fired()
	if w != nil {
		w.conn.Close()
		h.disconnected(w)
	}
	if !h.config.Flavour.Keeps {
		h.fail(&h.unsent, ErrConnectionLoss)
	}
	if silent {
		h.givenUp()
	}
}

// givenUp ends the session if no server has been heard for so long that the library takes it for expired, and reports
// whether it has. As in ClientCnxn.SendThread.run it is looked at when a wait was in vain, and when it begins to connect.
func (h *Handle) givenUp() bool {
	if h.closed || h.dead || !h.config.Flavour.GivesUp ||
		h.node.Monotonic()-h.heard < int64(h.session.Timeout)*4/3 {
		return false
	}
	h.expired("takes its session for expired, after so long without a server")
	return true
}

func (h *Handle) dialTimeout() time.Duration {
	if h.config.Flavour.Dial > 0 {
		return h.config.Flavour.Dial
	}
	return h.session.Timeout / time.Duration(len(h.servers.nodes))
}

func (h *Handle) patience() time.Duration {
	if thirds := h.config.Flavour.Patience; thirds > 0 {
		return h.session.Timeout / 3 * time.Duration(thirds)
	}
	return h.dialTimeout()
}
