package checker

import (
	"iter"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Leak: after a release that succeeded, or an acquire that failed, nothing of that acquisition keeps others out for longer
// than is documented. What was left behind is a copy of the lock's key. It is due
//
//   - a tenth of a lease after the end of its acquisition, and in a queue after its turn has come, if no fault was active from a
//     lease before its call until then, and the outcome is known: the requests that take it back have been carried out by
//     then, and no older ones are under way;
//   - else three lives of a lease after that, and after the last fault: by then a lease that nobody renews is over, and so is
//     a session whose client is gone (Consul may wait twice the life, and begins it again when it has elected a leader). So it is
//     of a process that has ended before that: what it would still have done is the application's to wait for.
//
// A key that a server keeps for longer than it foresaw is the fault of the server's clock: nothing is held against the lock
// after [history.Copy.Expires]. Copies keep others out only together if it takes several servers to keep the lock from
// everybody ([history.History.Blocks]). A client that acquired the lock again while the copy stood may have held it by that
// very copy, so its last release counts.
//
// The danger is that another client wants the lock after such an end.

func (j *judge) leak() {
	switch {
	case j.passUnobserved(Leak):
		return
	case j.inferred():
		j.pass(Leak, saysNothing)
		return
	case j.o.Lease <= 0:
		j.pass(Leak, noLease)
		return
	}
	left := j.leftovers()
	violated := false
	for i := range left {
		l := &left[i]
		if w, at := j.keptOut(left, l); w != nil {
			violated = true
			j.tellLeak(l, w, at)
		}
	}
	j.conclude(Leak, violated, j.wantedAfter())
}

const noLease = "no life of a lease given"

// leftover is a copy that stands though it should be gone.
type leftover struct {
	copy     *history.Copy
	of       *history.Acquisition
	from, to trace.Instant // from when on it is overdue, and until when that is held against the lock
}

// leftovers lists them, one at most of each copy.
func (j *judge) leftovers() (list []leftover) {
	for i := range j.h.Copies {
		c := &j.h.Copies[i]
		a := j.h.Acquisition(c.Acquisition)
		if a == nil {
			continue
		}
		over, ok := j.overSince(a)
		if !ok || c.To <= over {
			continue
		}
		if over, ok = j.lastHold(a, c, over); !ok {
			continue
		}
		l := leftover{copy: c, of: a, to: min(c.To, c.Expires, j.h.End)}
		if l.from, ok = j.dueBy(a, c, over); ok && l.from < l.to {
			list = append(list, l)
		}
	}
	return list
}

// overSince returns when an acquisition came to an end after which it has no claim to anything; false if it did not.
func (j *judge) overSince(a *history.Acquisition) (trace.Instant, bool) {
	switch {
	case a.Release == history.OK && a.Released != trace.Never:
		return a.Released.Add(j.o.Lingers), true
	case a.Outcome == history.Failed || a.Outcome == history.Refused || a.Outcome == history.Unknown:
		return a.Returned, a.Returned != trace.Never
	}
	return 0, false
}

// lastHold returns when the client of a copy last released the lock while the copy stood, which may have been the key of that
// hold too; over if it did not hold it again. It is false if the client did not release such a hold.
func (j *judge) lastHold(of *history.Acquisition, c *history.Copy, over trace.Instant) (trace.Instant, bool) {
	for i := range j.h.Acquisitions {
		a := &j.h.Acquisitions[i]
		if a.Client != of.Client || a.Outcome != history.OK || a.Returned >= c.To {
			continue
		}
		if a.Release != history.OK {
			return 0, false
		}
		over = max(over, a.Released)
	}
	return over, true
}

// met lists the faults that happened and may have kept an acquisition from something: those of other clients alone have not.
func (j *judge) met(a *history.Acquisition) iter.Seq[*history.Fault] {
	return func(yield func(*history.Fault) bool) {
		for i := range j.h.Faults {
			if f := &j.h.Faults[i]; f.Fired && (f.Of == "" || f.Of == a.Client) && !yield(f) {
				return
			}
		}
	}
}

// healed returns when a fault no longer kept anybody from anything: a clock is set in a moment, and the lease
// that a history is judged by is that on the slowest one.
func healed(f *history.Fault) trace.Instant {
	if f.Sets {
		return f.Begin
	}
	return f.End
}

// settled returns by when what was sent during a fault has arrived: as long after its end as it lasted, since the pauses of
// TCP grow with an outage, up to two minutes (TCP_RTO_MAX); at its end, if it was only held up. What is lost just before something else holds
// up what is sent again fares as in one outage.
func (j *judge) settled(a *history.Acquisition, f *history.Fault) trace.Instant {
	end := healed(f)
	if end == trace.Never || f.Waits {
		return end
	}
	for before := trace.Instant(-1); before < end; {
		before = end
		for next := range j.met(a) {
			if until := healed(next); next.Waits && next.Begin <= end && until != trace.Never {
				end = max(end, until)
			}
		}
	}
	return end.Add(min(end.Sub(f.Begin), 2*time.Minute))
}

// dueBy returns the moment by which a copy should be gone; false if a fault that never heals excuses it forever. What such
// a fault cannot excuse is a key with an end of its own: only a client that lives and reaches the server can have renewed it.
func (j *judge) dueBy(a *history.Acquisition, c *history.Copy, over trace.Instant) (trace.Instant, bool) {
	soon, quiet := max(over, c.From).Add(j.o.Lease/10), a.Outcome != history.Unknown // in a queue its turn may come later
	quiet = quiet && a.Ended > soon
	for f := range j.met(a) {
		quiet = quiet && (f.Begin > soon || longer(healed(f), a.Invoked, j.o.Lease))
	}
	if a.Outcome == history.OK && a.Release == history.OK && c.Expires < a.Returned.Add(j.o.Lease*9/10) { // its release has left it that long, on purpose
		return max(soon, c.Expires.Add(j.o.Lease/10)), true
	}
	if inQueue := c.Expires == trace.Never; quiet && (c.From <= over || inQueue) {
		return soon, true
	}
	last, end := over, trace.Instant(0)
	for f := range j.met(a) {
		if f.Sets && f.Of == "" && f.Begin < c.To && c.Expires != trace.Never { // at a moment of a server's clock, which may come later then
			end = c.Expires
		}
		switch {
		case healed(f) != trace.Never:
			last = max(last, j.settled(a, f))
		case c.Expires == trace.Never:
			return 0, false
		default:
			last = max(last, f.Begin)
		}
	}
	return max(max(last, c.From).Add(3*j.o.Lease), end), true
}

// keptOut returns another client's wait during which a leftover, with others of its kind if it takes several, kept the lock
// from it, and since when; nil if there is none.
func (j *judge) keptOut(left []leftover, l *leftover) (*history.Wait, trace.Instant) {
	for i := range j.h.Waits {
		w := &j.h.Waits[i]
		if w.Client == l.of.Client {
			continue
		}
		from, to := max(l.from, w.From), min(l.to, w.To)
		if o := outageOf(j.h, w.Client); o != nil {
			to = min(to, o.From) // from then on it is not the leftover that keeps it out
		}
		ends := make([]trace.Instant, 0, 1)
		for k := range left {
			if o := &left[k]; o.of.Client != w.Client && o.from <= from && from < o.to {
				ends = append(ends, min(o.to, to))
			}
		}
		slices.Sort(ends)
		if n := len(ends) - max(j.h.Blocks, 1); n >= 0 && ends[n] > from {
			return w, from
		}
	}
	return nil, 0
}

// wantedAfter is the danger: how many acquisitions were over while another client still wanted the lock, or wanted it later.
func (j *judge) wantedAfter() (n int) {
	var last, other *history.Wait // the last to end, and the last of other clients
	for i := range j.h.Waits {
		switch w := &j.h.Waits[i]; {
		case last == nil || w.To > last.To:
			if last != nil && last.Client != w.Client {
				other = last
			}
			last = w
		case w.Client != last.Client && (other == nil || w.To > other.To):
			other = w
		}
	}
	for i := range j.h.Acquisitions {
		a := &j.h.Acquisitions[i]
		over, ok := j.overSince(a)
		wants := last
		if last != nil && last.Client == a.Client {
			wants = other
		}
		if ok && wants != nil && wants.To > over {
			n++
		}
	}
	return n
}

func (j *judge) tellLeak(l *leftover, w *history.Wait, at trace.Instant) {
	kind, ended, over := "left behind by a failed acquisition", " did not acquire the lock at ", l.of.Returned
	if l.of.Outcome == history.OK {
		kind, ended, over = "left behind by a release", " released the lock at ", l.of.Released
	}
	who, has := owner{l.of.Client, l.of.Task}.String(), " still has its key "
	if l.copy.From > over { // a late request made it, or it has come to be first in its queue
		has = " holds the lock for " + who + " "
	}
	v := Violation{
		Property: Leak, Kind: kind, At: at, Acquisitions: []history.ID{l.of.ID},
		Text: who + ended + over.String() + ", but " + l.copy.Node + has +
			j.during(max(l.copy.From, over), min(l.copy.To, j.h.End)) + ", which keeps out " + owner{w.Client, w.Task}.String(),
	}
	if id := j.asking(owner{w.Client, w.Task}, at); id != 0 {
		v.Acquisitions = append(v.Acquisitions, id)
	}
	j.accuse(v)
}

// longer reports whether a stretch that may not have ended is longer than a time.
func longer(from, to trace.Instant, d time.Duration) bool {
	return from != trace.Never && from.Add(d) < to
}
