package replay

import (
	"encoding/binary"
	"io"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/internal/sim/zookeeper/jute"
	"github.com/locksim/locksim/trace"
)

// zooKeeperTap looks at what a client and a server of ZooKeeper say to each other.
type zooKeeperTap struct {
	parties
	servers *zooKeeperServers
}

// zooKeeperTalk is one connection of it.
type zooKeeperTalk struct {
	*zooKeeperTap
	passage   *real.Passage
	up, down  []byte            // what has arrived, and is no whole frame yet
	greeted   bool              // the first frame of the client has passed
	connected bool              // the first frame of the server has
	asked     map[uint32]naming // requests that have been passed on, and not been answered, by their numbers
	made      string            // the node that was made last
}

func (t *zooKeeperTap) tap(p *real.Passage) (requests, replies real.Filter) {
	talk := &zooKeeperTalk{zooKeeperTap: t, passage: p, asked: map[uint32]naming{}}
	return talk.requests, talk.replies
}

// frames cuts whole frames off what has arrived.
func frames(pending *[]byte, arrived []byte, each func(frame []byte) error) error {
	*pending = append(*pending, arrived...)
	for len(*pending) >= 4 {
		n := 4 + int(binary.BigEndian.Uint32(*pending))
		if n < 4 || n > 4+jute.MaxFrame {
			return io.ErrUnexpectedEOF
		}
		if len(*pending) < n {
			return nil
		}
		frame := (*pending)[:n]
		*pending = (*pending)[n:]
		if err := each(frame); err != nil {
			return err
		}
	}
	return nil
}

func (t *zooKeeperTalk) requests(arrived []byte, way real.Way) error {
	return frames(&t.up, arrived, func(frame []byte) error { return t.request(frame, way) })
}

func (t *zooKeeperTalk) request(frame []byte, way real.Way) error {
	s := t.stage
	n, number := naming{what: zookeeper.Connect.String()}, uint32(0)
	if t.greeted {
		number = binary.BigEndian.Uint32(frame[4:])
		n = t.name(frame[4:])
	}
	t.greeted = true
	m := &message{passage: t.passage, route: t.route}
	if err := t.sends(n, m, way); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.arrives(t.route.server, n.what, n.alt, t.actor.name, m) {
		return errDropped
	}
	n.at, n.number = s.Now(), m.number
	t.asked[number] = n
	return way.Deliver(frame)
}

// name tells how steps name a request.
func (t *zooKeeperTalk) name(body []byte) naming {
	_, q, err := jute.ParseRequest(body)
	if err != nil || q == nil {
		return naming{}
	}
	n := naming{what: q.Op.String()}
	switch q.Op {
	case zookeeper.Create:
		if q.Ephemeral {
			n.alt = trace.ToAcquire
		}
	case zookeeper.Delete:
		n.alt = trace.ToRelease
	case zookeeper.GetData:
		n.alt = trace.ToLook
		if q.Path == t.made && !q.Watch {
			n = naming{what: "its own node"} // which no lock has asked for: see internal/live
		}
	case zookeeper.GetChildren, zookeeper.Sync:
		n.alt = trace.ToLook
	default:
	}
	return n
}

func (t *zooKeeperTalk) replies(arrived []byte, way real.Way) error {
	return frames(&t.down, arrived, func(frame []byte) error { return t.reply(frame, way) })
}

func (t *zooKeeperTalk) reply(frame []byte, way real.Way) error {
	s := t.stage
	s.mu.Lock()
	n := t.answered(frame[4:])
	m := &message{passage: t.passage, route: t.route, reply: true, answers: n.number}
	left := s.replies(t.route.server, n.what, n.alt, t.actor.name, m)
	s.mu.Unlock()
	if !left {
		return errDropped
	}
	return t.receives(n, m, frame, way)
}

// answered tells what an answer is to, and takes note of what it says: which session the client has, which node was made.
// It is called with the lock.
func (t *zooKeeperTalk) answered(body []byte) naming {
	if !t.connected {
		t.connected = true
		const fixed = 4 + 4 + 8 + 4 // the protocol's version, the time-out, the session, the length of the password
		if len(body) >= fixed {
			n := int(binary.BigEndian.Uint32(body[fixed-4:]))
			t.servers.sessions[t.actor.name] = &zooKeeperSession{
				id: int64(binary.BigEndian.Uint64(body[8:])), password: body[fixed:min(fixed+n, len(body))],
			}
		}
		return naming{what: zookeeper.Connect.String()}
	}
	const header = 4 + 8 + 4 // the number, the last transaction, the error
	if len(body) < header {
		return naming{}
	}
	number := binary.BigEndian.Uint32(body)
	n, ok := t.asked[number]
	if !ok {
		return naming{what: "event"}
	}
	delete(t.asked, number)
	t.stage.served(t.route.server, n.at)
	failed := binary.BigEndian.Uint32(body[12:]) != 0
	if n.what == zookeeper.Create.String() && !failed && len(body) >= header+4 {
		length := int(binary.BigEndian.Uint32(body[header:]))
		t.made = string(body[header+4 : min(header+4+length, len(body))])
	}
	if n.alt == trace.ToAcquire {
		t.stage.journal.asked(t.actor.name, t.route.server)
	}
	return n
}
