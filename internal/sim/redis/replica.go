package redis

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/sim"
)

// upstream is a replica's end of the connection to its master.
type upstream struct {
	s      *Server
	master *sim.Node
	conn   *sim.Conn  // nil if there is none
	dial   *sim.Timer // opens it at the same moment: the engine may be in the middle of its list of connections
	inSync *Server    // the master, if the run begins and the two are in sync
	online bool       // the stream flows
	heard  int64      // wall clock in seconds: when the master was last heard of, or the connection was opened
	down   int64      // wall clock in seconds: when the stream last ceased to flow
}

// join makes the server a replica that is in sync with a master when the run begins.
func (s *Server) join(master *Server) {
	if master.backlog == nil {
		master.keepBacklog()
	}
	s.configured = master.node
	s.Store.Follow(s.node.Wall())
	s.follow(master.node)
	s.upstream.inSync = master
	s.history, s.offset = master.history, master.offset
	s.keepBacklog()
}

// follow turns to a master.
func (s *Server) follow(master *sim.Node) {
	s.upstream = &upstream{s: s, master: master, down: s.unixTime()}
	s.upstream.dial = s.node.NewTimer(s.upstream)
	s.upstream.dial.Arm(false, s.node.Monotonic())
	s.startCron()
}

// Ring opens the connection.
func (u *upstream) Ring() {
	if u.s.upstream != u || u.conn != nil {
		return
	}
	master := u.inSync
	u.inSync = nil
	if master == nil || !master.node.Up() || master.history != u.s.history || master.offset != u.s.offset {
		u.connect() // a fault was there before the run began
		return
	}
	// The run begins: what looks like a connection being opened has long been open.
	u.conn = u.s.node.Connect(u.master, u)
	l := &link{conn: u.conn, sent: master.offset, acked: master.offset, flushed: u.s.flushedOffset()}
	u.conn.Session = l
	master.links = append(master.links, l)
	master.putOnline(l)
	u.online, u.heard = true, u.s.unixTime()
}

// connect asks the master for what follows that which the replica has, be that of the master's history or not. Redis
// exchanges some more words first (REPLCONF, AUTH), which take further round trips.
func (u *upstream) connect() {
	u.heard = u.s.unixTime()
	u.conn = u.s.node.Connect(u.master, u)
	u.send(&packet{kind: psync, id: u.s.history, offset: u.s.offset})
}

// send sends to the master. If the connection is over that will be noticed without.
func (u *upstream) send(p *packet) {
	if u.conn != nil {
		_ = u.conn.Push(p)
	}
}

func (u *upstream) acknowledge() {
	u.send(&packet{kind: ack, offset: u.s.offset, flushed: u.s.flushedOffset()})
}

// Deliver handles the master's packets.
func (u *upstream) Deliver(payload sim.Payload) {
	s := u.s
	if s.upstream != u {
		return
	}
	u.heard = s.unixTime()
	switch p := payload.(type) {
	case *unit:
		u.carryOut(p)
	case *packet:
		switch p.kind {
		case fullResync:
			u.replace(p)
		case goOn:
			u.goOn(p.id)
		default:
			u.conn.Close()
			u.lose()
		}
	}
}

// carryOut does what the master has done.
func (u *upstream) carryOut(p *unit) {
	s := u.s
	if p.offset != s.offset+1 {
		panic(fmt.Sprintf("redis: %s has %d units of its history and was sent the %dth", s.node.Name, s.offset, p.offset))
	}
	s.offset = p.offset
	s.backlog.append(p)
	s.Store.Apply(s.node.Wall(), p.records)
	changes := s.Store.Changes()
	s.persist(changes)
	if s.config.Observer != nil && len(changes) > 0 {
		s.config.Observer.Applied(s, changes)
	}
	s.feedAll()
	for _, m := range p.messages {
		s.Store.publish(m)
	}
	s.pushAll()
	if p.command == getAckCommand {
		u.acknowledge()
	}
}

// replace empties the dataset and loads the master's (readSyncBulkPayload). The server's own replicas, and what they
// could go on with, are of another history now (replicationAttachToNewMaster).
func (u *upstream) replace(p *packet) {
	s := u.s
	s.Store.Replace(s.node.Wall(), p.dataset)
	s.history, s.offset, s.former = p.id, p.offset, ""
	s.keepBacklog()
	if s.config.Persistence != NoPersistence { // what it was sent is its file now
		s.rewrite()
	}
	u.online = true
	if s.config.Observer != nil {
		s.config.Observer.Replaced(s, p.dataset)
	}
	s.pushAll()
	s.dropAll()
	u.acknowledge()
}

// goOn continues the history, perhaps under another name, which the server's own replicas must learn too
// (slaveTryPartialResynchronization).
func (u *upstream) goOn(history string) {
	s := u.s
	u.online = true
	if s.backlog == nil {
		s.keepBacklog()
	}
	if s.history != history {
		s.former, s.shared, s.history = s.history, s.offset, history
		s.dropAll()
	}
}

// Closed is called when the connection has ended or was refused. A replica that was in sync reconnects at once, another
// one at the end of the second (replicationHandleMasterDisconnection).
func (u *upstream) Closed() {
	if u.s.upstream != u {
		return
	}
	if u.online {
		u.dial.Arm(false, u.s.node.Monotonic())
	}
	u.lose()
}

// lose is the end of a connection.
func (u *upstream) lose() {
	if u.online {
		u.down = u.s.unixTime()
	}
	u.conn, u.online = nil, false
}

// leave is the end of the whole relation.
func (u *upstream) leave() {
	if u.conn != nil {
		u.conn.Close()
	}
	u.dial.Stop()
	u.lose()
}

// everySecond gives up a master that has been silent for too long, connects to it, or acknowledges what has come.
func (u *upstream) everySecond() {
	if u.conn != nil && u.s.unixTime()-u.heard > replTimeout {
		u.conn.Close()
		u.lose()
	}
	switch {
	case u.conn == nil:
		u.connect()
	case u.online:
		u.acknowledge()
	}
}

// Silence returns for how long a replica has not heard from its master, in whole seconds; 0 for a master.
func (s *Server) Silence() time.Duration {
	switch u := s.upstream; {
	case u == nil:
		return 0
	case u.online:
		return time.Duration(s.unixTime()-u.heard) * time.Second
	default:
		return time.Duration(s.unixTime()-u.down) * time.Second
	}
}
