// Package redis simulates Redis servers: in-process and deterministic, with every behaviour that can affect who
// holds a lock. A [Server] is one process in the simulation, a master or a replica; start with [NewServer]. It
// executes commands on a [Store], which can also stand alone: start with [NewStore], give it commands with
// [Store.Execute], let time pass with [Store.Advance] at [Store.NextExpiry], and read what happened from
// [Store.Changes].
//
// Commands run on miniredis, called without a network, goroutine or clock. Around it this package adds features
// on which a lock's safety depends and which miniredis lacks: absolute deadlines on a wall clock that may step,
// expiry that is not lazy, time frozen within a script or transaction, a fast and sealed Lua, and the effects
// that a disk would keep.
//
// # Time
//
// Redis stores a key's deadline as a date (t_string.c, getExpireMillisecondsOrReply) and compares it with
// gettimeofday; so does a Store with the wall clock that each call brings. Redis counts in milliseconds and
// drops a key when now > deadline (db.c, keyIsExpired), so a key set with PX p lives for between p and p+1 ms;
// here it lives for exactly p. That is the shortest life that Redis promises, hence the least safe one allowed.
//
// Expiry is perfectly active: a key is gone at its deadline, not at the next look or the next of the ten sweeps
// a second (expire.c, activeExpireCycle). A clock that visits the future between two calls expires nothing, as
// in Redis.
//
// # What is there
//
// The commands of table.go, in numbered databases, in RESP2 and RESP3, with transactions, subscriptions and tracking. All
// else is refused with an error that says so: draws of random numbers, streams, geo and HyperLogLog. Error texts may
// differ from Redis's, error codes do not. Lua lacks load, loadstring, coroutine, bit,
// struct, cmsgpack and the transcendental functions of math, which differ between
// processors.
package redis

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// Op is what happened to a key.
type Op uint8

// The kinds of change.
const (
	OpSet      Op = iota // written: created, replaced or changed
	OpDeadline           // only its deadline was set or removed
	OpDeleted            // removed by a command
	OpExpired            // removed by time
	OpEvicted            // removed for lack of memory
)

var opNames = [...]string{"set", "deadline", "deleted", "expired", "evicted"}

// String names the operation.
func (op Op) String() string { return opNames[op] }

// Change is one thing that happened to one key. The changes of one command are the ground truth about locks
// (which request made or removed a lock's key) and the source of the data on the disk (see [AppendRecords]).
//
// A write that leaves the key as it was is a change too, if Redis counts it as a write:
// a SET to the same value is a grant.
type Change struct {
	Op   Op
	DB   int // the number of its database
	Key  string
	Kind Kind
	// Value is the present string; it is empty if the key is gone or not a string.
	Value string
	// Items is the present value of another kind: a hash's fields each followed by its value, a sorted set's
	// members each followed by its score, a list's or set's elements.
	Items []string
	// Before is the previous string, if Existed and the key was a string.
	Before  string
	Existed bool
	// Deadline is when the key will end, on the server's wall clock in ns; 0: never. One beyond what ns can hold is the
	// date in ms, negated.
	Deadline int64
	// Request is the request that made the change, on the master if the Store is a replica's; nil if none did.
	Request *Request
}

// rebuildAfter bounds what a pooled store remembers without anybody being able to see
// it: miniredis keeps a version of every key that ever was, for its WATCH.
const rebuildAfter = 1 << 16

// Store is one Redis server: its data and its answers. It is not safe for concurrent use.
type Store struct {
	// LuaOnly runs every script on Lua, also those that have a native twin.
	LuaOnly bool

	mini *miniredis.Miniredis
	serv *server.Server
	db   *miniredis.RedisDB // of the current database
	peer *server.Peer       // all commands go through one: connections have no state in miniredis

	commands  map[string]*command
	newer     map[Version]map[string]*command // of servers that are newer than 7.0
	keys      *database                       // the current one, see use
	databases []*database                     // those that have ever been used, by number; the first always
	created   int                             // keys since miniredis was built

	now    int64 // wall clock of the call that runs
	synced int64 // wall clock up to which the times left in miniredis have run

	out     []byte   // the reply under construction
	words   []string // scratch for one command line
	typed   []string // scratch for one that a twin makes up
	expired []entry  // scratch
	changes []Change

	settings settings
	server   *Server  // whose store this is; nil: it stands alone
	request  *Request // the one in execution; nil if there is none
	given    int64    // the far deadline that the command in execution gives a key; 0: none
	refusal  string   // what commands that write are answered with; "": they are executed
	held     bool     // no key ends, though reads do not find those that should have
	replica  bool     // keys end by the master's word

	current  *Peer    // whose command line is in execution; nil if none is
	protocol Protocol // of what is written
	scripted bool     // a script runs
	declared []string // its keys

	scripts     scripts
	engine      *engine // built with the first script that needs it
	peers       []*Peer
	inUse       int // of peers
	watchers    []*Peer
	subscribers []*Peer
	cached      cached
	awaited     int       // how many connections wait for keys
	ready       []watched // keys that some of them may wait for, and that are there now
	published   []Message // by the unit that runs
	pushes      pushes
}

// NewStore makes an empty server. It takes about 100 µs: keep it and Reset it.
func NewStore() *Store {
	s := &Store{
		commands: newCommandTable(),
		newer:    newerCommands(),
	}
	s.settings = newSettings()
	s.scripts.forget()
	s.build()
	return s
}

// build makes the miniredis. Dial is its way to become a server without a listener.
func (s *Store) build() {
	s.mini = miniredis.NewMiniRedis()
	conn, err := s.mini.Dial()
	if err != nil {
		panic(fmt.Sprintf("redis: miniredis does not start: %v", err))
	}
	if err := conn.Close(); err != nil {
		panic(fmt.Sprintf("redis: miniredis does not hang up: %v", err))
	}
	s.serv = s.mini.Server()
	s.keys = &database{keyspace: keyspace{index: map[string]int{}}, mini: s.mini.DB(0)}
	s.databases, s.db = append(s.databases[:0], s.keys), s.keys.mini
	s.peer = server.NewPeer(bufio.NewWriterSize((*replyWriter)(s), 512))
	s.created = 0
	s.setTime()
}

// replyWriter is the end of the pipe: what miniredis answers lands in Store.out.
type replyWriter Store

func (w *replyWriter) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	return len(p), nil
}

// Reset makes the store a fresh process: no data, no scripts, no connections (all peers become invalid), Lua as
// it starts. No earlier run has any observable effect.
func (s *Store) Reset() {
	if s.created > rebuildAfter {
		s.build()
	} else {
		s.empty()
	}
	for _, d := range s.databases {
		d.clear()
	}
	s.use(0)
	s.changes = s.changes[:0]
	s.published = s.published[:0]
	s.settings = newSettings()
	s.awaited, s.ready = 0, s.ready[:0]
	s.out = s.out[:0]
	s.inUse = 0
	s.watchers, s.subscribers = s.watchers[:0], s.subscribers[:0]
	s.cached.clear()
	s.pushes.clear()
	s.request, s.refusal, s.replica, s.held = nil, "", false, false
	s.scripts.hide()
	if s.engine != nil {
		s.engine.reset()
	}
}

// empty drops all keys. Single deletes leave miniredis's maps in place, which makes
// the next run faster than FlushAll's eleven new ones do.
func (s *Store) empty() {
	const few = 16
	if s.size() > few {
		s.mini.FlushAll()
		return
	}
	for _, d := range s.databases {
		for i := range d.entries {
			d.mini.Del(d.entries[i].key)
		}
	}
}

// Execute runs one command line that arrived on p's connection, at the wall clock now
// (ns since a fixed epoch; it may run backwards from call to call). The reply is in the
// connection's protocol, and valid until the next call.
func (s *Store) Execute(now int64, p *Peer, args []string) []byte {
	s.pushes.clear() // nobody takes them
	s.begin(now)
	s.serve(p, args)
	return s.out
}

// serveRequest is Execute for a request, to which the changes are attributed.
func (s *Store) serveRequest(now int64, p *Peer, r *Request) []byte {
	s.begin(now)
	s.request = r
	s.serve(p, r.Args)
	s.request = nil
	return s.out
}

// Advance lets time pass up to now and expires the keys that are due.
func (s *Store) Advance(now int64) {
	s.begin(now)
	s.broadcast()
}

// NextExpiry returns the reading of the wall clock at which the next key expires, if one does.
func (s *Store) NextExpiry() (deadline int64, ok bool) {
	if s.replica || s.held {
		return 0, false
	}
	deadline, ok = s.nextDeadline()
	return deadline, ok && deadline != never
}

// Due returns the key whose deadline has passed first at a reading of the wall clock; false if none has.
func (s *Store) Due(now int64) (key string, ok bool) {
	first := int64(0)
	for _, d := range s.databases {
		s.expired = d.due(s.expired[:0], now)
		if len(s.expired) > 0 && (!ok || s.expired[0].deadline < first) {
			key, first, ok = s.expired[0].key, s.expired[0].deadline, true
		}
	}
	return key, ok
}

// Changes returns the changes of the last Execute or Advance, in order; they are valid until the next call.
func (s *Store) Changes() []Change { return s.changes }

// Get reads a key of the first database from outside: no time passes and nothing changes. A key that is not a
// string has an empty value; deadline is 0 if it has none, or none that a clock will reach.
func (s *Store) Get(key string) (value string, deadline int64, ok bool) {
	e := s.databases[0].find(key)
	if e == nil {
		return "", 0, false
	}
	return e.value, max(e.deadline, 0), true
}

// Writer returns the request that wrote a key of the first database; nil if the key is not there, or the request is
// unknown.
func (s *Store) Writer(key string) *Request {
	if e := s.databases[0].find(key); e != nil {
		return e.writer
	}
	return nil
}

// begin starts a unit of execution. Within it time stands still: Redis refreshes its
// cached clock at nesting depth 0 only (server.c, enterExecutionUnit).
func (s *Store) begin(now int64) {
	s.out = s.out[:0]
	s.changes = s.changes[:0]
	s.published = s.published[:0]
	if now != s.now {
		s.now = now
		s.setTime()
	}
	if s.replica || s.held {
		s.reveal()
		return
	}
	s.expireDue()
}

func (s *Store) expireDue() {
	if next, ok := s.nextDeadline(); ok && next <= s.now {
		s.expire()
	}
}

func (s *Store) setTime() { s.mini.SetTime(time.Unix(0, s.now)) }

// sync brings the times left in miniredis up to now. The difference is signed: after a
// step back keys have more time left, as absolute deadlines demand. (miniredis's own
// ClockTTL only counts down, and would lose keys to a clock that steps forth and back.)
func (s *Store) sync() {
	if s.synced == s.now {
		return
	}
	if s.timed() {
		s.mini.FastForward(time.Duration(s.now - s.synced))
	}
	s.synced = s.now
}

func (s *Store) expire() {
	s.mini.FastForward(time.Duration(s.now - s.synced)) // also by nothing: it drops what is due
	s.synced = s.now
	for _, d := range s.databases {
		s.expired = d.due(s.expired[:0], s.now)
		if len(s.expired) > 0 {
			s.use(d.number)
		}
		for i := range s.expired {
			e := &s.expired[i]
			s.keys.remove(e.key)
			s.emit(Change{Op: OpExpired, Key: e.key, Kind: e.kind, Before: e.value, Existed: true})
		}
		clear(s.expired)
	}
}

// serve executes what a client sent.
func (s *Store) serve(p *Peer, args []string) {
	caching := p.tracking.caching
	s.current, s.protocol = p, p.protocol
	s.use(p.database)
	s.admit(p, args)
	s.tellPending(p)
	s.current, s.protocol = nil, RESP2
	if caching && !p.multi && !strings.EqualFold(args[0], "CLIENT") { // it was for one command only (resetClient)
		p.tracking.caching = false
	}
	s.broadcast()
}

// admit runs or queues a command line, or refuses it.
func (s *Store) admit(p *Peer, args []string) {
	c, problem := s.lookup(args)
	if problem != "" {
		p.poisoned = p.multi // as Redis: EXEC will refuse (multi.c, flagTransaction)
		s.fail(problem)
		return
	}
	if problem := s.refuses(p, c); problem != "" {
		p.poisoned = p.multi
		s.refuse(p, c, problem)
		return
	}
	if s.server != nil && s.server.postpones(p, c, s.request) {
		return
	}
	if p.multi && c.flags&immediate == 0 {
		p.enqueue(c, args)
		s.out = appendStatus(s.out, "QUEUED")
		return
	}
	s.call(p, c, args)
}

// refuses says why a command that exists may not be executed now (server.c, processCommand); "" if it may.
func (s *Store) refuses(p *Peer, c *command) (problem string) {
	switch {
	case c.flags&writes != 0 && s.refusal != "":
		return s.refusal
	case p.protocol == RESP2 && p.subscriptions() > 0 && c.flags&listening == 0:
		return "ERR Can't execute '" + strings.ToLower(c.name) +
			"': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"
	}
	return ""
}

// refuse answers a command that may not be executed now. An EXEC ends the transaction even so (multi.c, execCommandAbort).
func (s *Store) refuse(p *Peer, c *command, problem string) {
	if c.name == "EXEC" {
		s.endTransaction(p)
		problem = "EXECABORT Transaction discarded because of: " + problem
	}
	s.fail(problem)
}

// forward has miniredis execute a command, and finds out what it changed.
func (s *Store) forward(c *command, args []string) {
	if c.flags&timed != 0 {
		s.sync()
	}
	start := len(s.out)
	s.dispatch(c.name, args[1:]...)
	if c.shape >= toScore || c.shape != unshaped && s.protocol == RESP3 {
		defer s.reshape(c, args, start)
	}
	if c.flags&writes == 0 {
		return
	}
	force := c.flags&always != 0 && s.out[start] != '-'
	if c.flags&moves != 0 && args[1] == args[2] {
		// Redis adds before it looks whether the list is empty, so that one of a single element keeps its time to live (t_list.c,
		// lmoveGenericCommand). miniredis deletes it and makes another.
		if e := s.keys.find(args[1]); e != nil && e.deadline != 0 {
			s.db.SetTTL(e.key, time.Duration(moment(e.deadline)-s.synced))
		}
		s.note(args[1], !isNothing(s.out[start:]), OpSet)
		return
	}
	for i, last := c.keys.first, c.keys.end(len(args)); i <= last; i += c.keys.step {
		s.note(args[i], force, OpSet)
	}
}

// isNothing reports whether a reply says that there was nothing, or is an error.
func isNothing(raw []byte) bool { return raw[0] == '-' || raw[0] == '_' || raw[1] == '-' }

// dispatch appends miniredis's reply to out.
func (s *Store) dispatch(name string, rest ...string) {
	s.words = append(append(s.words[:0], name), rest...)
	s.serv.Dispatch(s.peer, s.words)
	s.peer.Flush()
}

// note compares a key with its mirror and records the change. With force there is a
// change even if there is no difference, namely as.
func (s *Store) note(key string, force bool, as Op) {
	before := s.keys.find(key)
	after, exists := s.look(key)
	if !exists {
		if before != nil {
			e := *before
			s.keys.remove(key)
			s.emit(Change{Op: OpDeleted, Key: e.key, Kind: e.kind, Before: e.value, Existed: true, Request: s.request})
		}
		return
	}
	c := Change{
		Op: OpSet, Key: key, Kind: after.kind, Value: after.value, Items: after.items, Deadline: after.deadline,
		Request: s.request,
	}
	after.writer = s.request
	if before == nil {
		s.created++
	} else {
		c.Before, c.Existed = before.value, true
		same := before.sameValue(&after)
		if same && before.deadline == after.deadline && !force {
			return
		}
		switch {
		case same && force:
			c.Op = as
		case same:
			c.Op = OpDeadline
		}
		if c.Op == OpDeadline {
			after.writer = before.writer
		}
	}
	s.keys.put(after)
	s.emit(c)
}

// emit records a change of the current database, and tells those who want to know.
func (s *Store) emit(c Change) {
	c.DB = s.keys.number
	s.changes = append(s.changes, c)
	s.disturb(c.Key)
	if s.awaited > 0 && c.Op == OpSet && (c.Kind == KindList || c.Kind == KindSortedSet) {
		s.ready = append(s.ready, watched{c.DB, c.Key})
	}
}

// disturb tells those who watch a key, or may have cached it, that it was written.
func (s *Store) disturb(key string) {
	s.spoil(key)
	if s.cached.began {
		s.invalidate(key)
	}
}

// spoil has the transactions fail that watch a key.
func (s *Store) spoil(key string) {
	for _, p := range s.watchers {
		p.touched(s.keys.number, key)
	}
}

// line builds a command line for a twin, in place of the words of the last one.
func (s *Store) line(words ...string) []string {
	s.typed = append(s.typed[:0], words...)
	return s.typed
}

// look reads a key from miniredis.
func (s *Store) look(key string) (entry, bool) {
	e := entry{key: key}
	value, err := s.db.Get(key)
	switch {
	case err == nil:
		e.value = value
	case errors.Is(err, miniredis.ErrKeyNotFound):
		return entry{}, false
	default:
		e.kind = kindOf(s.db.Type(key))
		e.items = s.items(key, e.kind)
	}
	if left := s.db.TTL(key); left != 0 {
		e.deadline = s.synced + int64(left)
		if e.deadline == never {
			e.deadline = s.farDeadline(key)
		}
	}
	return e, true
}

// farDeadline is what the command in execution has given a key, or what it had.
func (s *Store) farDeadline(key string) int64 {
	if s.given < 0 {
		return s.given
	}
	return s.keys.find(key).deadline
}

// items reads the whole of a value that is no string.
func (s *Store) items(key string, kind Kind) []string {
	start := len(s.out)
	switch kind {
	case KindHash:
		s.dispatch("HGETALL", key)
	case KindList:
		s.dispatch("LRANGE", key, "0", "-1")
	case KindSet:
		s.dispatch("SMEMBERS", key)
	case KindSortedSet:
		s.dispatch("ZRANGE", key, "0", "-1", "WITHSCORES")
	default:
		panic("redis: a " + kind.String() + " has no items")
	}
	reply, err := ParseReply(s.out[start:])
	if err != nil {
		panic(fmt.Sprintf("redis: %s of %q: %v", kind, key, err))
	}
	s.out = s.out[:start]
	items := make([]string, len(reply.Elems))
	for i := range reply.Elems {
		items[i] = reply.Elems[i].Text
	}
	return items
}

func (s *Store) fail(text string) { s.out = appendError(s.out, text) }
