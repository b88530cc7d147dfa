package wire

import (
	"encoding/binary"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/zookeeper"
	"github.com/locksim/locksim/sim/zookeeper/jute"
)

// ZooKeeper returns a conversation in ZooKeeper's protocol.
func ZooKeeper() Conversation {
	return &zooKeeperConversation{headers: map[*zookeeper.Request]jute.Header{}}
}

type zooKeeperConversation struct {
	rest     []byte                             // not yet a whole frame
	greeted  bool                               // the first frame has come
	headers  map[*zookeeper.Request]jute.Header // of what has not been answered
	farewell []byte
}

// Receive sends on what are whole frames.
func (c *zooKeeperConversation) Receive(bytes []byte, send func(sim.Payload) error) bool {
	c.rest = append(c.rest, bytes...)
	for len(c.rest) >= 4 {
		n := int(int32(binary.BigEndian.Uint32(c.rest)))
		switch {
		case n < 0 || n > jute.MaxFrame:
			return false
		case len(c.rest) < 4+n:
			return true
		}
		frame := c.rest[4 : 4+n]
		c.rest = c.rest[4+n:]
		if !c.take(frame, send) {
			return false
		}
	}
	return true
}

// take takes one frame. False ends the connection.
func (c *zooKeeperConversation) take(frame []byte, send func(sim.Payload) error) bool {
	if !c.greeted {
		c.greeted = true
		return c.greet(frame, send)
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
	return send(r) == nil
}

// greet asks for a session. One whose password is wrong has expired for whoever asks (ZooKeeperServer.reopenSession).
func (c *zooKeeperConversation) greet(frame []byte, send func(sim.Payload) error) bool {
	hello, err := jute.ParseConnect(frame)
	if err != nil {
		return false
	}
	if hello.Session != 0 && hello.Password != jute.Password(hello.Session) {
		c.farewell = framed(nil, jute.AppendConnected(nil, 0, 0))
		return false
	}
	return send(&zookeeper.Request{
		Op: zookeeper.Connect, Session: hello.Session, Timeout: hello.Timeout, Seen: hello.Seen,
	}) == nil
}

func framed(dst, frame []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(frame))), frame...)
}

// Append writes an answer or an event of a watch.
func (c *zooKeeperConversation) Append(dst []byte, p sim.Payload) []byte {
	switch p := p.(type) {
	case *zookeeper.WatchEvent:
		return framed(dst, jute.AppendEvent(nil, p))
	case *zookeeper.Response:
		return framed(dst, c.answer(p))
	}
	return dst
}

func (c *zooKeeperConversation) answer(p *zookeeper.Response) []byte {
	if p.Request.Op == zookeeper.Connect {
		return jute.AppendConnected(nil, p.Session, p.Timeout)
	}
	h := c.headers[p.Request]
	delete(c.headers, p.Request)
	switch {
	case h.Type == jute.Auth: // everybody may do everything
		return jute.AppendError(nil, h, 0, zookeeper.OK)
	case h.Unknown:
		return jute.AppendError(nil, h, p.Zxid, jute.Unimplemented)
	}
	return jute.AppendAnswer(nil, h, p)
}

// Farewell tells who asks for a session with a wrong password that it has expired.
func (c *zooKeeperConversation) Farewell() []byte { return c.farewell }
