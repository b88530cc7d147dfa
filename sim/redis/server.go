package redis

import (
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Persistence says what a server writes to its disk.
type Persistence uint8

// The choices: no append-only file, or one that is flushed to the disk every second or before every reply
// (redis.conf, appendfsync).
const (
	NoPersistence Persistence = iota
	Everysec
	Always
)

// Config configures a server.
type Config struct {
	Persistence Persistence
	// DiskLies makes the disk acknowledge flushes that it has not carried out.
	DiskLies bool
	// Observer is told what happens; it may be nil.
	Observer Observer
	_        struct{}
}

// Observer sees the truth about a server's keys, as no client can.
type Observer interface {
	// Executed is called after a request has been executed, with what it changed. Keys that were found expired on
	// the way are among the changes.
	Executed(s *Server, r *Request, reply Reply, changes []Change)
	// Expired is called when keys' deadlines have passed without a request.
	Expired(s *Server, changes []Change)
	// Crashed is called when the server has lost its memory.
	Crashed(s *Server)
	// Restarted is called when the server has loaded what its disk had kept.
	Restarted(s *Server)
}

// Server is a Redis server in the simulation. Create it with [NewServer], add it with sim.Engine.AddServer, then
// call [Server.Attach].
type Server struct {
	Store *Store

	config Config
	node   *sim.Node
	expiry *sim.Timer

	log       []Record // what the append-only file holds
	durable   int      // how much of it the disk really has
	survives  int      // how much of it the last crash left
	flush     *sim.Timer
	flushing  int   // how much of it the flush in progress will have made durable; 0 if there is none
	lastFlush int64 // monotonic clock
}

// flushTime is how long the disk takes for a flush in the background.
const flushTime = time.Millisecond

// NewServer returns a server on a store that is fresh or has been Reset.
func NewServer(store *Store, c Config) *Server { return &Server{Store: store, config: c} }

// Attach tells the server which node it runs on.
func (s *Server) Attach(n *sim.Node) {
	s.node = n
	s.expiry = n.NewTimer(expiryAlarm{s})
	s.flush = n.NewTimer(flushAlarm{s})
	s.lastFlush = n.Monotonic()
}

// Node returns the node that the server runs on.
func (s *Server) Node() *sim.Node { return s.node }

// Logged returns how many records the append-only file holds.
func (s *Server) Logged() int { return len(s.log) }

// Execute executes a *Request at one instant, and returns its *Response.
func (s *Server) Execute(c *sim.Conn, p sim.Payload) sim.Payload {
	r := p.(*Request)
	peer, ok := c.Session.(*Peer)
	if !ok {
		peer = s.Store.NewPeer()
		c.Session = peer
	}
	reply, err := ParseReply(s.Store.Execute(s.node.Wall(), peer, r.Args))
	if err != nil {
		panic("redis: the store answered " + strings.Join(r.Args, " ") + " with " + err.Error())
	}
	changes := s.Store.Changes()
	s.persist(changes)
	if s.config.Observer != nil {
		s.config.Observer.Executed(s, r, reply, changes)
	}
	s.armExpiry()
	return &Response{Request: r, Reply: reply}
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

// Ring lets the key go whose deadline has come.
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
	changes := s.Store.Changes()
	s.persist(changes)
	if s.config.Observer != nil && len(changes) > 0 {
		s.config.Observer.Expired(s, changes)
	}
	s.armExpiry()
	return len(changes) > 0
}

// persist appends the changes to the append-only file, and sees to its flushing as flushAppendOnlyFile in aof.c does:
// under everysec a flush in the background begins at once if the last one is a second old, else when it is.
func (s *Server) persist(changes []Change) {
	if s.config.Persistence == NoPersistence || len(changes) == 0 {
		return
	}
	s.log = AppendRecords(s.log, changes)
	if s.config.Persistence == Always {
		s.flushed(len(s.log))
		return
	}
	if !s.flush.Armed() {
		s.startFlush()
	}
}

func (s *Server) startFlush() {
	now := s.node.Monotonic()
	if due := s.lastFlush + int64(time.Second); due > now {
		s.flush.Arm(false, due)
		return
	}
	s.lastFlush, s.flushing = now, len(s.log)
	s.flush.Arm(false, now+int64(flushTime))
}

type flushAlarm struct{ s *Server }

// Ring begins a flush, or ends the one in progress.
func (a flushAlarm) Ring() {
	s := a.s
	if s.flushing > 0 {
		s.node.Take(trace.Fsync, "", s.endFlush)
		return
	}
	if s.durable < len(s.log) && !s.config.DiskLies {
		s.startFlush()
	}
}

// endFlush makes durable what the flush in progress had begun with, and begins the next.
func (s *Server) endFlush() bool {
	s.flushed(s.flushing)
	s.flushing = 0
	if s.durable < len(s.log) && !s.config.DiskLies {
		s.startFlush()
	}
	return true
}

func (s *Server) flushed(n int) {
	if !s.config.DiskLies {
		s.durable = n
	}
}

// Crash loses the memory. What was written to the file survives the death of the process, what the disk has survives
// the loss of power too.
func (s *Server) Crash(host bool, keep string) {
	switch {
	case keep == "all": // as if all had been written and flushed, whatever the server is configured to write
		if s.config.Persistence == NoPersistence {
			s.log = s.Store.Snapshot()
		}
		s.survives = len(s.log)
	case keep == "nothing" || s.config.Persistence == NoPersistence:
		s.survives = 0
	case host:
		s.survives = s.durable
	default:
		s.survives = len(s.log)
	}
	s.flushing = 0
	s.flush.Stop()
	if s.config.Observer != nil {
		s.config.Observer.Crashed(s)
	}
}

// Restart loads what the disk has kept. Keys whose deadline has passed meanwhile are loaded too, and end at once.
func (s *Server) Restart() {
	s.Store.Reset()
	s.log = s.log[:s.survives]
	s.durable = s.survives
	now := s.node.Wall()
	s.Store.Load(now, s.log)
	s.Store.Advance(now)
	s.lastFlush = s.node.Monotonic()
	if s.config.Observer != nil {
		s.config.Observer.Restarted(s)
	}
	s.armExpiry()
}

// Request is a command on its way to a server.
type Request struct {
	Args    []string
	Command string // its name in capitals
	Purpose string // what the lock wants with it: "acquire", "renew", "release"; "" unknown
	Client  string // who sent it: for observers
	Tag     int    // what it belongs to: for observers
	Sent    uint64 // its place among all requests that were sent: for observers
	Asking  bool   // it was sent from within Lock: for observers
	sum     uint64
}

// NewRequest returns a request. Scripts are digested by their purpose, if they have one, rather than by their text.
func NewRequest(args []string, purpose string) *Request {
	r := &Request{Args: args, Command: strings.ToUpper(args[0]), Purpose: purpose}
	var d trace.Digest
	for i, arg := range args {
		if i == 1 && purpose != "" && strings.HasPrefix(r.Command, "EVAL") {
			arg = purpose
		}
		d.String(arg)
	}
	r.sum = d.Sum()
	return r
}

// What names the command and its purpose.
func (r *Request) What() (what, alt string) { return r.Command, r.Purpose }

// Sum digests the command.
func (r *Request) Sum() uint64 { return r.sum }

// String shows the command as redis-cli would take it, a known script by its purpose.
func (r *Request) String() string {
	words := r.Args
	if r.Purpose != "" && strings.HasPrefix(r.Command, "EVAL") && len(words) > 2 {
		words = append([]string{r.Command, "<" + r.Purpose + ">"}, words[3:]...)
	}
	return strings.Join(words, " ")
}

// Response is the answer to a request.
type Response struct {
	Request *Request
	Reply   Reply
}

// What names the command that is answered.
func (r *Response) What() (what, alt string) { return r.Request.What() }

// Sum digests the reply.
func (r *Response) Sum() uint64 {
	var d trace.Digest
	r.Reply.digest(&d)
	return d.Sum()
}

func (r Reply) digest(d *trace.Digest) {
	d.Uint64(uint64(r.Type))
	d.String(r.Text)
	d.Uint64(uint64(r.Int))
	for i := range r.Elems {
		r.Elems[i].digest(d)
	}
}

// String shows the reply to a reader.
func (r *Response) String() string { return r.Reply.String() }

// ErrorResponse answers a request with an error, for faults that inject one.
func ErrorResponse(r sim.Payload, text string) sim.Payload {
	return &Response{Request: r.(*Request), Reply: Reply{Type: ReplyError, Text: text}}
}
