// Package lease simulates the lock services that are one model: etcd, Consul, Chubby and Hazelcast. Each is a replicated store of
// keys, sessions whose end deletes or releases their keys, and a leader that alone counts down the sessions' TTLs. The
// four differ mostly in data: see [Dialect]. Call [New] with the engine and a dialect; clients dial the server's node
// and send a [Request].
//
// One node stands for the whole service: a write or a linearizable read takes its quorum in one step, and the present
// leader is a state of the node. The package simulates the state that only the leader has, what a change of leader
// does to it, and requests that wait for a leader, for a change, or for time to pass. It does not simulate the
// messages of consensus, stale reads, watches that lag, and everything that no lock can notice. How clients keep their
// sessions alive, and when they consider them lost, is up to the clients.
package lease

import (
	"time"

	"github.com/locksim/locksim/sim"
)

// Config configures a service.
type Config struct {
	Dialect  Dialect
	Name     string // of its node; the dialect's, numbered 1, if empty
	Observer Observer
	// Stuck is how long a replaced leader does not notice that it was replaced, because its disk does not answer.
	// When the disk answers again, it ends sessions by its own outdated count, though its successor has renewed them:
	// etcd before 3.5.13 (etcd issue 15247). 0: it notices at once.
	Stuck time.Duration
	_     struct{}
}

// Observer sees the ground truth about a service, which no client can see.
type Observer interface {
	// Executed is called when a request has been carried out, with its changes. A request that waits is carried out at
	// the end of its wait.
	Executed(s *Server, r *Request, a *Response, changes []Change)
	// Waits is called when a request has arrived that cannot be carried out yet.
	Waits(s *Server, r *Request)
	// Renewed is called when a session's TTL has started or restarted: see [Server.Life].
	Renewed(s *Server, id SessionID)
	// Ended is called when a session has ended without a request of its client.
	Ended(s *Server, id SessionID, why Reason, changes []Change)
	// Wiped is called when the disks have lost everything.
	Wiped(s *Server, changes []Change)
	// Promoted is called when a member has become the owner of a partition, with what it knows of those that have locks:
	// the requests that gave them to them.
	Promoted(s *Server, owners []*Request)
}

// Reason says why a session has ended without a request of its client.
type Reason uint8

// The reasons.
const (
	Expired  Reason = iota // its client was silent for too long
	Killed                 // an operator or a health check has ended it
	Mistaken               // a deposed leader considered it expired
)

// Server is a service in the simulation, with its leader's memory.
type Server struct {
	dialect  Dialect
	observer Observer
	stuck    time.Duration
	node     *sim.Node
	phase    int64     // when the scans for ended sessions are, within their interval
	jitter   *sim.Rand // of blocking queries

	store    *store
	sessions []*session // by id
	lastID   SessionID

	leading  bool
	epoch    int // counts leaders
	election *sim.Timer
	delays   map[string]delay // by key
	compact  int64            // up to which revision the log has become a snapshot

	waiting map[string][]*call // for a change of a key
	pending []*call            // for a leader
	ready   []*call            // to be tried again
	news    *sim.Timer

	streams []*stream // watches that tell of every event
	locking []*call   // Lock: which wait for their turn
	fenced  []*fencedLock
	commits int64   // requests in the log
	member  *member // of a partition; nil if the server is a whole service
}

// New adds a service to an engine. It has a leader and nothing in its store.
func New(e *sim.Engine, c Config) *Server {
	if c.Name == "" {
		c.Name = c.Dialect.Name + "-1"
	}
	s := &Server{dialect: c.Dialect, observer: c.Observer, stuck: c.Stuck, leading: true, epoch: 1}
	s.wipe()
	s.node = e.AddServer(c.Name, s)
	r := e.Rand("lease", c.Name)
	if scan := int64(c.Dialect.Scan); scan > 0 {
		s.phase = r.Int64N(scan)
	}
	s.jitter = r
	s.election = s.node.NewTimer(alarm(s.lead))
	s.news = s.node.NewTimer(alarm(s.tryAgain))
	s.forget()
	return s
}

// alarm is a function that a timer calls.
type alarm func()

// Ring calls the alarm's function.
func (a alarm) Ring() { a() }

// Node returns the node that stands for the service.
func (s *Server) Node() *sim.Node { return s.node }

// Life returns the reading of the node's monotonic clock at which the leader considers a session expired unless it is
// renewed, or its wall clock is set; false if there is no such session, or no leader.
func (s *Server) Life(id SessionID) (deadline int64, ok bool) {
	v := s.session(id)
	if v == nil || !s.leading {
		return 0, false
	}
	if s.dialect.Wall {
		return v.deadline - s.node.Clock.Wall() + s.node.Monotonic(), true
	}
	return v.deadline, true
}

// Execute carries out a request, or keeps it until it can be answered.
func (s *Server) Execute(conn *sim.Conn, p sim.Payload) sim.Payload {
	if c, ok := p.(*Copy); ok {
		s.member.execute(conn, c)
		return nil
	}
	switch epoch, known := conn.Session.(int); {
	case !known:
		conn.Session = s.epoch
	case s.dialect.MovesClients && epoch != s.epoch:
		conn.Hangup()
		return nil
	}
	c := &call{server: s, conn: conn, request: p.(*Request), since: s.node.Monotonic()}
	if s.follows() {
		return &Response{Request: c.request, Err: WrongTarget}
	}
	a := s.attempt(c)
	switch {
	case a != nil && s.member != nil:
		return s.member.answer(c, a)
	case a != nil:
		return a
	case s.member != nil:
		s.member.copy(c.request)
	}
	if s.observer != nil {
		s.observer.Waits(s, c.request)
	}
	return nil
}

// attempt carries a request out and tells the observer; nil if it must wait.
func (s *Server) attempt(c *call) *Response {
	if !s.leading && !c.request.local() {
		s.pending = append(s.pending, c)
		return nil
	}
	a := s.carryOut(c)
	if a == nil {
		return nil
	}
	if c.request.Etcd != nil {
		if a.Etcd == nil {
			a.Etcd = &Etcd3Answer{}
		}
		a.Etcd.Term = s.term()
	}
	if a.Revision == 0 {
		a.Revision = s.store.revision
	}
	changes := s.store.commit()
	if s.observer != nil {
		s.observer.Executed(s, c.request, a, changes)
	}
	s.wake(changes)
	return a
}

func (s *Server) carryOut(c *call) *Response {
	r := c.request
	s.commits++
	switch {
	case s.dialect.MovesClients && r.Epoch != s.epoch && r.Op != CreateSession && r.Op != KeepAlive:
		return &Response{Request: r, Err: StaleEpoch, Epoch: s.epoch}
	case r.Op == LeaseGrant, r.Op == SessionCreate, r.Op == CreateSession, r.Op == CPCreateSession:
		return s.open(c)
	case r.Op == LeaseKeepAlive, r.Op == SessionRenew:
		return s.renew(c)
	case r.Op == LeaseRevoke, r.Op == SessionDestroy, r.Op == EndSession:
		return s.close(r)
	case r.Op == KVAcquire, r.Op == TryAcquire:
		return s.acquire(r)
	case r.Op == KVRelease, r.Op == Release:
		return s.release(r)
	case r.Op == Watch:
		return s.watch(c)
	case r.Op == KVGet:
		return s.kvGet(c)
	case r.Op == KeepAlive:
		return s.keepAlive(c)
	case r.Op == Acquire:
		return s.acquireOrWait(c)
	case r.Op == CheckSequencer:
		return s.checkSequencer(r)
	case r.Op == Lock:
		return s.lock(c)
	case r.Op == Cancel:
		return s.cancel(c)
	case r.Op == CPHeartbeat:
		return s.heartbeat(r)
	case r.Op == FencedLock:
		return s.lockFenced(c)
	case r.Op == FencedUnlock:
		return s.unlockFenced(r)
	}
	a := &Response{Request: r}
	if r.Op == Txn {
		s.txn(r, a)
	} else {
		s.operate(r, a)
	}
	return a
}

// Size counts the present and deleted keys, and the sessions.
func (s *Server) Size() int { return len(s.store.keys) + len(s.store.deleted) + len(s.sessions) }
