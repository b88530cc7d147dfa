package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Progress and availability: while somebody waits for the lock, somebody acquires within the bound. The clock starts
// with the longest wait under way and again with every acquisition. For progress it also starts again when a fault
// heals, and stands still while a fault that will heal is active; faults that do not heal are no excuse. Availability
// knows no excuse at all, but is judged only of a stall in which a fault was active before the bound had elapsed. For
// progress, a wait ends when its client has lost for good what every lock on these servers needs ([history.Outage]).
//
// A run that ends before the bound has elapsed violates nothing, unless nothing could happen in it any more: then its
// waits last forever.

func (j *judge) progress() {
	if j.o.ProgressWithin <= 0 {
		j.pass(Progress, noBound)
		j.pass(Availability, noBound)
		return
	}
	if j.inferred() {
		j.pass(Progress, saysNothing)
		j.pass(Availability, saysNothing)
		return
	}
	w := newWaiting(j.h, &j.room)
	progress := w.stalls(j.o.ProgressWithin, true)
	for _, s := range progress {
		j.tellStall(Progress, noProgress, s)
	}
	availability := 0
	for _, s := range w.stalls(j.o.ProgressWithin, false) {
		if w.faultIn(s.from, s.late) {
			availability++
			j.tellStall(Availability, notAvailable, s)
		}
	}
	reasons, faults := j.waitsForReason(w)
	j.conclude(Progress, len(progress) > 0, reasons)
	if len(j.h.Outages) > 0 && j.report.Verdicts[Progress] == Vacuous {
		o := &j.h.Outages[0]
		j.report.Reasons[Progress] = "from " + o.From.String() + " on " + o.Client + " waits in vain whatever the lock does: " + o.Text
	}
	j.conclude(Availability, availability > 0, faults)
}

const noBound = "no bound on waiting given"

// The kinds of stalls. A stall of clients that wait for each other is a [DeadlockKind].
const (
	noProgress   = "no progress"
	notAvailable = "not available"
)

// waiting replays who waited, and which faults were active.
type waiting struct {
	h      *history.History
	events []turn
	byFrom []int // waits, in the order of their beginning
	room   *room
}

// turn is a moment at which the clock may start, stop, or start again.
type turn struct {
	at   trace.Instant
	kind turnKind
	wait int // for waitEnds
}

type turnKind uint8

const (
	waitEnds    turnKind = iota
	waitExcused          // its client has lost for good what every lock needs
	faultBegins          // of a fault that heals
	faultEnds
)

// stall is a time during which somebody waited and nobody acquired, that is longer than the bound.
type stall struct {
	from  trace.Instant // when the clock started
	until trace.Instant // Never if nothing could happen any more
	wait  int           // the longest wait under way
	late  trace.Instant // when the bound had elapsed
}

func newWaiting(h *history.History, r *room) *waiting {
	w := &waiting{h: h, room: r, byFrom: indices(&r.byFrom, len(h.Waits))}
	slices.SortStableFunc(w.byFrom, func(a, b int) int { return cmp.Compare(h.Waits[a].From, h.Waits[b].From) })
	w.events = sized(&r.turns, len(h.Waits)+2*len(h.Faults))[:0]
	for i := range h.Waits {
		if h.Waits[i].To != trace.Never {
			w.events = append(w.events, turn{at: h.Waits[i].To, kind: waitEnds, wait: i})
		}
	}
	for i := range h.Faults {
		if f := &h.Faults[i]; f.Fired && f.End != trace.Never {
			w.events = append(w.events, turn{at: f.Begin, kind: faultBegins}, turn{at: f.End, kind: faultEnds})
		}
	}
	for i := range h.Waits {
		if at := w.outageOf(i); at < h.Waits[i].To {
			w.events = append(w.events, turn{at: max(at, h.Waits[i].From), kind: waitExcused, wait: i})
		}
	}
	slices.SortStableFunc(w.events, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind))
	})
	return w
}

// outageOf is when the client of a wait has lost what every lock needs; Never if it has not.
func (w *waiting) outageOf(wait int) trace.Instant {
	if o := outageOf(w.h, w.h.Waits[wait].Client); o != nil {
		return o.From
	}
	return trace.Never
}

// outageOf is what a client has lost of what every lock needs; nil if nothing.
func outageOf(h *history.History, client string) *history.Outage {
	i := slices.IndexFunc(h.Outages, func(o history.Outage) bool { return o.Client == client })
	if i < 0 {
		return nil
	}
	return &h.Outages[i]
}

// stalls replays the waits and returns the times for which nobody acquired.
func (w *waiting) stalls(bound time.Duration, excused bool) []stall {
	var found []stall
	restart := trace.Instant(0) // the last acquisition, or the last healing
	active := 0                 // faults that will heal
	ended, oldest := sized(&w.room.ended, len(w.h.Waits)), w.byFrom
	stalledUntil := func(now trace.Instant) {
		for len(oldest) > 0 && ended[oldest[0]] {
			oldest = oldest[1:]
		}
		if len(oldest) == 0 || excused && active > 0 {
			return
		}
		s := stall{from: max(restart, w.h.Waits[oldest[0]].From), until: now, wait: oldest[0]}
		s.late = s.from.Add(bound)
		if s.from >= now || s.late >= now {
			return
		}
		if n := len(found); n > 0 && found[n-1].from == s.from {
			found[n-1].until = now
			return
		}
		found = append(found, s)
	}
	for _, e := range w.events {
		if e.at > w.h.End && !w.h.Quiescent {
			break
		}
		stalledUntil(e.at)
		switch e.kind {
		case waitEnds:
			ended[e.wait] = true
			if w.h.Waits[e.wait].Ended == history.GotIt {
				restart = e.at
			}
		case waitExcused:
			ended[e.wait] = ended[e.wait] || excused
		case faultBegins:
			active++
		case faultEnds:
			active--
			if excused {
				restart = e.at
			}
		}
	}
	if w.h.Quiescent {
		stalledUntil(trace.Never)
	} else {
		stalledUntil(w.h.End)
	}
	return found
}

// faultIn reports whether a fault was active within [from, to): one that begins at to came too late, and one that
// ended at from was over, unless it was that moment's own.
func (w *waiting) faultIn(from, to trace.Instant) bool {
	for i := range w.h.Faults {
		if f := &w.h.Faults[i]; f.Fired && f.Begin < to && (from < f.End || from <= f.Begin) {
			return true
		}
	}
	return false
}

// waitsForReason is the danger: how many waits took time while somebody else believed to hold the lock or had been
// granted it, or a fault was active (reasons); and those with a fault alone (faults).
func (j *judge) waitsForReason(w *waiting) (reasons, faults int) {
	for i := range j.h.Waits {
		wait := &j.h.Waits[i]
		if wait.To <= wait.From {
			continue
		}
		who := owner{wait.Client, wait.Task}
		fault := w.faultIn(wait.From, wait.To)
		if fault {
			faults++
		}
		if w.outageOf(i) < wait.To {
			continue
		}
		if fault || j.held.othersIn(wait.From, wait.To, who) ||
			j.granted.othersIn(wait.From, wait.To, who) {
			reasons++
		}
	}
	return reasons, faults
}

func (j *judge) tellStall(p Property, kind string, s stall) {
	wait := &j.h.Waits[s.wait]
	who := owner{wait.Client, wait.Task}
	at := s.late
	what := "the lock"
	if len(j.h.Locks()) > 1 {
		what = "all locks that it takes"
	}
	text := fmt.Sprintf("%s has waited since %s; from %s on nobody acquired %s within %s",
		who, wait.From, s.from, what, j.o.ProgressWithin)
	if s.until == trace.Never {
		at = min(at, j.h.End)
		text = fmt.Sprintf("%s has waited since %s and will wait forever: nothing can happen any more", who, wait.From)
	}
	if o := outageOf(j.h, wait.Client); o != nil && o.From <= at {
		text += ", whatever the lock does: " + o.Text
	}
	v := Violation{Property: p, Kind: kind, At: at, Text: text}
	if id := j.asking(who, s.late); id != 0 {
		v.Acquisitions = []history.ID{id}
	}
	if d := j.deadlockAt(s.from, s.late); d != nil {
		v.Kind, v.Acquisitions = DeadlockKind, d.acquisitions()
		v.Text += ": " + d.Text
	}
	j.accuse(v)
}

// asking returns the latest acquisition that an owner had called for by then.
func (j *judge) asking(o owner, by trace.Instant) history.ID {
	for i := range slices.Backward(j.h.Acquisitions) {
		a := &j.h.Acquisitions[i]
		if a.Client == o.client && a.Task == o.task && a.Invoked <= by {
			return a.ID
		}
	}
	return 0
}
