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
	Token    uint64 // the holder's fencing token; 0 if its lock has none
	Holder   string // the holder's value at the lock's servers
	Based    uint64 // the version that the holder read; for writes
	Version  uint64 // the new version; for writes
	Access   int    // number of the access in the history
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
	return text
}

// Answer is what storage decided.
type Answer struct {
	Op       history.Op
	Accepted bool
	Version  uint64 // the register's version afterwards
	MaxToken uint64 // the largest token that the register has seen
}

// What returns the name of the access that is answered.
func (a *Answer) What() (what, alt string) { return a.Op.String(), "" }

// Sum digests the answer.
func (a *Answer) Sum() uint64 {
	var d trace.Digest
	d.Uint64(a.Version)
	d.Uint64(a.MaxToken)
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
	version  uint64
	maxToken uint64
	holder   string // who registered last, under token-equality
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
	a := &Answer{Op: request.Op, Accepted: accepted, Version: r.version, MaxToken: r.maxToken}
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
			r.maxToken = max(r.maxToken, q.Token)
		}
		return true
	case history.FencedWrite:
		return q.Op == history.Read || r.mark(q.Token)
	case history.FencedReadWrite:
		// Junqueira, "Note on fencing and distributed locks" (2016): a new holder marks the resource before using it.
		return r.mark(q.Token)
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
		return q.Token >= r.maxToken
	case history.TokenEquality:
		return q.Holder == r.holder
	case history.CompareAndSet:
		return q.Based == r.version
	default:
		return true
	}
}

// mark raises the largest token; false if the register has seen a larger one.
func (r *register) mark(token uint64) bool {
	if token < r.maxToken {
		return false
	}
	r.maxToken = token
	return true
}

// Crash does nothing: storage keeps every accepted write.
func (s *Storage) Crash(bool, string) {}

// Restart does nothing.
func (s *Storage) Restart() {}
