package redis

import (
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Config configures a server.
type Config struct {
	Persistence Persistence
	// Databases is how many numbered databases there are (databases); 16 if 0.
	Databases int
	// DiskLies makes the disk acknowledge flushes that it has not carried out.
	DiskLies bool
	// ReplicaOf is the master whose replica the server is when the run begins: attached before it, and in sync.
	ReplicaOf *Server
	// MinReplicas is how many good replicas a master must have to accept a write (min-replicas-to-write).
	MinReplicas int
	// MinReplicasMaxLag is how old the last acknowledgement of a good replica may be, in whole seconds
	// (min-replicas-max-lag); 10 s if 0.
	MinReplicasMaxLag time.Duration
	// FullSyncDelay is how long a full resynchronisation takes the master: the delay before it makes the snapshot
	// (repl-diskless-sync-delay, 5 s in redis.conf), and the transfer. It must be shorter than a minute.
	FullSyncDelay time.Duration
	// Gate is called before each request is executed. If it answers, its reply is sent, and the request is not
	// executed. It is for upper layers that refuse with MOVED, CLUSTERDOWN or LOADING. It may be nil.
	Gate func(r *Request, c *sim.Conn) (reply Reply, answers bool)
	// Resolve finds the node that listens at an address, for REPLICAOF; nil if none does. Without it a host is the name of a node.
	Resolve func(host, port string) *sim.Node
	// Version is whose commands the server has; Redis70 if empty.
	Version Version
	// Mode is what the server tells clients that it is: "standalone" if empty, "sentinel" or "cluster".
	Mode string
	// Observer is called for every event of the server; it may be nil.
	Observer Observer
	_        struct{}
}

// Server is a Redis server in the simulation: a master, or a replica of one. Create it with [NewServer], add it with
// sim.Engine.AddServer, then call [Server.Attach].
type Server struct {
	Store *Store

	config     Config
	node       *sim.Node
	configured *sim.Node // the master that its configuration file names; nil if none
	expiry     *sim.Timer
	flush      *sim.Timer
	disk       disk
	replication

	pause   pause
	waiting []*Peer  // blocked, in the order in which they were
	after   []func() // what the request in execution has asked for, and happens when it has been executed
}

// NewServer returns a server on a store that is fresh or has been Reset.
func NewServer(store *Store, c Config) *Server {
	s := &Server{Store: store, config: c}
	store.server = s
	return s
}

// Attach tells the server which node it runs on.
func (s *Server) Attach(n *sim.Node) {
	s.node = n
	s.expiry = n.NewTimer(expiryAlarm{s})
	s.flush = n.NewTimer(flushAlarm{s})
	s.disk.lastFlush = n.Monotonic()
	s.beginHistory()
	if s.config.ReplicaOf != nil {
		s.join(s.config.ReplicaOf)
	}
	s.restrict()
}

// Node returns the node that the server runs on.
func (s *Server) Node() *sim.Node { return s.node }

// Execute carries out a client's *Request or a replica's packet, at one instant. It returns the *Response; nil if
// there is none, or not yet.
func (s *Server) Execute(c *sim.Conn, p sim.Payload) sim.Payload {
	r, ok := p.(*Request)
	if !ok {
		s.hear(c, p)
		return nil
	}
	peer := s.peerOf(c)
	if peer.wait != nil {
		peer.behind = append(peer.behind, r)
		return nil
	}
	reply, ok := s.serve(peer, r)
	if !ok {
		s.pushLater()
		return nil
	}
	return s.answer(peer, r, reply)
}

func (s *Server) peerOf(c *sim.Conn) *Peer {
	peer, ok := c.Session.(*Peer)
	if !ok {
		peer = s.Store.NewPeer()
		peer.conn = c
		c.Session = peer
	}
	return peer
}

// Refused answers a request with an error, unless Redis would execute such a command regardless.
func (s *Server) Refused(c *sim.Conn, p, answer sim.Payload) sim.Payload {
	r, ok := p.(*Request)
	switch {
	case !ok:
		return answer
	case !s.Store.mayRefuse(r.Args[0], answer.(*Response).Reply.Code()):
		return s.Execute(c, p)
	}
	s.refused(s.peerOf(c), r)
	return answer
}

// refused does what a command that is refused does to a transaction (server.c, rejectCommand): nothing of it is executed.
func (s *Server) refused(p *Peer, r *Request) {
	if r.Command == "EXEC" && p.multi {
		s.Store.endTransaction(p)
	}
	p.poisoned = p.multi
}

// answer returns the answer, which is then sent; nil if it is not wanted, or has been sent because something comes after it.
func (s *Server) answer(p *Peer, r *Request, reply Reply) sim.Payload {
	answer, wanted := r.answered(reply, p.protocol), p.wantsReply(r, &reply)
	if wanted && len(s.Store.pushes.later) == 0 && !p.leaving {
		return answer
	}
	if wanted && p.conn != nil {
		p.conn.Reply(answer)
	}
	s.pushLater()
	if p.leaving {
		s.hangUp(p)
	}
	return nil
}

// serve executes a request. It has no reply yet if the client is blocked by it.
func (s *Server) serve(p *Peer, r *Request) (reply Reply, ok bool) {
	if s.config.Gate != nil {
		if reply, ok := s.config.Gate(r, p.conn); ok {
			if reply.Type == ReplyError {
				s.refused(p, r)
			}
			return reply, true
		}
	}
	return s.conclude(p, r, s.Store.serveRequest(s.node.Wall(), p, r))
}

// conclude does what follows from the execution of a request.
func (s *Server) conclude(p *Peer, r *Request, raw []byte) (reply Reply, ok bool) {
	changes := s.Store.Changes()
	s.persist(changes)
	switch {
	case p.wait == nil:
		var err error
		if reply, err = ParseReply(raw); err != nil {
			panic("redis: the store answered " + strings.Join(r.Args, " ") + " with " + err.Error())
		}
		if s.config.Observer != nil {
			s.config.Observer.Executed(s, r, reply, changes)
		}
	case s.config.Observer != nil && len(changes) > 0:
		s.config.Observer.Expired(s, changes)
	}
	s.armExpiry()
	if s.propagate(r, changes) {
		p.woff = s.offset
	}
	if len(changes) > 0 {
		p.logged = len(s.disk.log)
	}
	s.finishUnit()
	s.serveReady()
	return reply, p.wait == nil
}

// finishUnit does what the request that has just been executed asked for beyond its reply. Messages are delivered and
// roles change before the reply leaves, as in Redis, where all of it waits in output buffers until the turn of the event
// loop ends.
func (s *Server) finishUnit() {
	s.pushNow()
	for len(s.after) > 0 {
		next := s.after[0]
		s.after = s.after[1:]
		next()
	}
}

// armExpiry makes the next deadline an event on the node's wall clock. Redis looks for expired keys ten times a
// second and at every access; here a key is gone at its deadline, so that what an observer sees is not late.
func (s *Server) armExpiry() {
	deadline, ok := s.Store.NextExpiry()
	switch {
	case !ok:
		s.expiry.Stop()
	case !s.expiry.Armed() || s.expiry.Reading() != deadline:
		s.expiry.Arm(true, deadline)
	}
}

type expiryAlarm struct{ s *Server }

// Ring expires the key whose deadline has come.
func (a expiryAlarm) Ring() {
	if key, ok := a.s.Store.Due(a.s.node.Wall()); ok {
		a.s.node.Take(trace.Expire, key, a.s.expire)
		return
	}
	a.s.armExpiry()
}

// expire lets all keys go whose deadline has come, which a fault may just have moved.
func (s *Server) expire() bool {
	s.Store.Advance(s.node.Wall())
	return s.ended()
}

// ended sees to what follows when keys have ended without a request. It reports whether any have.
func (s *Server) ended() bool {
	changes := s.Store.Changes()
	some := len(changes) > 0
	s.persist(changes)
	if s.config.Observer != nil && some {
		s.config.Observer.Expired(s, changes)
	}
	s.armExpiry()
	s.propagate(nil, changes)
	s.pushAll()
	return some
}

// Evict removes a key for lack of memory, as maxmemory does (evict.c, performEvictions). It reports whether the key
// was there; replicas evict nothing on their own.
func (s *Server) Evict(key string) bool {
	if s.upstream != nil || !s.node.Up() {
		return false
	}
	found := s.Store.Evict(s.node.Wall(), key)
	s.ended()
	return found
}

// Size counts the present keys, those that miniredis remembers, and the records on the disk.
func (s *Server) Size() int { return len(s.Store.keys.entries) + s.Store.created + len(s.disk.log) }
