package lease

import (
	"fmt"
	"maps"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// HazelcastUnsafe is a partition of a Hazelcast cluster whose CP Subsystem is not enabled, which is the default: FencedLock then works in
// unsafe mode (com.hazelcast.cp.internal.operation.unsafe). Its owner carries requests out at once, numbers them itself, and sends
// them to a backup, which carries them out too (UnsafeRaftReplicateOp.java, UnsafeRaftBackupOp.java). It waits for the backup before it
// answers, for five seconds at most (hazelcast.operation.backup.timeout.millis). If the owner has left the cluster, the backup takes its
// place, with what it has. A member has left if its connection is refused, or if nothing has been heard of it for a minute
// (hazelcast.max.no.heartbeat.seconds). Members keep everything in memory, and one that comes back gets it from the owner.
//
// Not simulated: more than two members; that the two halves of a split find each other again, whereupon one of them gives up what it
// has; and that each half numbers threads by itself too, so that a thread of one may pass for another's in the other half. Here
// only sessions may.
func HazelcastUnsafe() Dialect {
	d := Hazelcast()
	d.Name, d.Election, d.Extend = "hazelcast-unsafe", 0, 0
	return d
}

const (
	backupTimeout = 5 * time.Second
	memberBeat    = 5 * time.Second // hazelcast.heartbeat.interval.seconds
	memberSilent  = time.Minute
	memberJoins   = 5 * time.Second // so long a member looks for the others before it begins alone
)

// member is what one of the two servers of a partition knows of the other.
type member struct {
	s        *Server
	other    *Server
	observer Observer // while it is not the owner
	alone    time.Duration

	// As the backup.
	up     *sim.Conn // to the owner; nil if there is none
	again  bool      // it was opened after one that had ended
	missed *sim.Timer

	// As the owner.
	down  *sim.Conn // from the backup; nil if there is none
	asks  *sim.Conn // from a member that looks for an owner while there is none
	sent  int64     // requests to the backup
	heard int64     // when it was heard of, on the monotonic clock
	beat  *sim.Timer
	held  []heldAnswer
}

// heldAnswer is a call whose answer waits until the backup has carried it out.
type heldAnswer struct {
	number int64
	call   *call
}

// Pair makes two servers the members that keep a partition. The first owns it.
func Pair(owner, backup *Server) {
	owner.member = newMember(owner, backup, memberJoins)
	backup.member = newMember(backup, owner, 2*memberJoins)
	backup.member.stepBack()
	backup.node.NewTimer(alarm(backup.member.join)).Arm(false, backup.node.Monotonic())
}

func newMember(s, other *Server, alone time.Duration) *member {
	m := &member{s: s, other: other, observer: s.observer, alone: alone}
	m.beat, m.missed = s.node.NewTimer(alarm(m.watchBackup)), s.node.NewTimer(alarm(m.miss))
	return m
}

// Owns reports whether the server takes itself for the owner of its partition, and is up.
func (s *Server) Owns() bool { return s.leading }

// follows reports whether another server owns the partition.
func (s *Server) follows() bool { return s.member != nil && !s.leading }

// stepBack makes the member one that owns nothing, and that nobody asks.
func (m *member) stepBack() {
	m.s.leading, m.s.observer = false, nil
	m.up, m.again, m.down, m.asks, m.held = nil, false, nil, nil, nil
}

// join turns to the owner. If it finds none it begins alone.
func (m *member) join() {
	m.up = m.s.node.Connect(m.other.node, m)
	m.missed.Arm(false, m.s.node.Monotonic()+int64(m.alone))
	_ = m.up.Push(&Copy{Kind: Join})
}

// Closed is the end of the connection to the owner. If there is none to be had, the owner is gone.
func (m *member) Closed() {
	switch m.up = nil; {
	case m.s.leading:
	case m.again:
		m.miss()
	default:
		m.again = true
		m.s.node.NewTimer(alarm(m.join)).Arm(false, m.s.node.Monotonic())
	}
}

// miss takes the owner for gone, and the member becomes it, with what it has.
func (m *member) miss() {
	s := m.s
	if s.leading {
		return
	}
	if m.up != nil {
		m.up.Close()
		m.up = nil
	}
	m.missed.Stop()
	s.observer = m.observer
	s.reign()
	s.node.Step(trace.Promote, "", 0, nil)
	if s.observer != nil {
		s.observer.Promoted(s, s.owners())
	}
	if m.asks != nil {
		m.admit(m.asks)
	}
}

// owners returns the requests by which those have the locks that do.
func (s *Server) owners() (list []*Request) {
	for _, l := range s.fenced {
		if s.owner(l) != (endpoint{}) {
			list = append(list, l.by)
		}
	}
	return list
}

// Deliver handles what the owner sends.
func (m *member) Deliver(p sim.Payload) {
	if m.s.leading || m.up == nil {
		return
	}
	c := p.(*Copy)
	m.again = false
	m.missed.Arm(false, m.s.node.Monotonic()+int64(memberSilent))
	switch c.Kind {
	case State:
		m.s.load(c.state)
	case Backup:
		m.s.follow(c.Request)
	default:
	}
	_ = m.up.Push(&Copy{Kind: Ack, Number: c.Number})
}

// execute handles what another member sends.
func (m *member) execute(conn *sim.Conn, c *Copy) {
	switch {
	case c.Kind == Join && !m.s.leading:
		m.asks = conn
	case c.Kind == Join:
		m.admit(conn)
	case conn == m.down:
		m.heard = m.s.node.Monotonic()
		m.release(c.Number)
	}
}

// admit makes a member the backup.
func (m *member) admit(conn *sim.Conn) {
	m.asks, m.down, m.heard = nil, conn, m.s.node.Monotonic()
	m.beat.Arm(false, m.s.node.Monotonic()+int64(memberBeat))
	conn.Reply(&Copy{Kind: State, Number: m.sent, state: m.s.state()})
}

// watchBackup sends a sign of life to the backup, and gives up one that is silent.
func (m *member) watchBackup() {
	switch {
	case m.down == nil:
	case m.s.node.Monotonic()-m.heard >= int64(memberSilent):
		m.down.Hangup()
		m.ended(m.down)
	default:
		m.beat.Arm(false, m.s.node.Monotonic()+int64(memberBeat))
		m.down.Reply(&Copy{Kind: Beat, Number: m.sent})
	}
}

// ended is the end of a connection from another member: the owner goes on without a backup.
func (m *member) ended(conn *sim.Conn) {
	if conn == m.asks {
		m.asks = nil
	}
	if conn == m.down {
		m.down = nil
		m.release(m.sent)
	}
}

// answer sends the backup a request that has been carried out. If there is one the answer waits for it.
func (m *member) answer(c *call, a *Response) sim.Payload {
	if m.down == nil {
		return a
	}
	c.answer = a
	m.held = append(m.held, heldAnswer{m.sent + 1, c})
	c.ringAfter(backupTimeout)
	m.copy(c.request)
	return nil
}

// copy sends the backup a request.
func (m *member) copy(r *Request) {
	if m.down != nil && m.s.leading {
		m.sent++
		m.down.Reply(&Copy{Kind: Backup, Number: m.sent, Request: r})
	}
}

// release sends the answers to requests up to a number.
func (m *member) release(number int64) {
	for len(m.held) > 0 && m.held[0].number <= number {
		m.s.again([]*call{m.held[0].call})
		m.held = m.held[1:]
	}
}

// follow carries out what the owner has carried out.
func (s *Server) follow(r *Request) {
	v, l := s.session(r.Session), s.fencedLock(r.Key)
	switch {
	case r.Op == cpEnd && v != nil:
		s.endFor(v, Expired)
	case r.Op == cpExpire:
		if i := l.place(r.endpoint()); i >= 0 {
			s.dropWait(l, l.queue[i])
		}
	case r.Op != cpEnd:
		s.carryOut(&call{server: s, request: r, done: true})
		s.wake(s.store.commit())
	}
}

// memberState is all that the owner gives to a member that joins.
type memberState struct {
	store    *store
	sessions []session
	fenced   []fencedLock
	lastID   SessionID
	commits  int64
}

func (s *Server) state() *memberState {
	st := &memberState{store: newStore(&s.dialect), lastID: s.lastID, commits: s.commits}
	st.store.revision = s.store.revision
	for _, k := range s.store.order {
		own := *k
		st.store.keys[k.Name] = &own
		st.store.order = append(st.store.order, &own)
	}
	for _, v := range s.sessions {
		st.sessions = append(st.sessions, session{id: v.id, client: v.client, ttl: v.ttl, deadline: v.deadline})
	}
	for _, l := range s.fenced {
		own := fencedLock{name: l.name, by: l.by, count: l.count, answers: maps.Clone(l.answers)}
		for _, w := range l.queue {
			own.queue = append(own.queue, &fencedWait{request: w.request, fence: w.fence})
		}
		st.fenced = append(st.fenced, own)
	}
	return st
}

// load replaces all that the server has.
func (s *Server) load(st *memberState) {
	for _, v := range s.sessions {
		v.timer.Stop()
	}
	s.wipe()
	s.store, s.lastID, s.commits = st.store, st.lastID, st.commits
	for i := range st.sessions {
		v := &st.sessions[i]
		v.timer = s.node.NewTimer(alarm(func() { s.expire(v) }))
		s.sessions = append(s.sessions, v)
	}
	for i := range st.fenced {
		l := &st.fenced[i]
		for _, w := range l.queue {
			s.time(l, w)
		}
		s.fenced = append(s.fenced, l)
	}
}

// Copy is a message between members.
type Copy struct {
	Kind    CopyKind
	Number  int64 // Backup: of the request; else of the last one
	Request *Request
	state   *memberState
}

// CopyKind says what a message between members is.
type CopyKind uint8

// The kinds.
const (
	Join   CopyKind = iota // a member asks for what the owner has
	State                  // that
	Backup                 // a request that the owner has carried out
	Beat                   // a sign of life
	Ack                    // of each of these
)

// String names the kind.
func (k CopyKind) String() string {
	return [...]string{"join", "state", "backup", "heartbeat", "ack"}[k]
}

// What returns the kind, and what a request is for.
func (c *Copy) What() (what, alt string) {
	if c.Request != nil {
		return c.Kind.String(), c.Request.Purpose
	}
	return c.Kind.String(), ""
}

// Sum digests the message.
func (c *Copy) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(c.Kind))
	d.Uint64(uint64(c.Number))
	if c.Request != nil {
		c.Request.digest(&d)
	}
	return d.Sum()
}

// String shows the message to a reader.
func (c *Copy) String() string {
	if c.Request != nil {
		return fmt.Sprintf("%v %d: %v", c.Kind, c.Number, c.Request)
	}
	return fmt.Sprintf("%v %d", c.Kind, c.Number)
}
