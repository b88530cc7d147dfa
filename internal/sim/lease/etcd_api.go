package lease

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Etcd3 is what a request in etcd's whole API has beyond the fields that its mutex needs. What this file does is of etcd 3.4
// (etcdserver/apply.go, etcdserver/api/v3rpc, mvcc). Keys are in the order of their names.
type Etcd3 struct {
	End      string // Range, DeleteRange, Watch: the first key beyond; "": one key; NoEnd: there is none
	Revision int64  // Range: of the past, 0 for the present; Watch: the first to tell of, 0 for the next; Compact
	Prev     bool   // Put, DeleteRange, Watch: the key is to be shown as it was before

	Limit                                int64 // Range: how many keys at most; 0: all
	By                                   Attribute
	Ascends, Descends                    bool // Range: sorted
	NoOrder                              bool // Range: it has asked for no order, which may be sorted all the same
	NoValues, Counts                     bool // Range: show no values; only count
	MinMod, MaxMod, MinCreate, MaxCreate int64

	KeepsValue, KeepsLease bool // Put

	If []Condition // Txn

	NoPuts, NoDeletes bool // Watch: what not to tell of
	Keys              bool // LeaseTimeToLive: show its keys
}

// Attribute is what of a key a Range is sorted by, or a condition is of.
type Attribute int32

// The attributes, by their numbers in RangeRequest.SortTarget. Those of Compare.CompareTarget are others.
const (
	ByName Attribute = iota
	ByVersion
	ByCreate
	ByMod
	ByValue
	ByLease
	ByNothing // of an unknown target: all are equal
)

// Relation is that of a condition.
type Relation int32

// The relations, by their numbers in Compare.CompareResult. Any other holds.
const (
	Equal Relation = iota
	Greater
	Less
	NotEqual
)

// Condition is one of a Txn: all keys from Key to End are so; of those that are not there, the numbers are 0.
type Condition struct {
	Key, End string
	Of       Attribute
	Is       Relation
	Number   int64
	Value    string
}

// Event is what has happened to a key.
type Event struct {
	Deleted bool
	Key     Key // of a deleted one its name and the revision
	Prev    Key // before; without a name if it was not there, or is not shown
}

// Etcd3Answer is what an answer in etcd's whole API has beyond the usual.
type Etcd3Answer struct {
	Term     int         // counts leaders
	Count    int64       // Range: how many keys there are; DeleteRange: how many were deleted
	More     bool        // Range: there are more than the limit
	Prev     []Key       // Put, DeleteRange: before
	Events   []Event     // Watch
	Compact  int64       // Watch: it is over, since the past is gone up to this revision
	Begins   bool        // Watch: the first answer
	Canceled bool        // Watch: it is over
	Empty    bool        // Watch: it is over, since its range has no keys
	Left     int64       // LeaseTimeToLive: seconds; -1: there is no such lease
	Names    []string    // LeaseTimeToLive: of its keys
	Leases   []SessionID // LeaseLeases
	Key      string      // Lock: that was made
}

// Errors of etcd.
const (
	LeaseExists = "etcdserver: lease already exists"
	LargeTTL    = "etcdserver: too large lease TTL"
	KeyNotFound = "etcdserver: key not found"
	Compacted   = "etcdserver: mvcc: required revision has been compacted"
	FutureRev   = "etcdserver: mvcc: required revision is a future revision"
)

// tell shows a reader what the usual fields do not.
func (e *Etcd3) tell(add func(bool, string, ...any)) {
	for i := range e.If {
		c := &e.If[i]
		add(true, "if %s %s", c.Key, [...]string{"name", "version", "create", "mod", "value", "lease", "any"}[c.Of])
		add(c.Of == ByValue, "%d %q", c.Is, c.Value)
		add(c.Of != ByValue, "%s %d", [...]string{"=", ">", "<", "!="}[c.Is&3], c.Number)
	}
	add(e.End != "", "to %q", e.End)
	add(e.Revision != 0, "at @%d", e.Revision)
}

// NoEnd is the end of a range of all keys from its beginning on.
const NoEnd = "\x00"

// Between reports whether a name is in a range.
func Between(name, from, end string) bool {
	switch end {
	case "":
		return name == from
	case NoEnd:
		return name >= from
	}
	return name >= from && name < end
}

// all returns the keys of a range at a revision, by name.
func (t *store) all(from, end string, revision int64) []Key {
	var found []Key
	if revision == t.revision {
		for _, k := range t.order {
			if Between(k.Name, from, end) {
				found = append(found, *k)
			}
		}
		slices.SortFunc(found, byName)
		return found
	}
	for i := range t.log {
		e := &t.log[i]
		if e.Key.Mod > revision {
			break
		}
		if !Between(e.Key.Name, from, end) {
			continue
		}
		at, was := slices.BinarySearchFunc(found, e.Key, byName)
		if was {
			found = slices.Delete(found, at, at+1)
		}
		if !e.Deleted {
			found = slices.Insert(found, at, e.Key)
		}
	}
	return found
}

func byName(a, b Key) int { return strings.Compare(a.Name, b.Name) }

// readable says why the keys of a revision cannot be read.
func (t *store) readable(revision int64) string {
	switch {
	case revision > t.revision:
		return FutureRev
	case revision > 0 && revision < t.compacted:
		return Compacted
	}
	return ""
}

// operate3 carries out an operation of the whole API.
func (s *Server) operate3(r *Request, a *Response) {
	a.Etcd = &Etcd3Answer{}
	switch r.Op {
	case Range:
		s.read(r, a)
	case Put:
		a.Err = s.write(r, a)
	case DeleteRange, Unlock:
		for _, k := range s.store.all(r.Key, r.Etcd.End, s.store.revision) {
			s.store.remove(k.Name)
			a.Succeeded = true
			a.Etcd.Count++
			if r.Etcd.Prev {
				a.Etcd.Prev = append(a.Etcd.Prev, k)
			}
		}
	case LeaseTimeToLive:
		s.timeToLive(r, a)
	case LeaseLeases:
		for _, v := range slices.SortedStableFunc(slices.Values(s.sessions), func(v, w *session) int { return cmp.Compare(v.deadline, w.deadline) }) {
			a.Etcd.Leases = append(a.Etcd.Leases, v.id)
		}
	case Compact:
		a.Err = s.store.forgetPast(r.Etcd.Revision)
	case Status:
		a.Succeeded = s.leading
	default:
		a.Err = noOperation
	}
	a.Revision = s.store.revision
}

// term counts the leaders as raft does, whose first has the second term in a new cluster.
func (s *Server) term() int { return s.epoch + 1 }

func (t *store) forgetPast(revision int64) string {
	switch {
	case revision <= t.compacted:
		return Compacted
	case revision > t.revision:
		return FutureRev
	}
	t.compacted = revision
	return ""
}

// read is applierV3backend.Range.
func (s *Server) read(r *Request, a *Response) {
	e := r.Etcd
	if a.Err = s.store.readable(e.Revision); a.Err != "" {
		return
	}
	revision := e.Revision
	if revision <= 0 {
		revision = s.store.revision
	}
	keys := s.store.all(r.Key, e.End, revision)
	a.Etcd.Count = int64(len(keys))
	if e.Counts {
		return
	}
	if n := int(e.Limit) + 1; e.asItIs() && n > 1 && n < len(keys) {
		keys = keys[:n] // more are not read, also if those are sorted then
	}
	keys = slices.DeleteFunc(keys, func(k Key) bool {
		return e.MaxMod != 0 && k.Mod > e.MaxMod || e.MinMod != 0 && k.Mod < e.MinMod ||
			e.MaxCreate != 0 && k.Create > e.MaxCreate || e.MinCreate != 0 && k.Create < e.MinCreate
	})
	if e.Ascends || e.Descends {
		sign := 1
		if e.Descends {
			sign = -1
		}
		slices.SortStableFunc(keys, func(j, k Key) int { return sign * compareBy(e.By, &j, &k) })
	}
	if e.Limit > 0 && int64(len(keys)) > e.Limit {
		keys, a.Etcd.More = keys[:e.Limit], true
	}
	for i := range keys {
		if e.NoValues {
			keys[i].Value = ""
		}
	}
	a.Keys = keys
}

// asItIs reports whether a Range wants neither an order nor a choice among the keys.
func (e *Etcd3) asItIs() bool {
	return e.NoOrder && e.MinMod|e.MaxMod|e.MinCreate|e.MaxCreate == 0
}

func compareBy(by Attribute, j, k *Key) int {
	switch by {
	case ByVersion:
		return cmp.Compare(j.Version, k.Version)
	case ByCreate:
		return cmp.Compare(j.Create, k.Create)
	case ByMod:
		return cmp.Compare(j.Mod, k.Mod)
	case ByValue:
		return strings.Compare(j.Value, k.Value)
	case ByName:
		return byName(*j, *k)
	case ByLease:
		return cmp.Compare(int64(j.Session), int64(k.Session))
	case ByNothing:
	}
	return 0
}

// write is applierV3backend.Put.
func (s *Server) write(r *Request, a *Response) string {
	before, id, value := s.store.keys[r.Key], r.Session, r.Value
	switch {
	case !s.mayPut(r):
		return NoSession
	case (r.Etcd.KeepsValue || r.Etcd.KeepsLease) && before == nil:
		return KeyNotFound
	}
	if r.Etcd.KeepsValue {
		value = before.Value
	}
	if r.Etcd.KeepsLease {
		id = before.Session
	}
	if r.Etcd.Prev && before != nil {
		a.Etcd.Prev = []Key{*before}
	}
	s.store.put(r.Key, value, id)
	return ""
}

// txn3 carries out one of two lists of operations, at one revision.
func (s *Server) txn3(r *Request, a *Response) {
	a.Etcd = &Etcd3Answer{}
	a.Succeeded = !slices.ContainsFunc(r.Etcd.If, func(c Condition) bool { return !s.holds(&c) })
	ops := r.Then
	if !a.Succeeded {
		ops = r.Else
	}
	for _, op := range [...]Op{Put, Range} { // all or nothing, writes first (apply.go, checkRequests)
		for i := range ops {
			if ops[i].Op == op && a.Err == "" {
				a.Err = s.refuses(&ops[i])
			}
		}
	}
	if a.Err != "" {
		return
	}
	a.Results = make([]Response, len(ops))
	for i := range ops {
		a.Results[i] = Response{Request: &ops[i]}
		s.operate3(&ops[i], &a.Results[i])
	}
}

// refuses says why an operation of a transaction cannot be carried out.
func (s *Server) refuses(r *Request) string {
	switch {
	case r.Op == Range && r.Etcd.Revision != 0:
		return s.store.readable(r.Etcd.Revision)
	case r.Op != Put:
	case (r.Etcd.KeepsValue || r.Etcd.KeepsLease) && s.store.keys[r.Key] == nil:
		return KeyNotFound
	case !s.mayPut(r):
		return NoSession
	}
	return ""
}

// holds is applyCompare.
func (s *Server) holds(c *Condition) bool {
	keys := s.store.all(c.Key, c.End, s.store.revision)
	if len(keys) == 0 {
		if c.Of == ByValue {
			return false
		}
		keys = []Key{{}}
	}
	return !slices.ContainsFunc(keys, func(k Key) bool { return !c.of(&k) })
}

// of reports whether a key is as it should be (compareKV).
func (c *Condition) of(k *Key) bool {
	order := compareBy(c.Of, k, &Key{Version: c.Number, Create: c.Number, Mod: c.Number, Value: c.Value, Session: SessionID(c.Number)})
	switch c.Is {
	case Equal:
		return order == 0
	case NotEqual:
		return order != 0
	case Greater:
		return order > 0
	case Less:
		return order < 0
	}
	return true
}

func (s *Server) timeToLive(r *Request, a *Response) {
	a.Session = r.Session
	v := s.session(r.Session)
	if v == nil {
		a.Etcd.Left = -1
		return
	}
	a.TTL = v.ttl
	a.Etcd.Left = (v.deadline - s.node.Monotonic()) / int64(time.Second)
	if r.Etcd.Keys {
		a.Etcd.Names = slices.Sorted(slices.Values(s.store.of(v.id)))
	}
}

// local reports whether a member answers without a leader: a watch is of what it has itself (etcdserver/api/v3rpc/watch.go).
func (r *Request) local() bool {
	return r.Op == Status || r.Op == Cancel || r.Op == Watch && r.Etcd != nil
}

// stream is a watch that tells of every event until its connection is over.
type stream struct {
	call   *call
	next   int64 // the first revision that it has not been told of
	behind bool  // it is told of the past, all at once
	ended  bool  // its client wants no more, and is told so
}

// stream begins a watch.
func (s *Server) stream(c *call) *Response {
	a := &Response{Request: c.request, Etcd: &Etcd3Answer{Begins: true}}
	w := &stream{call: c, next: s.store.revision + 1}
	if r := c.request; r.Etcd.End != "" && r.Etcd.End != NoEnd && r.Key >= r.Etcd.End {
		a.Etcd.Empty, a.Etcd.Canceled = true, true
		return a
	}
	if first := c.request.Etcd.Revision; first != 0 {
		w.behind = first <= s.store.revision
		w.next = first
	}
	s.streams = append(s.streams, w)
	if w.behind {
		s.news.Arm(false, s.node.Monotonic())
	}
	return a
}

// push tells all watches what they have not been told of: of the past in one answer, later in one for each revision.
func (s *Server) push() {
	s.streams = slices.DeleteFunc(s.streams, func(w *stream) bool { return w.call.over() })
	for _, w := range s.streams {
		for a := w.news(s); a != nil && !s.node.Paused(); a = w.news(s) {
			w.call.conn.Reply(a)
		}
	}
}

// news returns the next answer to a watch; nil if there is none.
func (w *stream) news(s *Server) *Response {
	r := w.call.request
	a := &Response{Request: r, Revision: s.store.revision, Etcd: &Etcd3Answer{Term: s.term()}}
	if w.behind && w.next < s.store.compacted {
		a.Revision, a.Etcd.Compact, a.Etcd.Canceled = 0, s.store.compacted, true
		w.call.done = true
		w.behind = false
		return a
	}
	switch {
	case w.call.done:
		return nil
	case w.ended:
		w.call.finish()
		a.Etcd.Canceled = true
		return a
	}
	from, _ := slices.BinarySearchFunc(s.store.log, w.next, func(e Event, revision int64) int { return cmp.Compare(e.Key.Mod, revision) })
	for _, e := range s.store.log[from:] {
		if !w.behind && len(a.Etcd.Events) > 0 && e.Key.Mod > a.Revision {
			break
		}
		w.next = e.Key.Mod + 1
		switch {
		case !Between(e.Key.Name, r.Key, r.Etcd.End), e.Deleted && r.Etcd.NoDeletes, !e.Deleted && r.Etcd.NoPuts:
			continue
		case w.behind && e.Deleted && e.Key.Mod <= s.store.compacted: // deletions go with the past, what is there stays
			continue
		}
		if made := e.Key.Create == e.Key.Mod; made || !r.Etcd.Prev || e.Key.Mod-1 < s.store.compacted {
			e.Prev = Key{}
		}
		a.Etcd.Events = append(a.Etcd.Events, e)
		if !w.behind {
			a.Revision = e.Key.Mod
		}
	}
	w.behind = false
	if len(a.Etcd.Events) == 0 {
		return nil
	}
	return a
}

// lockLease is the time to live of a lease that Lock makes for a client without one (client/v3/concurrency/session.go).
const lockLease = 60 * time.Second

// lock is the service that keeps a mutex for a client (etcdserver/api/v3lock): it makes the client's key, and answers when the keys
// made before are gone. As in etcd 3.4 it does not look whether its own key is still there then.
func (s *Server) lock(c *call) *Response {
	r := c.request
	a := &Response{Request: r, Etcd: &Etcd3Answer{}}
	if c.from == 0 {
		id := r.Session
		if id == 0 {
			id = s.open(&call{server: s, conn: c.conn, request: &Request{Op: LeaseGrant, TTL: lockLease}}).Session
		}
		if s.session(id) == nil {
			a.Err = NoSession
			return a
		}
		c.key = fmt.Sprintf("%s/%x", r.Key, int64(id))
		if s.store.created(c.key) == 0 {
			s.store.put(c.key, "", id)
		}
		c.from = s.store.created(c.key)
	}
	before := s.store.find(&Request{Key: r.Key + "/", Prefix: true, MaxCreate: c.from - 1, Order: LastCreated})
	if len(before) == 0 {
		s.locking = slices.DeleteFunc(s.locking, func(other *call) bool { return other == c })
		a.Etcd.Key = c.key
		return a
	}
	if !slices.Contains(s.locking, c) {
		s.locking = append(s.locking, c)
		s.tellChanges(r)
	}
	s.waiting[before[0].Name] = append(s.waiting[before[0].Name], c)
	return nil
}

// tellChanges ends a step of a request that is not answered yet.
func (s *Server) tellChanges(r *Request) {
	changes := s.store.commit()
	if s.observer != nil {
		s.observer.Executed(s, r, &Response{Request: r, Revision: s.store.revision}, changes)
	}
	s.wake(changes)
}

// Disconnected withdraws a client from the queue that has hung up while it waited for a lock. It may have been another member.
func (s *Server) Disconnected(conn *sim.Conn) {
	if s.member != nil {
		s.member.ended(conn)
	}
	s.withdraw(func(c *call) bool { return c.conn == conn })
}

// withdraw takes clients out of the queue for a lock.
func (s *Server) withdraw(from func(*call) bool) {
	for _, c := range slices.Clone(s.locking) {
		if !from(c) {
			continue
		}
		c.finish()
		s.locking = slices.DeleteFunc(s.locking, func(other *call) bool { return other == c })
		s.store.remove(c.key)
		s.tellChanges(&Request{Origin: c.request.Origin, Op: Unlock, Purpose: trace.ToRelease, Key: c.key, Etcd: &Etcd3{}})
	}
}

// CallNumber is the number that a call by gRPC has on its connection, by which it can be canceled: that of its HTTP/2 stream, and of
// a watch its own on that stream, from 1.
func CallNumber(stream uint32, watch int64) int64 { return int64(stream)<<20 | watch }

// WatchNumber is what of a CallNumber is the watch's.
const WatchNumber = 1<<20 - 1

// cancel ends what waits under a number; without that of a watch, all that its stream waits for, and nobody listens there.
func (s *Server) cancel(c *call) *Response {
	number := c.request.Index
	named := func(other *call) bool {
		n := other.request.Index
		return other.conn == c.conn && (n == number || n&^WatchNumber == number)
	}
	for _, w := range s.streams {
		switch {
		case !named(w.call):
		case number&WatchNumber == 0:
			w.call.finish()
		default:
			w.ended = true
			s.news.Arm(false, s.node.Monotonic())
		}
	}
	for _, waits := range s.pending {
		if named(waits) {
			waits.finish()
		}
	}
	s.withdraw(named)
	return &Response{Request: c.request, Revision: s.store.revision}
}
