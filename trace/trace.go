// Package trace records what happened in a run, in true time, and condenses it to a digest.
//
// Call [Recorder.Add] for every step; the digest is always computed, the events are kept only when asked for.
// The fault triggers of package sim use the same vocabulary of steps: every step in the trace can trigger a
// fault.
//
// Stability: the Go API may change in any version.
package trace

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Instant is a moment of true time: nanoseconds since the run began. No process can read it; the clocks of the
// nodes deviate from it.
type Instant int64

// Never is later than every moment of a run.
const Never Instant = math.MaxInt64

// Add returns the moment d later; Never stays Never.
func (t Instant) Add(d time.Duration) Instant {
	if t == Never || (d > 0 && t > Never-Instant(d)) {
		return Never
	}
	return t + Instant(d)
}

// Sub returns the time from u to t.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// String prints the moment as a duration since the start, as in "12.5s".
func (t Instant) String() string {
	if t == Never {
		return "never"
	}
	return time.Duration(t).String()
}

// Does is the kind of a step.
type Does uint8

// The steps. Message steps belong to any node, the steps from Start to Done to clients, those from Expire to
// Fsync to servers. Begin and End belong to faults.
const (
	None Does = iota

	Send    // puts a message on the wire
	Receive // takes a message off the wire
	Execute // a server carries a request out
	Reply   // a server answers

	Start    // a client begins to request the lock
	Acquired // Lock returned to the application, which now believes that it holds
	Refused  // Lock returned without the lock
	Check    // the application checks whether it still holds the lock
	Access   // the application accesses the protected resource
	Release  // the application calls Unlock
	Released // Unlock returned to the application
	Lost     // the application learns that it no longer holds the lock
	Done     // the client has finished all its critical sections; or its program has ended itself, as What says

	Expire  // a key's deadline passes on the server's clock
	Promote // a server becomes master or leader
	Demote  // a server ceases to be master or leader
	Fsync   // a server's disk has flushed the writes

	Begin // a fault begins
	End   // a fault heals

	doesCount
)

var doesNames = [doesCount]string{
	"none", "send", "receive", "execute", "reply",
	"start", "acquired", "refused", "check", "access", "release", "released", "lost", "done",
	"expire", "promote", "demote", "fsync", "begin", "end",
}

// String returns the name that scenarios use.
func (d Does) String() string {
	if int(d) < len(doesNames) {
		return doesNames[d]
	}
	return fmt.Sprintf("does(%d)", d)
}

// ParseDoes is the inverse of String for every step but None.
func ParseDoes(name string) (Does, bool) {
	for d := Send; d < doesCount; d++ {
		if doesNames[d] == name {
			return d, true
		}
	}
	return None, false
}

// DoesNames lists the steps a scenario may name, in the order of their definition.
func DoesNames() []string { return slices.Clone(doesNames[Send:]) }

// Step is one action of one node, as the trace shows it and as a fault's trigger matches it.
type Step struct {
	Node string // the node that takes the step
	Does Does
	What string // the command, the access, the name of a fault: "SET", "write", "pause-a"
	Alt  string // a second name, if there is one: the purpose of a command, such as ToAcquire for SET
	Peer string // the other end of a message
}

// The purposes of requests to a lock's servers.
const (
	ToAcquire = "acquire" // may make the lock's key
	ToLook    = "look"    // looks whether it is there
	ToRenew   = "renew"   // prolongs its life
	ToRelease = "release" // may remove it
)

// String prints the step in the order of a sentence.
func (s Step) String() string {
	text := s.Node + " " + s.Does.String()
	if s.What != "" {
		text += " " + s.What
	}
	if s.Peer != "" {
		text += " " + s.Peer
	}
	return text
}

// Event is a step and its moment.
type Event struct {
	At  Instant
	Seq uint64 // position in the run, from 1
	Step
	Msg    uint64 // links the steps of one message; 0 if the step does not belong to a message
	Sum    uint64 // digest of the content: command, arguments, reply, token
	Detail string // the content as text; only in a recorded trace
	For    int    // the acquisition that the message is sent for, 0 if that is not known; only in a recorded trace
}

// Intent is a step that is about to be taken: faults that are triggered before it act at this moment. The step
// may not be taken; then no event follows.
type Intent struct {
	At    Instant
	After uint64 // the number of events before it
	Step
}

// Look is a moment at which code reads a node's wall clock. It is not a step: it cannot trigger a fault.
type Look struct {
	Node  string
	Place int  // the number of events and intents before it
	Waits bool // code waits for the clock to show a reading: from now on the clock is observed all the time
}

// Recorder takes the events of one run. The zero value computes the digest only.
type Recorder struct {
	Keep    bool // keep the events for [Recorder.Events], the intents and the looks
	events  []Event
	intents []Intent
	looks   []Look
	digest  Digest
	seq     uint64
	looked  int // intents and looks, kept or not
}

// Add records an event. Detail is called only if events are kept; it may be nil.
func (r *Recorder) Add(e *Event, detail func() string) {
	r.seq++
	d := &r.digest
	d.Uint64(uint64(e.At))
	d.Uint64(uint64(e.Does) ^ e.Msg<<8)
	d.String(e.Node)
	d.String(e.What)
	d.String(e.Peer)
	d.Uint64(e.Sum)
	if !r.Keep {
		return
	}
	kept := *e
	kept.Seq = r.seq
	if detail != nil {
		kept.Detail = detail()
	}
	r.events = append(roomy(r.events), kept)
}

// roomy returns a list with room for one more. It doubles: the entries are large, and append copies long lists more often.
func roomy[T any](list []T) []T {
	if len(list) == cap(list) {
		return slices.Grow(list, max(len(list), 128))
	}
	return list
}

// Begin is called when faults begin to act: it discards earlier intents and looks, which cannot concern them.
func (r *Recorder) Begin() { r.intents, r.looks = nil, nil }

// Intend records that a step is about to be taken. Intents are not part of the digest.
func (r *Recorder) Intend(at Instant, s *Step) {
	r.looked++
	if r.Keep {
		r.intents = append(roomy(r.intents), Intent{At: at, After: r.seq, Step: *s})
	}
}

// Look records that code reads a node's wall clock, or waits for it. Looks are not part of the digest.
func (r *Recorder) Look(node string, waits bool) {
	r.looked++
	if r.Keep {
		r.looks = append(r.looks, Look{Node: node, Place: len(r.events) + len(r.intents), Waits: waits})
	}
}

// Len counts events, intents and looks, whether they are kept or not.
func (r *Recorder) Len() int { return int(r.seq) + r.looked }

// Looks returns the kept looks in order.
func (r *Recorder) Looks() []Look { return r.looks }

// Intents returns the kept intents in order.
func (r *Recorder) Intents() []Intent { return r.intents }

// Events returns the kept events in order.
func (r *Recorder) Events() []Event { return r.events }

// Digest returns the digest of all events so far.
func (r *Recorder) Digest() uint64 { return r.digest.Sum() }
