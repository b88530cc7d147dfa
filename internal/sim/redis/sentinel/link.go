package sentinel

import (
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

const (
	// maxPending is how many commands may be unanswered before no more are sent (SENTINEL_MAX_PENDING_COMMANDS).
	maxPending = 100
	// minReconnect is how old a connection must be to be given up for its silence.
	minReconnect = 15 * time.Second
)

// link is a Sentinel's connections to a process: one for commands, and one to listen on, unless it is a Sentinel too.
type link struct {
	s       *Sentinel
	node    *sim.Node
	listens bool

	commands, channel *ear          // nil if there is none
	dialled           time.Duration // when the Sentinel last tried to connect
	pending           int           // commands that have not been answered
	waiting           time.Duration // since when a PING has not been answered; 0: none has
	pinged            time.Duration // the last PING was sent
	ponged            time.Duration // any answer to one came
	available         time.Duration // one came that says that all is well
}

// newLink is a link without connections. It counts as waiting from now on, so that a process that is never reached
// is noticed (createInstanceLink).
func (s *Sentinel) newLink(n *sim.Node, listens bool) link {
	now := s.now()
	return link{s: s, node: n, listens: listens, waiting: now, ponged: now, available: now}
}

// ear is the Sentinel's end of a connection.
type ear struct {
	conn  *sim.Conn
	since time.Duration // opened
	heard time.Duration // something last came, on a channel
	hear  func(p sim.Payload)
	lose  func()
}

// Deliver handles an answer, or a message of a channel.
func (e *ear) Deliver(p sim.Payload) { e.hear(p) }

// Closed is called when the connection has ended or was refused.
func (e *ear) Closed() { e.lose() }

// connected reports whether all connections are open, as far as the Sentinel knows.
func (l *link) connected() bool { return l.commands != nil && (l.channel != nil || !l.listens) }

// reconnect opens what connections there are not, once in a while (sentinelReconnectInstance).
func (w *watched) reconnect() {
	now := w.s.now()
	if w.connected() || now-w.dialled < pingPeriod {
		return
	}
	opened := now
	if w.dialled == longAgo {
		opened = longAgo
	}
	w.dialled = now
	if w.commands == nil && w.s.node.Up() {
		w.pending = 0
		w.open(&w.commands, w.hear, opened)
		if opened != longAgo {
			w.ping()
		}
	}
	if w.channel == nil && w.listens && w.s.node.Up() { // a fault may have waited for the PING
		w.open(&w.channel, w.listen, opened)
		_ = w.channel.conn.Push(redis.NewRequest([]string{"SUBSCRIBE", helloChannel}, "hello"))
	}
}

// longAgo is when those connections were opened that are there when the run begins. They are dialled when it has begun,
// but look old to the Sentinel.
const longAgo time.Duration = 1

// open opens a connection. Messages on it count only as long as it is the one in use.
func (w *watched) open(place **ear, hear func(sim.Payload), since time.Duration) {
	e := &ear{since: since, heard: w.s.now()}
	e.hear = func(p sim.Payload) {
		if *place == e {
			hear(p)
		}
	}
	e.lose = func() {
		if *place == e {
			*place = nil
		}
	}
	*place = e
	e.conn = w.s.node.Connect(w.node, e)
}

// hangUp closes a connection, if there is one.
func hangUp(place **ear) {
	if e := *place; e != nil {
		*place = nil
		e.conn.Close()
	}
}

// send sends a command. It reports whether there was a connection to send it on.
func (l *link) send(purpose string, args ...string) bool {
	if l.commands == nil || l.commands.conn.Push(redis.NewRequest(args, purpose)) != nil {
		return false
	}
	l.pending++
	return true
}

// ping asks whether the process lives.
func (l *link) ping() {
	if l.send("", "PING") {
		l.pinged = l.s.now()
		if l.waiting == 0 {
			l.waiting = l.pinged
		}
	}
}

// pong takes the answer to a PING (sentinelPingReplyCallback). One that means trouble, as a script that does not end,
// counts as none.
func (l *link) pong(r redis.Reply) {
	l.ponged = l.s.now()
	if text := r.Text; text == "PONG" || r.Code() == "LOADING" || r.Code() == "MASTERDOWN" {
		l.available, l.waiting = l.ponged, 0
	}
}

// refresh gives up connections on which nothing comes although something should (sentinelCheckSubjectivelyDown).
func (l *link) refresh() {
	now, patience := l.s.now(), l.s.config.DownAfter/2
	if c := l.commands; c != nil && now-c.since > minReconnect && l.waiting != 0 && now-l.waiting > patience &&
		now-l.ponged > patience {
		l.pending = 0
		hangUp(&l.commands)
	}
	if c := l.channel; c != nil && now-c.since > minReconnect && now-c.heard > 3*helloPeriod {
		hangUp(&l.channel)
	}
}
