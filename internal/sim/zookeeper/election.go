package zookeeper

import (
	"cmp"
	"time"

	"github.com/locksim/locksim/sim"
)

// Intervals of FastLeaderElection: how long a server that sees a majority waits for a better vote, and the shortest
// and longest interval at which it repeats its own.
const (
	finalizeWait    = 200 * time.Millisecond
	maxNotification = time.Minute
)

// vote is for a leader with the newest log.
type vote struct {
	epoch  uint32
	zxid   Zxid
	leader int
}

// better compares votes: the largest epoch, zxid and id wins, in this order (totalOrderPredicate). Among equal logs the
// server that a fault promotes wins.
func (z *Ensemble) better(v, than vote) bool {
	return cmp.Or(
		cmp.Compare(v.epoch, than.epoch), cmp.Compare(v.zxid, than.zxid),
		cmp.Compare(z.rank(v.leader), z.rank(than.leader)),
	) > 0
}

func (z *Ensemble) rank(id int) int {
	if id == z.favoured {
		return len(z.Servers) + 1
	}
	return id
}

// ballot is what a server says about an election.
type ballot struct {
	round uint64
	state State
	vote  vote
}

// election is what a server has while it looks for a leader.
type election struct {
	s        *Server
	vote     vote
	votes    []vote // of each server in this round, by id; zero if it has not been heard
	settled  []ballot
	lines    []*line    // to each server, by id
	tell     *sim.Timer // at once, but not in the middle of what made the server vote: see Server.follow
	finalize *sim.Timer
	repeat   *sim.Timer
	interval time.Duration
}

// line is a connection to a peer for votes.
type line struct {
	e    *election
	peer int
	conn *sim.Conn
}

// look begins to look for a leader. A server that is alone leads.
func (s *Server) look() {
	s.state = Looking
	n := len(s.ensemble.Servers) + 1
	e := &election{
		s: s, votes: make([]vote, n), settled: make([]ballot, n), lines: make([]*line, n), interval: finalizeWait,
	}
	e.tell = s.node.NewTimer(tellAlarm{e})
	e.finalize, e.repeat = s.node.NewTimer(finalizeAlarm{e}), s.node.NewTimer(repeatAlarm{e})
	s.election = e
	s.round++
	if n == 2 {
		e.end()
		s.beginLeading()
		return
	}
	e.cast(e.own())
	e.repeat.Arm(false, s.node.Monotonic()+int64(e.interval))
}

func (e *election) own() vote {
	return vote{epoch: e.s.disk.epoch, zxid: e.s.disk.last(), leader: e.s.ID}
}

// cast makes a vote this server's, and tells everybody.
func (e *election) cast(v vote) {
	e.vote = v
	e.votes[e.s.ID] = v
	e.tell.Arm(false, e.s.node.Monotonic())
}

type tellAlarm struct{ e *election }

// Ring sends the vote to all peers.
func (a tellAlarm) Ring() { a.e.tellAll() }

func (e *election) tellAll() {
	for id := 1; id < len(e.lines) && e.s.election == e; id++ {
		if id == e.s.ID {
			continue
		}
		if e.lines[id] == nil {
			e.lines[id] = &line{e: e, peer: id}
			e.lines[id].conn = e.s.node.Connect(e.s.ensemble.Servers[id-1].node, e.lines[id])
		}
		_ = e.lines[id].conn.Push(e.s.notice()) // a closed line is opened again the next time
	}
}

// notice tells what this server has to say about elections.
func (s *Server) notice() *packet {
	b := &ballot{round: s.round, state: s.state}
	switch {
	case s.election != nil:
		b.vote = s.election.vote
	case s.upstream != nil:
		b.vote = vote{epoch: s.disk.epoch, leader: s.upstream.leader}
	default:
		b.vote = vote{epoch: s.disk.epoch, leader: s.ID}
	}
	return &packet{kind: notification, from: s.ID, ballot: b}
}

// hearVote takes a notification on a connection that a peer has opened, and answers one that cannot know better.
func (s *Server) hearVote(conn *sim.Conn, p *packet) {
	looks := p.ballot.state == Looking
	if looks && (s.election == nil || p.ballot.round < s.round) {
		conn.Reply(s.notice())
	}
	if s.election != nil {
		s.election.hear(p)
	}
}

// Deliver handles a peer's answer.
func (l *line) Deliver(p sim.Payload) {
	if l.e.s.election == l.e {
		l.e.hear(p.(*packet))
	}
}

// Closed is called when the peer does not listen.
func (l *line) Closed() {
	if l.e.lines[l.peer] == l {
		l.e.lines[l.peer] = nil
	}
}

// hear weighs a notification (FastLeaderElection.lookForLeader).
func (e *election) hear(p *packet) {
	b := p.ballot
	switch {
	case b.state != Looking:
		e.settled[p.from] = *b
		e.join()
		return
	case b.round > e.s.round:
		e.s.round = b.round
		clear(e.votes)
		e.finalize.Stop()
		better := e.own()
		if e.s.ensemble.better(b.vote, better) {
			better = b.vote
		}
		e.votes[p.from] = b.vote
		e.cast(better)
	case b.round < e.s.round:
		return
	case e.s.ensemble.better(b.vote, e.vote):
		e.votes[p.from] = b.vote
		e.finalize.Stop()
		e.cast(b.vote)
	default:
		e.votes[p.from] = b.vote
	}
	if e.s.election == e && e.agreed() && !e.finalize.Armed() {
		e.finalize.Arm(false, e.s.node.Monotonic()+int64(finalizeWait))
	}
}

// agreed reports whether a majority votes like this server.
func (e *election) agreed() bool {
	n := 0
	for _, v := range e.votes {
		if v == e.vote {
			n++
		}
	}
	return n >= e.s.ensemble.majority()
}

// join follows a leader that a majority already follows, itself included.
func (e *election) join() {
	for id := 1; id < len(e.settled); id++ {
		if e.settled[id].state != Leading || e.settled[id].vote.leader != id || id == e.s.ID {
			continue
		}
		n := 0
		for _, b := range e.settled {
			if b.state != Looking && b.vote.leader == id {
				n++
			}
		}
		if n >= e.s.ensemble.majority() {
			e.end()
			e.s.follow(id)
			return
		}
	}
}

type finalizeAlarm struct{ e *election }

// Ring ends the election: no better vote has arrived.
func (a finalizeAlarm) Ring() {
	e := a.e
	if e.s.election != e || !e.agreed() {
		return
	}
	e.end()
	if e.vote.leader == e.s.ID {
		e.s.beginLeading()
	} else {
		e.s.follow(e.vote.leader)
	}
}

type repeatAlarm struct{ e *election }

// Ring repeats the vote, at ever longer intervals: it may not have reached any peer.
func (a repeatAlarm) Ring() {
	e := a.e
	if e.s.election != e {
		return
	}
	e.interval = min(2*e.interval, maxNotification)
	e.repeat.Arm(false, e.s.node.Monotonic()+int64(e.interval))
	e.tellAll()
}

func (e *election) end() {
	e.s.election = nil
	e.tell.Stop()
	e.finalize.Stop()
	e.repeat.Stop()
	for _, l := range e.lines {
		if l != nil {
			l.conn.Close()
		}
	}
}
