package sim

import (
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// kind says what a segment is to TCP.
type kind uint8

const (
	data kind = iota
	syn
	synAck
	over // a FIN or an RST: nothing follows it
)

// segment is something on its way.
type segment struct {
	payload Payload
	answer  Payload       // replies to it in place of execution: an injected error
	msg     uint64        // its number; 0 if it is no message
	at      trace.Instant // when it arrives, unless something holds it up or stands before it
	kind    kind
	refuse  bool // over: nobody listened
	seen    bool // the faults hung before the step that comes next have acted on it
	noted   bool // its arrival has been recorded
}

// fifo is a queue of segments.
type fifo struct {
	items []segment
	head  int // those before it are gone
}

func (q *fifo) len() int { return len(q.items) - q.head }

// carries reports whether there are messages, which stand between a SYN and a FIN.
func (q *fifo) carries() bool { return q.len() > 0 && q.at(0).kind == data }

// at returns the i-th segment.
func (q *fifo) at(i int) *segment { return &q.items[q.head+i] }

func (q *fifo) push(g *segment) {
	if q.head > 0 && len(q.items) == cap(q.items) {
		q.items = slices.Delete(q.items, 0, q.head)
		q.head = 0
	}
	q.items = append(q.items, *g)
}

// pushFront puts back what was popped.
func (q *fifo) pushFront(g *segment) {
	if q.head == 0 {
		q.items = slices.Insert(q.items, 0, *g)
		return
	}
	q.head--
	q.items[q.head] = *g
}

func (q *fifo) pop() segment {
	g := q.items[q.head]
	q.items[q.head] = segment{}
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return g
}

func (q *fifo) clear() {
	clear(q.items)
	q.items, q.head = q.items[:0], 0
}

// find returns the segment that carries a message; nil if it is not there.
func (q *fifo) find(msg uint64) (place int, g *segment) {
	for i := range q.len() {
		if g := q.at(i); g.msg == msg && msg != 0 {
			return i, g
		}
	}
	return 0, nil
}

// stream is one direction of a connection. Data arrives in order, perhaps late, or not at all.
type stream struct {
	conn     *Conn
	latency  Latency
	rand     *Rand         // shared by all connections from the one node to the other
	flight   fifo          // on their way, in order
	waiting  bool          // the arrival of the first of them is scheduled
	shot     uint64        // counts these schedulings, so that events of old are recognised
	blocked  int           // how many barriers hold the stream up
	cuts     int           // how many of them let packets vanish
	since    trace.Instant // when packets began to vanish
	vanished bool          // some have since the stream last flowed
	dead     bool          // what is sent on it is lost
}

func (s *stream) init(c *Conn, from, to *Node) {
	e := c.engine
	s.conn = c
	s.latency = e.latencyBetween(from, to)
	s.rand = from.linkRand(to)
	for _, b := range e.barriers {
		if b.has(from, to) {
			s.block(b.vanish)
		}
	}
}

// send puts a segment on the stream. It arrives after the latency, or as soon as what was sent before has arrived.
func (s *stream) send(g segment, extra time.Duration) {
	if s.dead {
		return
	}
	g.at = s.conn.engine.now.Add(s.latency.draw(s.rand)).Add(extra)
	s.flight.push(&g)
	s.schedule()
}

// schedule makes the first segment's arrival an event, unless it is one or the stream is held up.
func (s *stream) schedule() {
	if s.waiting || s.blocked > 0 || s.flight.len() == 0 {
		return
	}
	e := s.conn.engine
	s.waiting = true
	s.shot++
	if s.matters() {
		e.arrivals++
	}
	e.schedule(max(s.flight.at(0).at, e.now), s, s.shot)
}

func (s *stream) unschedule() {
	if !s.waiting {
		return
	}
	s.waiting = false
	s.shot++
	if s.matters() {
		s.conn.engine.arrivals--
	}
}

// matters reports whether something happens at a server when the first segment arrives, even if all clients are dead.
func (s *stream) matters() bool { return s == &s.conn.up && s.flight.carries() }

func (s *stream) stale(shot uint64) bool { return shot != s.shot }

// act is the arrival of the first segment.
func (s *stream) act(uint64) {
	s.unschedule()
	g := s.flight.pop()
	if s == &s.conn.up {
		s.conn.arriveAtServer(&g)
	} else {
		s.conn.arriveAtClient(&g)
	}
	s.schedule()
}

// delay makes the i-th segment later, and what follows it waits for it.
func (s *stream) delay(i int, by time.Duration) {
	g := s.flight.at(i)
	g.at = max(g.at, s.conn.engine.now).Add(by)
	s.unschedule()
	s.schedule()
}

// lose drops what is on its way, and what will be sent.
func (s *stream) lose() {
	s.dead = true
	s.drop()
}

func (s *stream) drop() {
	s.unschedule()
	s.flight.clear()
}

// powerOff is the sender's machine going off: what it still had to send again is lost, the rest has left it.
func (s *stream) powerOff() {
	if s.cuts > 0 {
		s.drop()
	}
}

func (s *stream) block(vanish bool) {
	if vanish {
		s.cuts++
		if !s.vanished {
			s.vanished, s.since = true, s.conn.engine.now
			s.conn.missServer()
		}
	}
	s.blocked++
	if s.blocked == 1 {
		s.unschedule()
	}
}

// MaxBackoff is the longest pause between two retransmissions of Linux's TCP (TCP_RTO_MAX).
const MaxBackoff = 120 * time.Second

// unblock takes one barrier away. When the last is gone the stream flows again: after a mere stall what was held up
// arrives at once; after packets have vanished the sender's kernel retransmits with a back-off that has grown with
// the outage, so that it arrives up to one outage later.
func (s *stream) unblock(vanish bool) {
	if vanish {
		s.cuts--
	}
	s.blocked--
	if s.blocked > 0 {
		return
	}
	vanished := s.vanished
	s.vanished = false
	if s.flight.len() == 0 {
		return
	}
	now := s.conn.engine.now
	at := now.Add(s.latency.draw(s.rand))
	if vanished {
		outage := min(now.Sub(s.since), MaxBackoff)
		at = at.Add(time.Duration(s.rand.Int64N(int64(outage) + 1)))
	}
	first := s.flight.at(0)
	first.at = max(first.at, at)
	s.schedule()
}
