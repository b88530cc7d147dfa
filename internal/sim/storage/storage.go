// Package storage simulates the resource that a lock protects: registers that are read and written, behind one of
// the fencing modes. Call [New] and hand it to sim.Engine.AddServer.
//
// Storage is honest and durable: it never loses what it accepted, and its largest token is as durable as its data.
package storage

import (
	"fmt"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Request is one access.
type Request struct {
	Op       history.Op
	Register int
	Lock     int    // whose tokens are compared with this one, if the resource has several locks; 0 otherwise
	Token    uint64 // the holder's fencing token; 0 if its lock has none
	With     []Shown
	Holder   string // the holder's value at the lock's servers
	Based    uint64 // the version that the holder read; for writes
	Version  uint64 // the new version; for writes
	Access   int    // number of the access in the history
}

// Shown is the fencing token of another lock that the sender holds on the resource.
type Shown struct {
	Lock  int
	Token uint64
}

// What returns the name of the access.
func (r *Request) What() (what, alt string) { return r.Op.String(), "" }

// Sum digests the access.
func (r *Request) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(r.Op)<<32 | uint64(r.Register))
	d.Uint64(r.Token)
	d.String(r.Holder)
	d.Uint64(r.Based)
	d.Uint64(r.Version)
	for _, s := range r.With {
		d.Uint64(s.Token)
	}
	return d.Sum()
}

// String shows the access to a reader.
func (r *Request) String() string {
	text := fmt.Sprintf("%s register %d", r.Op, r.Register)
	if r.Op == history.Write {
		text = fmt.Sprintf("write register %d: version %d, based on %d", r.Register, r.Version, r.Based)
	}
	if r.Token != 0 {
		text += fmt.Sprintf(", token %d", r.Token)
	}
	for _, s := range r.With {
		text += fmt.Sprintf(" and %d", s.Token)
	}
	return text
}

// Answer is what storage decided.
type Answer struct {
	Op       history.Op
	Accepted bool
	Version  uint64   // the register's version afterwards
	MaxToken uint64   // the largest token that the register has seen, of those with which the request's is compared
	With     []uint64 // likewise of the tokens that the request shows besides
}

// What returns the name of the access that is answered.
func (a *Answer) What() (what, alt string) { return a.Op.String(), "" }

// Sum digests the answer.
func (a *Answer) Sum() uint64 {
	var d trace.Digest
	d.Uint64(a.Version)
	d.Uint64(a.MaxToken)
	for _, token := range a.With {
		d.Uint64(token)
	}
	if a.Accepted {
		d.Uint64(1)
	}
	return d.Sum()
}

// String shows the answer to a reader.
func (a *Answer) String() string {
	verdict := "refused"
	if a.Accepted {
		verdict = "accepted"
	}
	return fmt.Sprintf("%s, version %d", verdict, a.Version)
}

// Observe is called for every access when storage decides on it.
type Observe func(r *Request, a *Answer)

// Storage is a server with a number of registers.
type Storage struct {
	mode      history.Fencing
	registers []register
	observe   Observe
}

type register struct {
	version uint64
	largest []uint64 // the largest token seen, by the lock's number
	holder  string   // who registered last, under token-equality
}

// New returns storage with n registers at version 0. Observe may be nil.
func New(mode history.Fencing, n int, observe Observe) *Storage {
	return &Storage{mode: mode, registers: make([]register, n), observe: observe}
}

// Execute decides on an access.
func (s *Storage) Execute(_ *sim.Conn, p sim.Payload) sim.Payload {
	request := p.(*Request)
	r := &s.registers[request.Register]
	accepted := r.accepts(s.mode, request)
	if accepted && request.Op == history.Write {
		r.version = request.Version
	}
	a := &Answer{Op: request.Op, Accepted: accepted, Version: r.version, MaxToken: r.seen(request.Lock)}
	for _, s := range request.With {
		a.With = append(a.With, r.seen(s.Lock))
	}
	if s.observe != nil {
		s.observe(request, a)
	}
	return a
}

// accepts decides by the fencing mode, and remembers what the mode remembers. Tokens are compared with >=, since a
// holder accesses more than once. With an access that shows neither token nor value, like an UPDATE
// without the condition, there is nothing to compare and nothing to remember.
func (r *register) accepts(mode history.Fencing, q *Request) bool {
	if q.Token == 0 && q.Holder == "" && mode != history.CompareAndSet {
		return true
	}
	if q.Op == history.Check {
		return r.current(mode, q)
	}
	switch mode {
	case history.CheckThenWrite:
		// The gateway compares in one step and writes in another: nothing is compared when the write comes.
		if q.Op == history.Write {
			r.remember(q)
		}
		return true
	case history.FencedWrite:
		return q.Op == history.Read || r.mark(q)
	case history.FencedReadWrite:
		// Junqueira, "Note on fencing and distributed locks" (2016): a new holder marks the resource before using it.
		return r.mark(q)
	case history.TokenEquality:
		// Sanfilippo, "Is Redlock safe?" (2016): register a unique value, write only if it is still registered.
		if q.Op == history.Read {
			r.holder = q.Holder
		}
		return r.current(mode, q)
	case history.CompareAndSet:
		return q.Op == history.Read || r.current(mode, q)
	default:
		return true
	}
}

// current reports whether nobody has overtaken the sender as far as the mode can tell. It changes nothing.
func (r *register) current(mode history.Fencing, q *Request) bool {
	switch mode {
	case history.CheckThenWrite, history.FencedWrite, history.FencedReadWrite:
		return r.newest(q)
	case history.TokenEquality:
		return q.Holder == r.holder
	case history.CompareAndSet:
		return q.Based == r.version
	default:
		return true
	}
}

// mark remembers what a request shows; false if the register has seen a larger token of one of its locks.
func (r *register) mark(q *Request) bool {
	if !r.newest(q) {
		return false
	}
	r.remember(q)
	return true
}

// newest reports whether the register has seen no larger token of any of the request's locks.
func (r *register) newest(q *Request) bool {
	newest := q.Token >= r.seen(q.Lock)
	for _, s := range q.With {
		newest = newest && s.Token >= r.seen(s.Lock)
	}
	return newest
}

func (r *register) remember(q *Request) {
	r.raise(q.Lock, q.Token)
	for _, s := range q.With {
		r.raise(s.Lock, s.Token)
	}
}

// seen is the largest token of a lock that the register has seen.
func (r *register) seen(lock int) uint64 {
	if lock < len(r.largest) {
		return r.largest[lock]
	}
	return 0
}

func (r *register) raise(lock int, token uint64) {
	for len(r.largest) <= lock {
		r.largest = append(r.largest, 0)
	}
	r.largest[lock] = max(r.largest[lock], token)
}

// Crash does nothing: storage keeps every accepted write.
func (s *Storage) Crash(bool, string) {}

// Restart does nothing.
func (s *Storage) Restart() {}
