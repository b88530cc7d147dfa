package zookeeper

import (
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// leader is what a server has while it leads: it orders the writes and tracks the sessions. Before it is active, it
// waits for a majority to have its log.
type leader struct {
	s       *Server
	epoch   uint32
	counter uint32
	pending *Tree // with everything that has been proposed
	tracker *tracker
	links   []*link // to each server, by id; nil where there is none
	self    *link
	chosen  bool   // the epoch has a number
	promise []bool // who has accepted it, by id
	active  bool
	commits int // how much of the log is committed
	syncs   []waitingSync

	ping   packet     // of which one is like the other
	beat   *sim.Timer // twice a tick
	expiry *sim.Timer // at every tick of the clock
	sweep  *sim.Timer // once a minute: of containers
	beats  int
	limit  int64 // by when it must be active
}

// link is the leader's end of the connection from a follower. The leader has one to itself.
type link struct {
	id       int
	conn     *sim.Conn
	accepted uint32     // the last epoch that the follower had promised to anybody when it came
	log      *packet    // what its log ends with, once it has promised the leader's
	acked    Zxid       // all up to it is on its disk
	silence  *sim.Timer // the time-out of reading from the connection
	told     bool       // its log is being brought up to date: it gets every proposal from now on
	uptodate bool       // it has said so: it counts for the leader's majority
}

// waitingSync is a client's sync that waits for what was proposed before it.
type waitingSync struct {
	from    *link
	session SessionID
	request *Request
	after   Zxid
}

func (l *link) gone() bool { return l.conn != nil && l.conn.Session != l }

func (l *link) send(p *packet) {
	if !l.gone() {
		l.conn.Reply(p)
	}
}

// close ends the connection.
func (l *link) close() {
	if !l.gone() {
		l.conn.Session = nil
		l.conn.Hangup()
	}
}

// welcome takes in a server that wants to follow. One that comes while this server is still looking waits for the
// outcome of the election, where ZooKeeper would refuse it and let it try again a second later.
func (s *Server) welcome(conn *sim.Conn, p *packet) {
	l := &link{id: p.from, conn: conn, accepted: p.epoch}
	conn.Session = l
	switch {
	case s.lead != nil:
		s.lead.admit(l)
	case s.state == Looking:
		s.early = append(s.early, l)
	default:
		l.close()
	}
}

// beginLeading is what the winner of an election does.
func (s *Server) beginLeading() {
	l := s.newLeader()
	early := s.early
	s.early = nil
	l.limit = s.now() + int64(s.config.InitLimit)*int64(s.config.Tick)
	l.schedule()
	for _, link := range early {
		if !link.gone() && s.lead == l {
			l.admit(link)
		}
	}
	l.choose()
}

func (s *Server) newLeader() *leader {
	n := len(s.ensemble.Servers) + 1
	l := &leader{
		s: s, ping: packet{kind: ping}, epoch: s.disk.epoch, links: make([]*link, n), promise: make([]bool, n),
	}
	l.self = &link{id: s.ID, acked: s.disk.last()}
	l.links[s.ID] = l.self
	l.beat = s.node.NewTimer(beatAlarm{l})
	l.expiry = s.node.NewTimer(expiryAlarm{l})
	l.sweep = s.node.NewTimer(sweepAlarm{l})
	s.state, s.lead = Leading, l
	return l
}

func (l *leader) schedule() { l.beat.Arm(false, l.s.node.Monotonic()+int64(l.s.config.Tick)/2) }

// admit takes a follower in, whose earlier connection, if there was one, is over.
func (l *leader) admit(f *link) {
	if old := l.links[f.id]; old != nil {
		old.close()
	}
	l.links[f.id] = f
	f.silence = l.s.node.NewTimer(linkAlarm{l, f})
	l.listen(f)
	if l.chosen {
		f.send(&packet{kind: leaderInfo, epoch: l.epoch})
		return
	}
	l.choose()
}

// start begins to track sessions, each with its full timeout (the constructor of SessionTrackerImpl).
func (l *leader) start() {
	s := l.s
	now := s.now()
	l.tracker = newTracker(s.config.Tick, now)
	for _, id := range s.tree.Sessions() {
		l.tracker.open(id, s.tree.sessions[id], nil, now)
	}
	l.expiry.Arm(false, l.tracker.next-s.phase)
	l.sweep.Arm(false, s.node.Monotonic()+int64(sweepInterval))
	s.serving = true
}

// following counts the servers that have the leader's log.
func (l *leader) following() int {
	n := 0
	for _, f := range l.links {
		if f != nil && f.uptodate && !f.gone() {
			n++
		}
	}
	return n
}

// hear takes a packet from a follower.
func (l *leader) hear(f *link, p *packet) {
	l.listen(f)
	switch p.kind {
	case ackEpoch:
		l.promised(f, p)
	case ack:
		f.acked = p.zxid
		if !f.uptodate {
			l.joined(f)
		}
		l.commit()
	case pong:
		for _, t := range p.touched {
			if l.active {
				l.tracker.touch(t.session, t.timeout, l.s.now())
			}
		}
	case forward:
		l.submit(f, p.session, p.request, p.timeout)
	case forwardSync:
		l.sync(f, p.session, p.request)
	case revalidate:
		valid := l.active && l.revalidate(f, p.session, p.timeout)
		f.send(&packet{kind: validated, session: p.session, valid: valid})
	default:
		panic("zookeeper: a leader was sent " + p.String())
	}
}

// joined counts a follower that has the log on its disk.
func (l *leader) joined(f *link) {
	f.uptodate = true
	l.listen(f)
	if l.active {
		f.send(&packet{kind: upToDate, zxid: l.committed()})
		return
	}
	l.activate()
}

func (l *leader) committed() Zxid {
	if l.commits == 0 {
		return 0
	}
	return l.s.disk.log[l.commits-1].Zxid
}

// submit orders a write: it is checked against everything that has been proposed, and proposed. A write that fails is
// ordered too.
func (l *leader) submit(from *link, id SessionID, r *Request, timeout time.Duration) {
	if !l.active {
		return
	}
	l.counter++
	txn := &Txn{Zxid: newZxid(l.epoch, l.counter), Time: l.s.wall(), Session: id, Request: r}
	switch {
	case r == nil || r.Op == CloseSession:
		l.tracker.markClosing(id)
		l.pending.closing(txn)
	case r.Op == Connect:
		l.tracker.open(id, timeout, from, l.s.now())
		l.pending.opening(txn, timeout)
	default:
		if id != 0 { // else the leader asks for it itself
			txn.Err = l.tracker.check(id, from)
		}
		if txn.Err == OK {
			l.pending.prepare(txn)
		}
	}
	l.propose(txn)
}

// propose writes a transaction to the log and asks the followers to do the same. The leader's own acknowledgement
// counts like theirs.
func (l *leader) propose(txn *Txn) {
	l.s.write(txn)
	p := &packet{kind: proposal, txns: []*Txn{txn}}
	for _, f := range l.links {
		if f != nil && f != l.self && f.told {
			f.send(p)
		}
	}
	if l.s.lead == l {
		l.self.acked = txn.Zxid
		l.commit()
	}
}

// commit carries out what a majority has on disk, in order.
func (l *leader) commit() {
	s := l.s
	for l.active && s.lead == l && l.commits < len(s.disk.log) {
		txn := s.disk.log[l.commits]
		have := 0
		for _, f := range l.links {
			if f != nil && f.uptodate && f.acked >= txn.Zxid {
				have++
			}
		}
		if have < s.ensemble.majority() {
			break
		}
		l.commits++
		p := &packet{kind: commit, zxid: txn.Zxid}
		for _, f := range l.links {
			if f != nil && f != l.self && f.told {
				f.send(p)
			}
		}
		if s.lead == l {
			l.execute(txn)
		}
	}
	l.releaseSyncs()
}

// execute carries a committed transaction out on the leader's own tree.
func (l *leader) execute(txn *Txn) {
	l.s.ensemble.committed(l.s)
	if txn.closes() {
		l.tracker.forget(txn.Session)
	}
	l.s.applyTo(l.commits)
}

// sync answers when what had been proposed before is committed. It asks no majority: a leader that has been deposed
// without knowing it answers too (Leader.processSync).
func (l *leader) sync(from *link, id SessionID, r *Request) {
	if !l.active {
		return
	}
	l.syncs = append(l.syncs, waitingSync{from: from, session: id, request: r, after: l.s.disk.last()})
	l.releaseSyncs()
}

func (l *leader) releaseSyncs() {
	for len(l.syncs) > 0 && l.s.lead == l && l.syncs[0].after <= l.committed() {
		first := l.syncs[0]
		l.syncs = l.syncs[1:]
		if first.from == l.self {
			l.s.synced(first.session, first.request)
		} else {
			first.from.send(&packet{kind: synced, session: first.session, request: first.request})
		}
	}
}

// synced answers a client's sync.
func (s *Server) synced(id SessionID, r *Request) {
	c := s.hosted[id]
	if c != nil && c.finish(r, func() *Response {
		if r.Malformed {
			return &Response{Request: r, Zxid: s.lastApplied(), Err: MarshallingError}
		}
		return &Response{Request: r, Zxid: s.lastApplied(), Path: r.Path}
	}) {
		c.drain()
	}
}

// revalidate moves a session that is alive to the server that its client has turned to.
func (l *leader) revalidate(to *link, id SessionID, timeout time.Duration) bool {
	if !l.tracker.touch(id, timeout, l.s.now()) {
		return false
	}
	l.tracker.move(id, to)
	return true
}

type beatAlarm struct{ l *leader }

// Ring pings the followers, and at every second beat, which is a tick, checks that a majority still answers
// (Leader.lead).
func (a beatAlarm) Ring() {
	l := a.l
	if l.s.lead != l {
		return
	}
	l.beats++
	if !l.active && l.s.now() >= l.limit || l.active && l.beats%2 == 0 && l.following() < l.s.ensemble.majority() {
		l.s.stepDown()
		return
	}
	l.schedule()
	for _, f := range l.links {
		if f != nil && f != l.self && f.uptodate && l.s.lead == l {
			f.send(&l.ping)
		}
	}
}

// listen sets when the leader will have waited too long for a follower's next word (LearnerHandler.run): initLimit ticks
// until the follower is up to date, then syncLimit. LearnerHandler.synced, which counts ticks, is never sooner.
func (l *leader) listen(f *link) {
	limit := l.s.config.InitLimit
	if f.uptodate {
		limit = l.s.config.SyncLimit
	}
	f.silence.Arm(false, l.s.node.Monotonic()+int64(limit)*int64(l.s.config.Tick))
}

type linkAlarm struct {
	l *leader
	f *link
}

// Ring drops a follower that has been silent for too long. A follower that can still receive learns by it that its own
// packets are lost.
func (a linkAlarm) Ring() {
	if a.l.s.lead == a.l && a.l.links[a.f.id] == a.f {
		a.l.links[a.f.id] = nil
		a.f.close()
	}
}

// stepDown ends a reign.
func (s *Server) stepDown() {
	l := s.lead
	s.lead = nil
	l.beat.Stop()
	l.expiry.Stop()
	l.sweep.Stop()
	for _, f := range l.links {
		if f != nil && f != l.self {
			f.close()
		}
	}
	if l.active {
		s.node.Step(trace.Demote, "leader", uint64(l.epoch), nil)
	}
	s.stopServing()
	s.look()
}

type expiryAlarm struct{ l *leader }

// Ring closes the expired sessions.
func (a expiryAlarm) Ring() {
	l := a.l
	s := l.s
	for _, id := range l.tracker.expired(s.now()) {
		if s.lead != l {
			return
		}
		l.expire(id)
	}
	if s.lead == l {
		l.expiry.Arm(false, l.tracker.next-s.phase)
	}
}

// expire decides that a session is over, and asks for that to be committed.
func (l *leader) expire(id SessionID) {
	s := l.s
	s.node.Step(trace.Expire, id.String(), uint64(id), nil)
	if o := s.config.Observer; o != nil {
		o.Expired(s, id)
	}
	l.submit(nil, id, nil, 0)
}
