// Package ingest reads what clients of a lock logged, and judges it with the checker that judges simulations: whether two of them
// held the lock at once for certain, possibly, or not, given how wrong their clocks may be. It also writes the history of a run
// as such a log.
//
// A [Reader] turns lines into events, [Merge] puts those of several logs into the order of their times, and a [Judge] takes them one
// by one. Memory does not grow with the log: what is over is checked and forgotten.
//
// docs/judging.md describes the format of the lines, and of mappings for other logs.
package ingest

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// Kind says what a line tells.
type Kind uint8

// The kinds.
const (
	Acquire  Kind = iota // Lock is called
	Acquired             // Lock has returned with the lock
	Failed               // Lock has returned without it
	Holds                // the client still believes that it holds
	Renewed              // likewise: its lease was renewed
	Lost                 // the client learns, or decides, that it no longer holds
	Release              // Unlock is called
	Released             // Unlock has returned
	Read                 // the resource answers a read
	Check                // the resource says whether a write would be accepted
	Write                // the resource has decided on a write
	Refused              // the resource has refused a write
	Crashed              // the client's process has died
	Paused               // the client's process stands still for a while, as for a garbage collection
	Note                 // something that a reader should know: a time-out, an error
	kinds
)

var kindNames = [kinds]string{
	"acquire", "acquired", "failed", "holds", "renewed", "lost", "release", "released", "read", "check", "write", "refused",
	"crashed", "paused", "note",
}

// String returns the name that lines use.
func (k Kind) String() string { return kindNames[k] }

// KindNames lists the kinds.
func KindNames() []string { return slices.Clone(kindNames[:]) }

// Position is where a line stands.
type Position struct {
	File string
	Line int
}

// String returns file:line.
func (p Position) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Event is what one line tells. Moments are nanoseconds since 1970, or since the beginning of logs that state durations.
type Event struct {
	Kind     Kind
	At       trace.Instant
	Off      time.Duration // by how much At may be off in true time, either way
	Client   string
	Lock     string        // "" if the log is about one lock
	ID       string        // tells acquisitions of one client apart that it has at the same time; "" otherwise
	Token    uint64        // 0: none
	Until    trace.Instant // when the lease ends, by the client's own clock; -1: the log does not say
	Resource string        // what the access is to, if several locks guard it; "" if that is the lock's own
	Register string
	Version  uint64        // that was read or written
	Counted  bool          // the line states the version
	Called   trace.Instant // when an access was sent; -1: the log does not say
	Answered trace.Instant // when its answer was there; -1: the log does not say
	Outcome  Outcome       // of an access
	Span     time.Duration // of a pause
	Text     string
	Position Position
}

// access reports whether it is one to the resource.
func (e *Event) access() bool {
	return e.Kind == Read || e.Kind == Check || e.Kind == Write || e.Kind == Refused
}

// Outcome is what became of an access.
type Outcome uint8

// The outcomes.
const (
	Accepted Outcome = iota
	Denied           // the resource has refused it
	Unknown          // nobody knows whether it was done
)

var outcomeNames = []string{"accepted", "refused", "unknown"}

// Problem is an error at a place of a file.
type Problem struct {
	Position
	Column int // from 1, in bytes; 0 if it is the whole line
	Text   string
}

// Error returns file:line:column and what is wrong.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, max(p.Column, 1), p.Text)
}
