// Package record writes down what happens in a run, in true time: what clients report, what the lock service grants,
// and what the protected resource decides. The result is a [history.History].
//
// Start with [New]. Clients report to the [Recorder]: first [Recorder.Start], then what comes of the acquisition;
// observers of the lock's servers report to its [Truth]; [Recorder.Close] returns the history. Simulations and replays
// on real servers use the same recorder, so that the same reports come to the same history.
package record

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/sim/storage"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// Options configures a [Recorder].
type Options struct {
	Authority   locks.Authority // which grants are observed; none if there is no observer
	HasTokens   bool            // the lock hands out fencing tokens
	HasPrograms bool            // the clients are programs whose exits are observed
	Room        Room
	_           struct{}
}

// Room is how many records there is room for at first.
type Room struct{ acquisitions, waits, accesses, grants, copies, asks, removals int }

// RoomFor returns room for as many records as a history has: the next run may have as many.
func RoomFor(h *history.History) Room {
	return Room{
		len(h.Acquisitions), len(h.Waits), len(h.Accesses), len(h.Grants), len(h.Copies), len(h.Asks), len(h.Removals),
	}
}

// Recorder records one run. Its history can be read at any time.
type Recorder struct {
	*history.History
	// Truth is what the lock service has granted.
	Truth *Truth

	now      func() trace.Instant
	waits    []int  // of acquisitions, by the same index: in which wait they were begun
	versions uint64 // the last version that was written
}

// New returns a recorder without records. Now tells it the true time.
func New(now func() trace.Instant, o Options) *Recorder {
	r := &Recorder{now: now, waits: make([]int, 0, o.Room.acquisitions), History: &history.History{
		HasAuthority: o.Authority != locks.NoAuthority, HasTokens: o.HasTokens, HasPrograms: o.HasPrograms,
		Acquisitions: make([]history.Acquisition, 0, o.Room.acquisitions),
		Waits:        make([]history.Wait, 0, o.Room.waits),
		Accesses:     make([]history.Access, 0, o.Room.accesses),
		Grants:       make([]history.Grant, 0, o.Room.grants),
		Copies:       make([]history.Copy, 0, o.Room.copies),
		Asks:         make([]history.Ask, 0, o.Room.asks),
		Removals:     make([]history.Removal, 0, o.Room.removals),
	}}
	r.Truth = &Truth{
		History: r.History, Authority: o.Authority, Granted: make([]uint64, 0, o.Room.grants), now: now,
	}
	return r
}

// Now returns true time.
func (r *Recorder) Now() trace.Instant { return r.now() }

// Records returns how many records there are.
func (r *Recorder) Records() int {
	return len(r.Acquisitions) + len(r.Waits) + len(r.Accesses) + len(r.Notes) +
		len(r.Grants) + len(r.Copies) + len(r.Asks) + len(r.Removals)
}

// Owner is a task of a client in one life of its process. A recorder keeps in it which wait is going on.
type Owner struct {
	Client string
	Task   int // over all lives of the process
	Style  history.Style
	Lock   string // the lock that it asks for, if there are several
	wait   int    // index of the last wait, from 1; 0 if there was none
}

// Start numbers an acquisition that is about to be asked for.
func (r *Recorder) Start(o *Owner) history.ID {
	now := r.now()
	if o.wait == 0 || r.Waits[o.wait-1].To != trace.Never {
		r.Waits = append(r.Waits, history.Wait{Client: o.Client, Task: o.Task, From: now, To: trace.Never})
		o.wait = len(r.Waits)
	}
	return r.begin(o, o.wait-1)
}

// begin numbers an acquisition of a wait; -1 if it is not known since when its task has waited.
func (r *Recorder) begin(o *Owner, wait int) history.ID {
	id := history.ID(len(r.Acquisitions) + 1)
	r.Acquisitions = append(r.Acquisitions, history.Acquisition{
		ID: id, Client: o.Client, Task: o.Task, Style: o.Style, Lock: o.Lock,
		Invoked: r.now(), Returned: trace.Never, Deadline: trace.Never, Noticed: trace.Never,
		Unlocked: trace.Never, Crashed: trace.Never, Ended: trace.Never, Released: trace.Never,
	})
	r.waits = append(r.waits, wait)
	return id
}

// Infer numbers an acquisition of a client that does not say when it asks for the lock, nor when it stops: what is known of
// its belief is told by Acquired and Seen. It is Invoked before each of its requests for the lock.
func (r *Recorder) Infer(o *Owner) history.ID {
	id := r.begin(o, -1)
	a := r.Acquisition(id)
	a.Unasked, a.Unended = true, true
	return id
}

// Seen records that a client shows that it believes to hold the lock.
func (r *Recorder) Seen(id history.ID) { r.Acquisition(id).Seen = r.now() }

// Lease is what Lock has returned.
type Lease struct {
	Value       string
	Token       uint64
	HasDeadline bool // see [Recorder.DeadlineAt]
	CanLearn    bool // it has a notice of loss
	More        bool // its client takes other locks, too, before it works: it still waits
}

// Acquired records that Lock has returned a lease.
func (r *Recorder) Acquired(id history.ID, l Lease) {
	a := r.Acquisition(id)
	a.Returned, a.Outcome = r.now(), history.OK
	a.Value, a.Token, a.HasDeadline, a.CanLearn = l.Value, l.Token, l.HasDeadline, l.CanLearn
	if !l.More {
		r.endWait(id, history.GotIt)
	}
}

// DeadlineAt records when the lease's deadline passes on its holder's own clock, in true time. The last call counts:
// the clock may be changed before.
func (r *Recorder) DeadlineAt(id history.ID, at trace.Instant) { r.Acquisition(id).Deadline = at }

// Refusal is why Lock has returned no lease.
type Refusal struct {
	Outcome history.Outcome
	Why     error  // nil if that needs no note: other clients have the lock
	Final   bool   // the task does not try again
	Said    string // in the words of a program's library; "" for other locks
}

// Refused records that Lock has returned no lease, and a note with the reason.
func (r *Recorder) Refused(id history.ID, x Refusal) {
	a := r.Acquisition(id)
	a.Returned, a.Outcome, a.Said = r.now(), x.Outcome, x.Said
	if !x.Final {
		return
	}
	r.endWait(id, history.GaveUp)
	switch {
	case x.Why == nil:
	case x.Outcome == history.Unknown:
		r.Note(a.Client, "has no answer: "+x.Why.Error())
	default:
		r.Note(a.Client, "is refused: "+x.Why.Error())
	}
}

func (r *Recorder) endWait(id history.ID, how history.WaitEnd) {
	if r.waits[id-1] < 0 {
		return
	}
	w := &r.Waits[r.waits[id-1]]
	w.To, w.Ended = r.now(), how
}

// Noticed records that the application has learnt that it no longer holds the lock.
func (r *Recorder) Noticed(id history.ID) { r.Acquisition(id).Noticed = r.now() }

// Unlocked records that Unlock is called, and whether a notice of loss had arrived. A repeated call after an error
// adds nothing.
func (r *Recorder) Unlocked(id history.ID, told bool) {
	if a := r.Acquisition(id); a.Unlocked == trace.Never {
		a.Unlocked, a.Told = r.now(), told
	}
}

// Released records what Unlock has reported.
func (r *Recorder) Released(id history.ID, o history.Outcome) {
	a := r.Acquisition(id)
	a.Released, a.Release = r.now(), o
	if o == history.Failed {
		r.Truth.givenUp(id)
	}
}

// Died records that a client's process has died.
func (r *Recorder) Died(client string) {
	now := r.now()
	for i := range r.Acquisitions {
		a := &r.Acquisitions[i]
		if a.Client == client && a.Crashed == trace.Never && (a.Returned == trace.Never || a.Unlocked == trace.Never) {
			if a.Outcome == history.OK || a.Outcome == history.Pending {
				a.Crashed = now
			}
		}
	}
	r.Left(client, now)
}

// Ended records that a client's process has ended, its work done.
func (r *Recorder) Ended(client string) {
	for i := range r.Acquisitions {
		if a := &r.Acquisitions[i]; a.Client == client && a.Ended == trace.Never {
			a.Ended = r.now()
		}
	}
}

// Exited records that a client's program has ended its process.
func (r *Recorder) Exited(e history.Exit) {
	e.At = r.now()
	r.Exits = append(r.Exits, e)
	r.Died(e.Client)
}

// Left ends the waits of a client whose process is dead, or stopped for good: nothing can give it the lock any more.
func (r *Recorder) Left(client string, at trace.Instant) {
	for i := range r.Waits {
		if w := &r.Waits[i]; w.Client == client && w.From <= at && w.To == trace.Never {
			w.To, w.Ended = at, history.Died
		}
	}
}

// Note writes down what a reader wants to know of a node.
func (r *Recorder) Note(node, text string) {
	r.Notes = append(r.Notes, history.Note{Node: node, At: r.now(), Text: text})
}

// Invoked records an access that is about to be sent, and numbers it, from 1. A write is given its version.
func (r *Recorder) Invoked(a history.Access) (number int, version uint64) {
	a.Invoked, a.Applied, a.Returned = r.now(), trace.Never, trace.Never
	if a.Op == history.Write {
		r.versions++
		a.Version = r.versions
	}
	r.Accesses = append(r.Accesses, a)
	return len(r.Accesses), a.Version
}

// Decided records what the resource has decided.
func (r *Recorder) Decided(q *storage.Request, a *storage.Answer) {
	r.Settled(q.Access, a.Accepted, a.Version)
	x := &r.Accesses[q.Access-1]
	x.MaxToken = a.MaxToken
	for i := range x.With {
		x.With[i].MaxToken = a.With[i]
	}
}

// Settled records what was decided on an access: by the resource, or by the lock's own servers if they guard it. The
// version is what was read.
func (r *Recorder) Settled(number int, accepted bool, version uint64) {
	a := &r.Accesses[number-1]
	a.Applied, a.Accepted = r.now(), accepted
	if a.Op != history.Write {
		a.Version = version
	}
}

// Written records what the lock's own servers have made of the write of a version in the end, if its answer said
// nothing of that.
func (r *Recorder) Written(version uint64, accepted bool) {
	for i := range r.Accesses {
		if a := &r.Accesses[i]; a.Op == history.Write && a.Version == version {
			r.Settled(i+1, accepted, version)
		}
	}
}

// Answered records that the client has the answer to an access.
func (r *Recorder) Answered(number int) { r.Accesses[number-1].Returned = r.now() }

// Close ends the record and returns its history. The caller fills in how the run ended.
func (r *Recorder) Close() *history.History {
	r.Truth.close()
	return r.History
}
