package wire

import (
	"encoding/binary"

	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/internal/sim/zookeeper/jute"
	"github.com/locksim/locksim/sim"
)

// ZooKeeper returns a conversation in ZooKeeper's protocol, with a client whose address is unknown.
func ZooKeeper() Conversation { return ZooKeeperFrom("") }

// ZooKeeperFrom returns a conversation with a client at the given address, host and port.
func ZooKeeperFrom(address string) Conversation {
	return &zooKeeperConversation{address: address, headers: map[*zookeeper.Request]jute.Header{}}
}

type zooKeeperConversation struct {
	address string
	rest    []byte                             // not yet a whole frame
	greeted bool                               // the first frame has come
	over    bool                               // a word has, and nothing else will be taken
	hello   jute.Hello                         // what it said
	headers map[*zookeeper.Request]jute.Header // of what has not been answered
}

// Receive sends on all complete frames. Four letters in place of the first frame's length may be a word that a server
// answers (NIOServerCnxn.readLength).
func (c *zooKeeperConversation) Receive(bytes []byte, send func(sim.Payload) error) bool {
	c.rest = append(c.rest, bytes...)
	for len(c.rest) >= 4 && !c.over {
		if word := string(c.rest[:4]); !c.greeted && zookeeper.FourLetters(word) {
			c.over = true
			return send(&zookeeper.Request{Op: zookeeper.FourLetterWord, Path: word, Address: c.address}) == nil
		}
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
	if err != nil {
		return false
	}
	c.headers[r] = h
	return send(r) == nil
}

// greet asks for a session.
func (c *zooKeeperConversation) greet(frame []byte, send func(sim.Payload) error) (ok bool) {
	hello, err := jute.ParseConnect(frame)
	if err != nil {
		return false
	}
	c.hello = hello
	return send(&zookeeper.Request{
		Op: zookeeper.Connect, Session: hello.Session, Timeout: hello.Timeout, Seen: hello.Seen, Address: c.address,
		Forged: hello.Session != 0 && hello.Password != jute.Password(hello.Session),
	}) == nil
}

// Append encodes an answer or an event of a watch.
func (c *zooKeeperConversation) Append(dst []byte, p sim.Payload) []byte {
	switch p := p.(type) {
	case *zookeeper.WatchEvent:
		return framed(dst, jute.AppendEvent(nil, p))
	case *zookeeper.Response:
		return c.answer(dst, p)
	}
	return dst
}

func (c *zooKeeperConversation) answer(dst []byte, p *zookeeper.Response) []byte {
	h := c.headers[p.Request]
	delete(c.headers, p.Request)
	switch {
	case p.Request.Op == zookeeper.FourLetterWord:
		return append(dst, p.Data...)
	case p.Request.Op == zookeeper.Connect:
		return framed(dst, jute.AppendConnected(nil, c.hello, p.Session, p.Timeout))
	case h.Type == jute.Check && p.Err == zookeeper.OK:
		return dst // a check that stands alone succeeds in silence: the server fails to write the answer
	}
	return framed(dst, jute.AppendAnswer(nil, h, p))
}

func framed(dst, frame []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(frame))), frame...)
}

// Farewell returns nothing.
func (c *zooKeeperConversation) Farewell() []byte { return nil }
