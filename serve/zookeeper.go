package serve

import (
	"encoding/binary"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/zookeeper"
	"github.com/locksim/locksim/sim/zookeeper/jute"
)

// ZooKeeper makes a world of one ensemble, with a server for each address. A port of 0 is any that is free.
func ZooKeeper(seed uint64, addresses []string, tick time.Duration) (*World, error) {
	w := newWorld(seed)
	z := zookeeper.New(w.engine, zookeeper.Config{Servers: len(addresses), Tick: tick})
	for i, address := range addresses {
		w.setClock(z.Servers[i].Node())
		if err := w.listen(address, &zooKeeperFront{z.Servers[i].Node()}); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// zooKeeperFront speaks ZooKeeper's protocol with the clients of one server.
type zooKeeperFront struct{ node *sim.Node }

func (f *zooKeeperFront) accept(w *World, out *outbox) conversation {
	c := &zooKeeperConversation{out: out, headers: map[*zookeeper.Request]jute.Header{}}
	c.conn = w.gateway.Connect(f.node, c)
	return c
}

// zooKeeperConversation is one client's.
type zooKeeperConversation struct {
	out     *outbox
	conn    *sim.Conn
	greeted bool                               // the first frame has come
	headers map[*zookeeper.Request]jute.Header // of what has not been answered
}

// receive sends on what are whole frames.
func (c *zooKeeperConversation) receive(bytes []byte) ([]byte, bool) {
	for len(bytes) >= 4 {
		n := int(int32(binary.BigEndian.Uint32(bytes)))
		switch {
		case n < 0 || n > jute.MaxFrame:
			return nil, false
		case len(bytes) < 4+n:
			return bytes, true
		}
		if !c.take(bytes[4 : 4+n]) {
			return nil, false
		}
		bytes = bytes[4+n:]
	}
	return bytes, true
}

// take takes one frame. False ends the connection.
func (c *zooKeeperConversation) take(frame []byte) bool {
	if !c.greeted {
		c.greeted = true
		return c.greet(frame)
	}
	h, r, err := jute.ParseRequest(frame)
	switch {
	case err != nil:
		return false
	case r == nil: // a read in its place keeps the order of answers
		r = &zookeeper.Request{Op: zookeeper.Exists, Path: "/"}
		h.Unknown = true
	}
	c.headers[r] = h
	return c.conn.Push(r) == nil
}

// greet asks for a session. One whose password is wrong has expired for whoever asks (ZooKeeperServer.reopenSession).
func (c *zooKeeperConversation) greet(frame []byte) bool {
	hello, err := jute.ParseConnect(frame)
	if err != nil {
		return false
	}
	if hello.Session != 0 && hello.Password != jute.Password(hello.Session) {
		c.send(jute.AppendConnected(nil, 0, 0))
		return false
	}
	return c.conn.Push(&zookeeper.Request{
		Op: zookeeper.Connect, Session: hello.Session, Timeout: hello.Timeout, Seen: hello.Seen,
	}) == nil
}

// send sends a frame.
func (c *zooKeeperConversation) send(frame []byte) {
	c.out.add(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
}

// over closes the server's connection.
func (c *zooKeeperConversation) over() { c.conn.Close() }

// Deliver takes what the server sends.
func (c *zooKeeperConversation) Deliver(p sim.Payload) {
	switch p := p.(type) {
	case *zookeeper.WatchEvent:
		c.send(jute.AppendEvent(nil, p))
	case *zookeeper.Response:
		if p.Request.Op == zookeeper.Connect {
			c.send(jute.AppendConnected(nil, p.Session, p.Timeout))
			return
		}
		h := c.headers[p.Request]
		delete(c.headers, p.Request)
		switch {
		case h.Type == jute.Auth: // everybody may do everything
			c.send(jute.AppendError(nil, h, 0, zookeeper.OK))
		case h.Unknown:
			c.send(jute.AppendError(nil, h, p.Zxid, jute.Unimplemented))
		default:
			c.send(jute.AppendAnswer(nil, h, p))
		}
	}
}

// Closed says that the server has closed the connection.
func (c *zooKeeperConversation) Closed() { c.out.end() }
