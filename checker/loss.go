package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Silent loss: of a lock that keeps its grants by itself, because it renews its lease or keeps a session alive, no holder
// loses its grant before it unlocks if nothing has gone wrong; and a holder that loses it otherwise is told. It is told if
// its notice of loss is there when it calls Unlock, or a deadline that its lease states has passed on its own clock. That
// Unlock says so is too late: the work is done.
//
// A process that stands still, or reaches nobody, can be told nothing. So what counts are losses after which the holder still believed when
// the notice was due: one life of a lease after the loss, and after what was sent during each fault had arrived that began before
// that. The lock is lost when the servers last kept others out for the holder.
//
// The danger is that a holder needs its lock to be kept, because it holds it for longer than a lease; where it loses it, also
// that it can be told, and that the history shows whether it was.

func (j *judge) silentLoss() {
	switch {
	case j.passUnobserved(SilentLoss):
		return
	case !j.h.Keeps:
		j.pass(SilentLoss, keepsNothing)
		return
	case j.o.Lease <= 0:
		j.pass(SilentLoss, noLease)
		return
	}
	violated, dangers := false, 0
	for i := range j.h.Acquisitions {
		a := &j.h.Acquisitions[i]
		until := min(a.Unlocked, a.Crashed, j.h.End)
		if a.Unended {
			until = min(until, max(a.Seen, a.Returned))
		}
		if a.Outcome != history.OK || a.Unkept || !longer(a.Returned, until, j.leaseOf(a)) {
			continue
		}
		verdict := Held
		if lost := j.lost(a, until); lost < until {
			verdict = j.judgeLoss(a, lost, until)
		}
		violated = violated || verdict == Violated
		if verdict != Vacuous {
			dangers++
		}
	}
	j.conclude(SilentLoss, violated, dangers)
}

// leaseOf is the life of the lease or session by which an acquisition holds.
func (j *judge) leaseOf(a *history.Acquisition) time.Duration { return cmp.Or(a.Lease, j.o.Lease) }

const keepsNothing = "the lock does not keep what it holds: it neither renews a lease nor keeps a session alive"

// lost returns when an acquisition lost the lock; until if it did not before that. What keeps others out for longer than it was promised, until
// a renewal takes the lock again, is no loss.
func (j *judge) lost(a *history.Acquisition, until trace.Instant) trace.Instant {
	over, is := j.lostAt(a, until)
	for is {
		lost := j.keptOutUntil(a, over)
		if lost <= over || lost >= until {
			return lost
		}
		if over, is = j.lastOfOwner(a, lost, until); over == lost {
			return lost
		}
	}
	return until
}

// lostAt returns when the grant ended by which an acquisition held, if that was before a moment, and after Lock returned:
// what is over when it is given is a stale acquisition.
func (j *judge) lostAt(a *history.Acquisition, until trace.Instant) (trace.Instant, bool) {
	last := trace.Instant(-1)
	for i := range j.h.Grants {
		g := &j.h.Grants[i]
		if g.Acquisition != a.ID || g.From > a.Returned {
			continue
		}
		if g.To >= until || g.Ended != history.ByDeadline && g.Ended != history.BySessionLoss {
			return 0, false
		}
		last = max(last, g.To)
	}
	return j.lastOfOwner(a, last, until)
}

// lastOfOwner returns when the last of its owner's grants ended that took the place of one another, after one that ended at a moment: an
// earlier try, executed late, may write the entry again under the same name, and what is renewed is the grant of that try then; or a renewal
// gets back, without a gap, what another client with the same name had taken.
func (j *judge) lastOfOwner(a *history.Acquisition, last, until trace.Instant) (trace.Instant, bool) {
	for i := 0; i < len(j.h.Grants); i++ {
		g := &j.h.Grants[i]
		if by := j.h.Acquisition(g.Acquisition); by == nil || by.Client != a.Client || by.Task != a.Task || by.Lock != a.Lock {
			continue
		}
		if g.From > last || g.To <= last {
			continue
		}
		if g.To >= until || g.Ended != history.ByDeadline && g.Ended != history.BySessionLoss {
			return 0, false
		}
		last, i = g.To, -1
	}
	return last, last > a.Returned
}

// keptOutUntil returns until when the copies that stood for an acquisition, or for others of its owner, kept others out: a server may lose one
// before the promise is over, or delete it for another client, and one whose clock was set back keeps it for longer.
func (j *judge) keptOutUntil(a *history.Acquisition, over trace.Instant) trace.Instant {
	of := func(c *history.Copy) bool {
		by := j.h.Acquisition(c.Acquisition)
		return by != nil && by.Client == a.Client && by.Task == a.Task && by.Lock == a.Lock
	}
	if !slices.ContainsFunc(j.h.Copies, func(c history.Copy) bool { return of(&c) }) {
		return over
	}
	last := a.Returned
	for i := range j.h.Copies {
		own := &j.h.Copies[i]
		end := own.To
		if own.From > over || !j.setsServer(own.From, over) {
			end = min(end, over)
		}
		if !of(own) || end <= last {
			continue
		}
		standing := 0
		for k := range j.h.Copies {
			if c := &j.h.Copies[k]; of(c) && c.From < end && end <= c.To {
				standing++
			}
		}
		if standing >= max(j.h.Blocks, 1) {
			last = end
		}
	}
	return last
}

// setsServer reports whether the clock of a server was set, or back as it was, between two moments.
func (j *judge) setsServer(from, to trace.Instant) bool {
	return slices.ContainsFunc(j.h.Faults, func(f history.Fault) bool {
		return f.Fired && f.Sets && f.Of == "" && (from <= f.Begin && f.Begin < to || from <= f.End && f.End < to)
	})
}

// judgeLoss accuses a loss that nothing explains, or that nobody was told of. It is vacuous if nobody could be told, or if it
// is not known whether anybody was.
func (j *judge) judgeLoss(a *history.Acquisition, lost, until trace.Instant) Verdict {
	faults := j.h.Faulty
	for i := range j.h.Faults {
		faults = faults || j.h.Faults[i].Fired && j.h.Faults[i].Begin <= lost
	}
	due := j.noticeDue(a, lost)
	v := Violation{Property: SilentLoss, At: lost, Acquisitions: []history.ID{a.ID}}
	switch {
	case !faults:
		v.Kind = "lost without a fault"
		v.Text = owner{a.Client, a.Task}.String() + " lost the lock at " + lost.String() + ", while it held it and nothing had gone wrong"
	case wasTold(a, until):
		return Held
	case j.hidden(a) || due >= until:
		return Vacuous
	default:
		v.Kind, v.At = "not told", due
		v.Text = owner{a.Client, a.Task}.String() + " lost the lock at " + lost.String() +
			" and, not told of it, believed that it held until " + until.String()
	}
	j.accuse(v)
	return Violated
}

// noticeDue returns by when the holder of an acquisition is to be told of a loss; Never if a fault that does not heal keeps that from it.
func (j *judge) noticeDue(a *history.Acquisition, lost trace.Instant) trace.Instant {
	due := lost.Add(j.leaseOf(a))
	for before := trace.Instant(-1); before < due; {
		before = due
		for f := range j.met(a) {
			if f.Begin < before {
				due = max(due, j.settled(a, f).Add(j.leaseOf(a)))
			}
		}
	}
	return due
}

// wasTold reports whether a holder could know that it holds no longer.
func wasTold(a *history.Acquisition, until trace.Instant) bool {
	return a.Told || a.Noticed != trace.Never || a.HasDeadline && a.Deadline <= until
}

// hidden reports whether nobody sees if a notice was given: that of a program's lock shows only if the application listens.
func (j *judge) hidden(a *history.Acquisition) bool {
	return j.h.HasPrograms && a.CanLearn && a.Style == history.Careless
}
