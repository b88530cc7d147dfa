package redis

import (
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Push is an unsolicited message from a server to a client that is not a channel's message: it invalidates keys that
// the client tracks.
type Push struct {
	Reply    Reply
	Protocol Protocol // that the connection speaks
}

// What returns the push's first element, such as "invalidate".
func (p *Push) What() (what, alt string) { return p.Reply.Elems[0].Text, "" }

// Sum returns a digest of the push.
func (p *Push) Sum() uint64 {
	var d trace.Digest
	p.Reply.digest(&d)
	return d.Sum()
}

// String formats the push as redis-cli does.
func (p *Push) String() string { return p.Reply.String() }

// delivery is something on its way to a connection that has not asked for it.
type delivery struct {
	to      *Peer
	payload sim.Payload
}

// pushes are what a unit of execution sends beside its reply: what leaves at once, and what leaves after the reply. In Redis
// all of it is written into output buffers; to whom the reply does not go it is all the same.
type pushes struct {
	now   []delivery
	later []delivery
}

func (q *pushes) clear() { q.now, q.later = q.now[:0], q.later[:0] }

// pushNow sends what goes before the reply.
func (s *Server) pushNow() { deliver(&s.Store.pushes.now) }

// pushLater sends what goes after the reply.
func (s *Server) pushLater() { deliver(&s.Store.pushes.later) }

// pushAll sends everything, where there is no reply.
func (s *Server) pushAll() {
	s.pushNow()
	s.pushLater()
}

// deliver empties a list and sends its messages. A message may trigger a fault, and the fault may make the server send
// more.
func deliver(list *[]delivery) {
	if len(*list) == 0 {
		return
	}
	all := slices.Clone(*list)
	clear(*list)
	*list = (*list)[:0]
	for _, d := range all {
		if d.to.conn != nil {
			d.to.conn.Reply(d.payload)
		}
	}
}
