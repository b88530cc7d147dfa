package zookeeper

import "github.com/locksim/locksim/sim"

// upstream is a follower's end of the connection to its leader.
type upstream struct {
	s       *Server
	leader  int
	conn    *sim.Conn  // nil until it is opened
	silence *sim.Timer // the time-out of reading from the connection
	idle    packet     // the answer to a ping when no session has been touched
}

// follow turns to a leader. The connection is opened by an alarm of its own, at the same moment, since the end of
// another connection may be what led here: the engine is then in the middle of its list of connections.
func (s *Server) follow(leader int) *upstream {
	for _, l := range s.early {
		l.close()
	}
	s.early = nil
	u := &upstream{s: s, leader: leader, idle: packet{kind: pong}}
	s.state, s.upstream = Following, u
	u.silence = s.node.NewTimer(silenceAlarm{u})
	u.await(s.config.InitLimit)
	s.node.NewTimer(u).Arm(false, s.node.Monotonic())
	return u
}

// Ring opens the connection to the leader, unless the server has abandoned it already.
func (u *upstream) Ring() {
	s := u.s
	if s.upstream != u || u.conn != nil {
		return
	}
	u.conn = s.node.Connect(s.ensemble.Servers[u.leader-1].node, u)
	u.send(&packet{kind: followerInfo, from: s.ID, epoch: s.disk.accepted})
}

// await gives the leader some ticks to say something.
func (u *upstream) await(ticks int) {
	u.silence.Arm(false, u.s.node.Monotonic()+int64(ticks)*int64(u.s.config.Tick))
}

// send sends to the leader. If the connection is over that will be noticed without.
func (u *upstream) send(p *packet) {
	if u != nil {
		_ = u.conn.Push(p)
	}
}

// Deliver handles a packet from the leader.
func (u *upstream) Deliver(payload sim.Payload) {
	s := u.s
	if s.upstream != u {
		return
	}
	if s.serving {
		u.await(s.config.SyncLimit)
	}
	switch p := payload.(*packet); p.kind {
	case leaderInfo:
		u.promise(p.epoch)
	case newLeader:
		s.adopt(p)
	case upToDate:
		s.serving = true
		u.await(s.config.SyncLimit)
		s.applyTo(s.disk.upTo(p.zxid))
	case proposal:
		s.write(p.txns...)
		u.send(&packet{kind: ack, zxid: s.disk.last()})
	case commit:
		if s.serving {
			s.applyTo(s.disk.upTo(p.zxid))
		}
	case ping:
		u.send(u.pong())
	case validated:
		if c := s.moving[p.session]; c != nil {
			delete(s.moving, p.session)
			c.validated(p.session, p.valid)
		}
	case synced:
		s.synced(p.session, p.request)
	default:
		panic("zookeeper: a follower was sent " + p.String())
	}
}

// promise accepts a new epoch and says what the own log ends with. A leader whose epoch is older than one that has been
// promised to another is left; to promise an epoch twice does not count (Learner.registerWithLeader).
func (u *upstream) promise(epoch uint32) {
	d := &u.s.disk
	if epoch < d.accepted {
		u.abandon()
		return
	}
	first := epoch > d.accepted
	d.accepted = epoch
	u.send(&packet{kind: ackEpoch, zxid: d.last(), epoch: d.epoch, valid: first})
}

// adopt makes the log the leader's own. The truncated entries were never committed; if some of them had been
// applied nevertheless, because disks lost acknowledged writes, the tree is rebuilt.
func (s *Server) adopt(p *packet) {
	common := s.disk.upTo(p.zxid)
	if common < s.applied {
		s.tree, s.applied = s.config.newTree(), 0
	}
	s.disk.truncate(common)
	s.disk.epoch = p.epoch
	s.write(p.txns...)
	s.upstream.send(&packet{kind: ack, zxid: s.disk.last()})
}

// pong answers a ping, and empties the touch table.
func (u *upstream) pong() *packet {
	s := u.s
	if len(s.touched) == 0 {
		return &u.idle
	}
	p := &packet{kind: pong, touched: make([]touch, len(s.touched))}
	for i, c := range s.touched {
		c.touched = false
		p.touched[i] = touch{session: c.session, timeout: c.timeout}
	}
	s.touched = s.touched[:0]
	return p
}

// Closed is called when the connection to the leader has ended.
func (u *upstream) Closed() { u.abandon() }

type silenceAlarm struct{ u *upstream }

// Ring abandons the leader, which has been silent for too long.
func (a silenceAlarm) Ring() { a.u.abandon() }

// abandon leaves the leader: the clients lose their connections and the server looks for another
// (Follower.followLeader, shutdown). Until then it has answered pings and reads as if nothing had happened.
func (u *upstream) abandon() {
	s := u.s
	if s.upstream != u {
		return
	}
	s.upstream = nil
	u.silence.Stop()
	if u.conn != nil {
		u.conn.Close()
	}
	s.stopServing()
	s.look()
}
