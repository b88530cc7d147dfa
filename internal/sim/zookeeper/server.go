package zookeeper

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
)

// State is a server's state in its ensemble.
type State uint8

// The states, as QuorumPeer has them.
const (
	Looking State = iota
	Following
	Leading
)

// String returns the name of the state.
func (s State) String() string { return [...]string{"LOOKING", "FOLLOWING", "LEADING"}[s] }

// Server is one server of an ensemble. It is made by [New].
type Server struct {
	ID int // from 1

	config   *Config
	ensemble *Ensemble
	node     *sim.Node
	phase    int64 // what its monotonic clock showed when the run began

	disk    disk
	tree    *Tree
	applied int    // how much of the log is in the tree
	stats   []Stat // what the operations of the last transaction with several changes left, each at its turn

	state       State
	serving     bool
	clients     []*client // in the order of their coming; some may be gone
	sweep       int       // how many there may be before those are forgotten
	hosted      map[SessionID]*client
	watches     watches
	touched     []*client // since the leader's last ping
	lastSession SessionID
	counts      counts

	lead     *leader
	upstream *upstream
	election *election
	round    uint64 // of elections
	early    []*link

	moving map[SessionID]*client // whose session the leader is asked about
}

// disk is what survives a crash.
type disk struct {
	accepted uint32 // the last epoch that was promised to a leader: no earlier one is followed any more
	epoch    uint32 // of the last leader that was followed
	log      []*Txn
	at       []int64 // when each was written, on the node's clock; kept for a disk that can lose it
}

func (d *disk) last() Zxid {
	if len(d.log) == 0 {
		return 0
	}
	return d.log[len(d.log)-1].Zxid
}

// upTo returns how many transactions have at most that zxid.
func (d *disk) upTo(z Zxid) int {
	i, found := slices.BinarySearchFunc(d.log, z, func(t *Txn, z Zxid) int {
		switch {
		case t.Zxid < z:
			return -1
		case t.Zxid > z:
			return 1
		}
		return 0
	})
	if found {
		i++
	}
	return i
}

func (d *disk) truncate(n int) {
	d.log = d.log[:n:n]
	d.at = d.at[:min(n, len(d.at)):min(n, len(d.at))]
}

func (s *Server) write(txns ...*Txn) {
	s.disk.log = append(s.disk.log, txns...)
	for s.config.LazyDisk && len(s.disk.at) < len(s.disk.log) {
		s.disk.at = append(s.disk.at, s.node.Monotonic())
	}
}

// Node returns the node that the server runs on.
func (s *Server) Node() *sim.Node { return s.node }

// State returns the state that the server believes to be in.
func (s *Server) State() State { return s.state }

// Serving reports whether it serves clients.
func (s *Server) Serving() bool { return s.serving }

// Tree returns the applied state. It must not be changed.
func (s *Server) Tree() *Tree { return s.tree }

// now returns the monotonic clock of the server's machine, which was switched on before the run began.
func (s *Server) now() int64 { return s.node.Monotonic() + s.phase }

// wall returns the wall clock in milliseconds. It does not count as looking at the clock: what locks see of a node has no
// times in it.
func (s *Server) wall() int64 { return s.node.Clock.Wall() / int64(time.Millisecond) }

// lastApplied is the last transaction that clients may have seen here. A new leader claims its reign before the first
// transaction of it (Leader.startZkServer).
func (s *Server) lastApplied() Zxid {
	last := Zxid(0)
	if s.applied > 0 {
		last = s.disk.log[s.applied-1].Zxid
	}
	if s.lead != nil && s.lead.active {
		last = max(last, newZxid(s.lead.epoch, 0))
	}
	return last
}

// newSession numbers a session as SessionTrackerImpl does: the server's id, the time, a counter.
func (s *Server) newSession() SessionID {
	first := SessionID(s.ID)<<56 | SessionID(s.now()/int64(time.Millisecond))<<16&(1<<56-1)
	s.lastSession = max(s.lastSession+1, first)
	return s.lastSession
}

// Execute handles a client's request or a peer's packet.
func (s *Server) Execute(conn *sim.Conn, p sim.Payload) sim.Payload {
	switch p := p.(type) {
	case *Request:
		return s.clientOf(conn).execute(p)
	case *packet:
		s.hear(conn, p)
		return nil
	default:
		panic(fmt.Sprintf("zookeeper: server %d was sent a %T", s.ID, p))
	}
}

// hear takes a packet from a server that has opened a connection to this one.
func (s *Server) hear(conn *sim.Conn, p *packet) {
	switch l, isLink := conn.Session.(*link); {
	case p.kind == notification:
		s.hearVote(conn, p)
	case p.kind == followerInfo:
		s.welcome(conn, p)
	case isLink && s.lead != nil && s.lead.links[l.id] == l:
		s.lead.hear(l, p)
	}
}

// submit hands a client's write to the leader.
func (s *Server) submit(id SessionID, r *Request, timeout time.Duration) {
	if s.lead != nil {
		s.lead.submit(s.lead.self, id, r, timeout)
		return
	}
	s.upstream.send(&packet{kind: forward, session: id, request: r, timeout: timeout})
}

func (s *Server) submitSync(id SessionID, r *Request) {
	if s.lead != nil {
		s.lead.sync(s.lead.self, id, r)
		return
	}
	s.upstream.send(&packet{kind: forwardSync, session: id, request: r})
}

// touch notes a sign of life of a session. A follower only keeps it for its answer to the leader's next ping.
func (s *Server) touch(c *client) bool {
	if s.lead != nil {
		return s.lead.tracker.touch(c.session, c.timeout, s.now())
	}
	if !c.touched {
		c.touched = true
		s.touched = append(s.touched, c)
	}
	return true
}

func (s *Server) revalidate(c *client, id SessionID) {
	if s.lead != nil {
		c.validated(id, s.lead.revalidate(s.lead.self, id, c.timeout))
		return
	}
	s.moving[id] = c
	s.upstream.send(&packet{kind: revalidate, session: id, timeout: c.timeout})
}

// applyTo carries out the log's first n transactions, and answers those of this server's clients. An answer can be
// what a fault waits for, so that the process may be dead after any of them.
func (s *Server) applyTo(n int) {
	for life := s.node.Life(); s.applied < n && s.node.Life() == life; {
		txn := s.disk.log[s.applied]
		s.applied++
		s.stats = s.stats[:0]
		for i := range txn.Changes {
			c := &txn.Changes[i]
			var gone *znode
			if c.Kind == NodeDeleted {
				gone = s.tree.nodes[c.Path]
			}
			s.tree.apply(c, txn)
			if len(txn.Changes) > 1 {
				stat, _ := s.tree.Stat(c.Path)
				s.stats = append(s.stats, stat)
			}
			s.watches.fire(s.tree, c, gone, txn.Zxid)
		}
		s.answer(txn)
	}
}

// answer tells the client whose request has been carried out, if it is hosted here.
func (s *Server) answer(txn *Txn) {
	c := s.hosted[txn.Session]
	if c == nil {
		return
	}
	if txn.Err == SessionMoved {
		if len(c.queue) > 0 && c.queue[0] == txn.Request { // the client may speak through this server by now
			c.hangUp()
		}
		return
	}
	if txn.Request != nil {
		c.finish(txn.Request, func() *Response { return s.outcome(c, txn) })
	}
	if txn.closes() {
		c.hangUp()
	}
	c.drain()
}

func (t *Txn) closes() bool { return t.Request == nil || t.Request.Op == CloseSession }

// outcome is the answer to a write.
func (s *Server) outcome(c *client, txn *Txn) *Response {
	a := &Response{Request: txn.Request, Err: txn.Err, Zxid: txn.Zxid}
	switch r := txn.Request; r.Op {
	case Connect:
		a.Session, a.Timeout = txn.Session, c.timeout
	case Multi:
		if a.Err == MarshallingError { // of the whole, or of an operation
			return a
		}
		a.Err = OK // FinalRequestProcessor: the errors stand with the operations
		a.Results = s.results(txn)
	case Create, SetData, SetACL:
		if txn.Err == OK {
			a.Path = txn.Changes[0].Path
			a.Stat, _ = s.tree.Stat(a.Path)
		}
	default:
	}
	return a
}

// results are the answers to the operations of a multi. If one failed, those before it are told ok although they did
// not happen, and those behind it that they were not tried (MultiResponse).
func (s *Server) results(txn *Txn) []Response {
	results := make([]Response, len(txn.Request.Ops))
	for i := range results {
		a := &results[i]
		a.Request, a.Zxid = &txn.Request.Ops[i], txn.Zxid
		switch {
		case txn.Err == OK:
			a.Path = txn.Changes[i].Path
			if a.Stat, _ = s.tree.Stat(a.Path); len(s.stats) > i {
				a.Stat = s.stats[i] // what comes behind it in the transaction had not happened yet
			}
		case i == txn.Failed:
			a.Err = txn.Err
		case i > txn.Failed:
			a.Err = RuntimeInconsistency
		}
	}
	return results
}

// stopServing closes the clients' connections: the server is no longer part of an ensemble.
func (s *Server) stopServing() {
	s.serving = false
	clients := s.clients
	s.forgetClients()
	for _, c := range clients {
		if !c.gone() {
			c.hangUp()
		}
	}
}

func (s *Server) forgetClients() {
	s.clients = nil
	s.hosted = make(map[SessionID]*client)
	s.moving = make(map[SessionID]*client)
	s.touched = nil
	s.watches = newWatches()
}

// Crash discards everything but the disk. Without forced flushes the loss of power loses the log's tail too.
func (s *Server) Crash(host bool, keep string) {
	s.state, s.serving = Looking, false
	s.lead, s.upstream, s.election, s.early = nil, nil, nil, nil
	s.round, s.lastSession = 0, 0
	s.forgetClients()
	s.tree, s.applied = s.config.newTree(), 0
	switch {
	case keep == "all":
	case keep == "nothing":
		s.disk = disk{}
	case host && s.config.LazyDisk:
		now := s.node.Monotonic()
		n := slices.IndexFunc(s.disk.at, func(at int64) bool { return now-at < int64(writeback) })
		if n >= 0 {
			s.disk.truncate(n)
		}
	}
}

// writeback is how long Linux leaves written data in memory alone (vm.dirty_expire_centisecs).
const writeback = 30 * time.Second

// Restart starts the server in the state LOOKING. It does not know which entries of its log are committed.
func (s *Server) Restart() { s.look() }

// Size counts the transactions in the log, nodes and sessions.
func (s *Server) Size() int { return len(s.disk.log) + len(s.tree.nodes) + len(s.tree.sessions) }
