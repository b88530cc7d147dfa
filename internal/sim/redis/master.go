package redis

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
)

// link is a replica as its master sees it.
type link struct {
	conn    *sim.Conn
	online  bool // the stream flows; until then it waits for its snapshot
	feeding bool
	sent    int64 // offset of the last unit that it was sent, or that its snapshot contains
	acked   int64 // offset that it has acknowledged
	flushed int64 // offset up to which its disk has everything, as it says; 0 if it has no append-only file
	heard   int64 // wall clock in seconds: when it last did, or went online
}

// hear takes what a replica sends.
func (s *Server) hear(c *sim.Conn, p sim.Payload) {
	q, ok := p.(*packet)
	if !ok {
		panic(fmt.Sprintf("redis: %s was sent a %T", s.node.Name, p))
	}
	switch l, isLink := c.Session.(*link); {
	case q.kind == psync:
		s.welcome(c, q)
	case isLink && q.kind == ack:
		l.acked, l.flushed, l.heard = max(l.acked, q.offset), max(l.flushed, q.flushed), s.unixTime()
		s.acknowledged()
	}
}

// welcome answers a replica that wants to follow (replication.c, syncCommand).
func (s *Server) welcome(c *sim.Conn, p *packet) {
	if s.upstream != nil && !s.upstream.online {
		c.Reply(&packet{kind: refusal, text: "NOMASTERLINK Can't SYNC while not connected with my master"})
		return
	}
	l := &link{conn: c}
	c.Session = l
	s.links = append(slices.Clip(s.links), l)
	if s.canGoOn(p) {
		l.sent = p.offset
		c.Reply(&packet{kind: goOn, id: s.history})
		s.putOnline(l)
		return
	}
	if s.backlog == nil { // nobody can have followed the history until now
		s.beginHistory()
		s.keepBacklog()
	}
	if s.config.FullSyncDelay == 0 {
		s.sendSnapshot(l)
		return
	}
	s.node.NewTimer(snapshotAlarm{s, l}).Arm(false, s.node.Monotonic()+int64(s.config.FullSyncDelay))
}

// canGoOn reports whether the replica has a prefix of the history, and the backlog what follows it
// (masterTryPartialResynchronization).
func (s *Server) canGoOn(p *packet) bool {
	if p.id != s.history && (p.id != s.former || p.offset > s.shared) {
		return false
	}
	return s.backlog != nil && s.backlog.first <= p.offset+1 && p.offset <= s.offset
}

type snapshotAlarm struct {
	s *Server
	l *link
}

// Ring makes the snapshot, unless the replica has disconnected.
func (a snapshotAlarm) Ring() {
	if slices.Contains(a.s.links, a.l) {
		a.s.sendSnapshot(a.l)
	}
}

// sendSnapshot sends a replica the present dataset. Later changes wait in the stream.
func (s *Server) sendSnapshot(l *link) {
	l.sent = s.offset
	l.conn.Reply(&packet{kind: fullResync, id: s.history, offset: s.offset, dataset: s.Store.Snapshot()})
	s.putOnline(l)
}

// putOnline lets the stream flow to a replica, unless the server has died over its last words.
func (s *Server) putOnline(l *link) {
	if !slices.Contains(s.links, l) {
		return
	}
	l.online, l.heard = true, s.unixTime()
	s.countGood()
	s.feed(l)
}

// drop forgets a replica.
func (s *Server) drop(l *link) {
	l.online = false
	s.links = slices.DeleteFunc(slices.Clone(s.links), func(other *link) bool { return other == l })
	s.aloneSince = s.unixTime()
	s.countGood()
}

// dropAll closes the connections of all replicas. They come back, and find out what has changed (disconnectSlaves).
func (s *Server) dropAll() {
	for _, l := range s.links {
		s.drop(l)
		l.conn.Hangup()
	}
}

// ping lets the replicas hear something every ten seconds (repl-ping-replica-period), in the stream, so that offsets move.
func (s *Server) ping() {
	if s.upstream == nil && len(s.links) > 0 && s.crons%10 == 0 {
		s.write(&unit{command: pingCommand})
	}
}

// askForAcks asks all replicas to acknowledge now what they have.
func (s *Server) askForAcks() {
	if s.backlog != nil {
		s.write(&unit{command: getAckCommand})
	}
}

// dropSilent closes the connections of replicas of which nothing has been heard for too long.
func (s *Server) dropSilent() {
	for _, l := range s.links {
		if l.online && s.unixTime()-l.heard > replTimeout {
			s.drop(l)
			l.conn.Hangup()
		}
	}
}

// forgetBacklog gives the backlog up when nobody has followed for long. The history needs a new name then: what is written
// while nobody counts must not pass for what an old replica knows under the old one.
func (s *Server) forgetBacklog() {
	if s.upstream == nil && s.backlog != nil && len(s.links) == 0 && s.unixTime()-s.aloneSince > backlogTTL {
		s.beginHistory()
		s.backlog = nil
	}
}

// defaultMaxLag is min-replicas-max-lag unless it is configured, in seconds.
const defaultMaxLag = 10

// countGood counts the good replicas, once a second and whenever one comes or goes (refreshGoodSlavesCount): in between a
// master accepts writes that it would refuse if it looked.
func (s *Server) countGood() {
	if s.config.MinReplicas == 0 {
		return
	}
	lag := int64(s.config.MinReplicasMaxLag / time.Second)
	if lag == 0 {
		lag = defaultMaxLag
	}
	s.good = 0
	for _, l := range s.links {
		if l.online && s.unixTime()-l.heard <= lag {
			s.good++
		}
	}
	s.restrict()
}

// restrict has the store refuse what the server must not execute.
func (s *Server) restrict() {
	switch {
	case s.upstream != nil:
		s.Store.refusal = "READONLY You can't write against a read only replica."
	case s.good < s.config.MinReplicas:
		s.Store.refusal = "NOREPLICAS Not enough good replicas to write."
		s.startCron()
	default:
		s.Store.refusal = ""
	}
}
