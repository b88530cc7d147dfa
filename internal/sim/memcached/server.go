// Package memcached simulates one memcached server, as far as a lock can notice it: items that are added, compared and
// deleted, live up to a second less than requested, may be evicted at any time, and do not survive a restart.
//
// Create a server with [New], add it with sim.Engine.AddServer, then call [Server.Attach].
//
// Left out: slab classes and the order of the LRU lists (a fault chooses the item to evict, see [Server.Evict]),
// append, prepend, gat, flush_all, warm restarts, and the meta commands. Sharding is up to the client.
package memcached

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Observer sees the ground truth about a server's items, which no client can see.
type Observer interface {
	// Executed is called after a request has been executed, with the change of its key's item.
	Executed(s *Server, r *Request, a *Response, c Change)
	// Gone is called when an item has ended without a request: expired, evicted, or lost in a crash.
	Gone(s *Server, key string, c Change)
}

// Change is what happened to an item.
type Change uint8

// The changes.
const (
	Unchanged Change = iota
	Made             // there was none
	Replaced         // there was one
	Prolonged        // it has another end
	Removed          // by a request
	Expired          // its end has come
	Evicted          // for room
	Lost             // with the server's memory
)

// Server is a memcached server in the simulation.
type Server struct {
	node     *sim.Node
	observer Observer
	clock    clock
	items    []*item // in the order in which they were stored
	lastCAS  uint64  // of all items that this process has stored: each gets the next (items.c, get_cas_id)
	expiry   *sim.Timer
}

type item struct {
	key, value string
	flags      uint32
	cas        uint64
	end        int64 // second of the server's clock; never if it has none
}

// New returns a server without items. The observer may be nil.
func New(o Observer) *Server { return &Server{observer: o} }

// Attach tells the server which node it runs on. Its process started before the run, at a moment drawn from began: the
// offset of its reads of the clock from the run's own seconds.
func (s *Server) Attach(n *sim.Node, began *sim.Rand) {
	s.node = n
	s.begin(n.Monotonic() - began.Int64N(int64(time.Second)))
	s.expiry = n.NewTimer(expiryAlarm{s})
}

func (s *Server) begin(monotonic int64) {
	s.clock = clock{began: monotonic, date: s.node.Wall() / int64(time.Second)}
}

// Node returns the node that the server runs on.
func (s *Server) Node() *sim.Node { return s.node }

// Life returns when in true time the item of a key will end, as far as can be foreseen; false if there is none.
func (s *Server) Life(key string) (end trace.Instant, ok bool) {
	switch i := s.find(key); {
	case i == nil:
		return 0, false
	case i.end == never:
		return trace.Never, true
	default:
		return s.node.When(false, s.clock.at(i.end)), true
	}
}

// Execute executes a *Request at one instant, and returns its *Response.
func (s *Server) Execute(_ *sim.Conn, p sim.Payload) sim.Payload {
	s.expire() // before the timer rings, if both are at this instant
	r := p.(*Request)
	answer := &Response{Request: r}
	change := s.execute(r, answer)
	if s.observer != nil {
		s.observer.Executed(s, r, answer, change)
	}
	s.armExpiry()
	return answer
}

func (s *Server) execute(r *Request, a *Response) Change {
	i := s.find(r.Key)
	switch {
	case r.Op == Other:
		a.Result, a.Value = Told, r.Value
	case r.Op == Set, r.Op == Add && i == nil, r.Op == CAS && i != nil && i.cas == r.CAS, r.Op == Replace && i != nil:
		a.Result = Stored
		return s.store(r)
	case r.Op == Add, r.Op == Replace:
		a.Result = NotStored
	case r.Op == CAS && i != nil:
		a.Result = Exists
	case i == nil && r.Op != Get && r.Op != Gets:
		a.Result = NotFound
	case i == nil:
		a.Result = Miss
	case r.Op == Delete:
		a.Result = Deleted
		s.remove(i)
		return Removed
	case r.Op == Touch:
		a.Result = Touched
		i.end = s.clock.end(s.node.Monotonic(), r.Exptime)
		if s.over(i) {
			s.remove(i)
			return Removed
		}
		return Prolonged
	case r.Op == Incr || r.Op == Decr:
		return s.count(i, r, a)
	default:
		a.Result, a.Value, a.Flags = Hit, i.value, i.flags
		if r.Op == Gets {
			a.CAS = i.cas
		}
	}
	return Unchanged
}

// store makes the item of a request. One that is stored with its end in the past is as good as deleted: it is how a
// compare-and-delete is done, which the protocol does not have.
func (s *Server) store(r *Request) Change {
	change := Made
	if i := s.find(r.Key); i != nil {
		change = Replaced
		s.remove(i)
	}
	s.lastCAS++
	made := &item{key: r.Key, value: r.Value, flags: r.Flags, cas: s.lastCAS, end: s.clock.end(s.node.Monotonic(), r.Exptime)}
	switch {
	case !s.over(made):
		s.items = append(s.items, made)
	case change == Made:
		return Unchanged
	default:
		return Removed
	}
	return change
}

// count adds to a number, or subtracts from it (memcached.c, do_add_delta): a sum starts again at 0 after 2^64 - 1, and a number that
// becomes shorter is stored with spaces after it. Left out: the real server makes a new item without them if that was read twice within
// the last milliseconds, since the thread that keeps the order of use holds it then (5 to 17 of 100 items that were counted at once,
// none of them two milliseconds later).
func (s *Server) count(i *item, r *Request, a *Response) Change {
	n, is := Number(i.value)
	if !is {
		a.Result, a.Value = Failed, "CLIENT_ERROR cannot increment or decrement non-numeric value"
		return Unchanged
	}
	if r.Op == Incr {
		n += r.Delta
	} else {
		n -= min(n, r.Delta)
	}
	a.Result, a.Value = Counted, strconv.FormatUint(n, 10)
	s.lastCAS++
	i.value, i.cas = fmt.Sprintf("%-*s", len(i.value), a.Value), s.lastCAS
	return Unchanged
}

// Number reads an unsigned number of 64 bits as memcached does (util.c, safe_strtoull): space may stand before it and anything after a
// space that follows it.
func Number(text string) (n uint64, ok bool) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(words[0], "+"), 10, 64)
	return n, err == nil
}

// over reports whether an item's end has come (items.c, do_item_get).
func (s *Server) over(i *item) bool {
	return i.end != never && i.end <= s.clock.now(s.node.Monotonic())
}

func (s *Server) find(key string) *item {
	if n := slices.IndexFunc(s.items, func(i *item) bool { return i.key == key }); n >= 0 {
		return s.items[n]
	}
	return nil
}

// Value returns what is stored under a key; false if nothing is.
func (s *Server) Value(key string) (value string, ok bool) {
	if i := s.find(key); i != nil {
		return i.value, true
	}
	return "", false
}

func (s *Server) remove(i *item) {
	n := slices.Index(s.items, i)
	s.items = slices.Delete(s.items, n, n+1)
}

// Evict removes a key's item, as the server does when it needs room: it evicts the least recently used items,
// whether or not they have expired. It reports whether there was one.
func (s *Server) Evict(key string) bool {
	i := s.find(key)
	if i == nil {
		return false
	}
	s.gone(i, Evicted)
	s.armExpiry()
	return true
}

func (s *Server) gone(i *item, c Change) {
	s.remove(i)
	if s.observer != nil {
		s.observer.Gone(s, i.key, c)
	}
}

// armExpiry makes the next end an event. The server frees an item when somebody asks for it, or a crawler comes by;
// here it goes when its end comes, so that what an observer sees is not late.
func (s *Server) armExpiry() {
	next := never
	for _, i := range s.items {
		if i.end != never && (next == never || i.end < next) {
			next = i.end
		}
	}
	switch at := s.clock.at(next); {
	case next == never:
		s.expiry.Stop()
	case !s.expiry.Armed() || s.expiry.Reading() != at:
		s.expiry.Arm(false, at)
	}
}

type expiryAlarm struct{ s *Server }

// Ring removes the first expired item, and with it all other expired ones.
func (a expiryAlarm) Ring() {
	if n := slices.IndexFunc(a.s.items, a.s.over); n >= 0 {
		a.s.node.Take(trace.Expire, a.s.items[n].key, a.s.expire)
		return
	}
	a.s.armExpiry()
}

// expire lets all items go whose end has come.
func (s *Server) expire() (gone bool) {
	for _, i := range slices.Clone(s.items) {
		if s.over(i) {
			s.gone(i, Expired)
			gone = true
		}
	}
	s.armExpiry()
	return gone
}

// Crash discards all items, however the server died: there is no disk.
func (s *Server) Crash(bool, string) {
	for len(s.items) > 0 {
		s.gone(s.items[0], Lost)
	}
}

// Restart starts a process whose seconds and CAS ids count from the beginning.
func (s *Server) Restart() {
	s.lastCAS = 0
	s.begin(s.node.Monotonic())
}

// Size counts the items.
func (s *Server) Size() int { return len(s.items) }
