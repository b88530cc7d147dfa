package checker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Deadlock: clients that each hold one of several locks wait for each other in a circle (Coffman, Elphick and Shoshani, "System
// Deadlocks", 1971). A client holds a lock as long as what it was granted lasts, or, where grants are not known, as long as it
// believes; it waits for a lock from the call of Lock until that returns. A circle ends when one of its holds ends, by a lease
// that nobody renews, for example, or when one of its clients gives up waiting.
//
// A deadlock is told where it keeps clients waiting for longer than the bound on progress; the measure "deadlocks" counts all.

// DeadlockKind is the kind of a stall of clients that wait for each other.
const DeadlockKind = "deadlock"

// Deadlock is a circle of clients that wait for each other.
type Deadlock struct {
	From, To trace.Instant // To is Never if it had not ended when the run did
	// Lasts says that nothing ends it by itself: no hold in it has an end, or each is renewed for as long as its client waits.
	Lasts bool
	// Holds and Waits are the acquisitions by which its clients hold and wait: the client of Holds[i] is that of Waits[i],
	// and waits for what the next one holds.
	Holds, Waits []history.ID
	Text         string // "a holds x and waits for y; b holds y and waits for x; neither can go on before …"
}

func (d *Deadlock) acquisitions() []history.ID {
	var ids []history.ID
	for i := range d.Holds {
		ids = append(ids, d.Holds[i], d.Waits[i])
	}
	return ids
}

// deadlockAt returns a circle that stood at some time of a stall, the last one if there are several; nil if there is none.
func (j *judge) deadlockAt(from, late trace.Instant) *Deadlock {
	for i := range slices.Backward(j.deadlocks) {
		if d := &j.deadlocks[i]; d.From <= late && late < d.To {
			return d
		}
	}
	for i := range slices.Backward(j.deadlocks) {
		if d := &j.deadlocks[i]; d.From <= late && from < d.To {
			return d
		}
	}
	return nil
}

func (j *judge) deadlocked() (int64, bool) { return int64(len(j.deadlocks)), len(j.h.Locks()) > 1 }

// claim is a hold of a lock, or a wait for one.
type claim struct {
	id       history.ID
	owner    owner
	lock     string
	from, to trace.Instant
	why      history.Cause // it ended, of a hold
	keeps    bool          // its client prolongs it, of a hold
	gaveUp   bool          // it ended without the lock, of a wait
}

func (c *claim) standsAt(t trace.Instant) bool { return c.from <= t && t < c.to }

// circles looks for deadlocks.
type circles struct {
	h            *history.History
	holds, waits []claim
}

// findDeadlocks lists the deadlocks of a history of several locks.
func findDeadlocks(h *history.History) []Deadlock {
	c := circles{h: h, waits: waitsOf(h), holds: holdsOf(h)}
	moments := make([]trace.Instant, 0, len(c.holds)+len(c.waits))
	for i := range c.holds {
		moments = append(moments, c.holds[i].from)
	}
	for i := range c.waits {
		moments = append(moments, c.waits[i].from)
	}
	slices.Sort(moments)
	var found []Deadlock
	for _, at := range slices.Compact(moments) {
		for i := range c.waits {
			if c.waits[i].from > at {
				break
			}
			d, ok := c.from(&c.waits[i], at)
			known := slices.ContainsFunc(found, func(o Deadlock) bool { return o.isSame(&d) })
			if ok && !known {
				found = append(found, d)
			}
		}
	}
	return found
}

func waitsOf(h *history.History) []claim {
	var list []claim
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		list = append(list, claim{
			id: a.ID, owner: owner{a.Client, a.Task}, lock: a.Lock, from: a.Invoked, to: min(a.Returned, a.Crashed),
			gaveUp: a.Outcome != history.OK,
		})
	}
	slices.SortStableFunc(list, func(a, b claim) int { return cmp.Compare(a.from, b.from) })
	return list
}

func holdsOf(h *history.History) []claim {
	var list []claim
	add := func(id history.ID, from, to trace.Instant, why history.Cause) {
		if a := h.Acquisition(id); a != nil {
			list = append(list, claim{id: id, owner: owner{a.Client, a.Task}, lock: a.Lock, from: from, to: to, why: why, keeps: h.Keeps && !a.Unkept})
		}
	}
	for i := range h.Grants {
		g := &h.Grants[i]
		add(g.Acquisition, g.From, g.To, g.Ended)
	}
	if !h.HasAuthority {
		for _, b := range h.Beliefs() {
			add(b.Acquisition.ID, b.From, b.To, b.Ended)
		}
	}
	return list
}

// from follows who waits for whom from one wait on, and returns the circle in which that one is; false if it is in none.
func (c *circles) from(first *claim, at trace.Instant) (Deadlock, bool) {
	d := Deadlock{From: at, To: trace.Never}
	var holds, waits []*claim
	for w := first; w != nil && w.standsAt(at); {
		if slices.Contains(waits, w) {
			if w != first {
				return Deadlock{}, false // it leads into a circle of others
			}
			// holds[i] is what waits[i] is for: its holder is the client of the next wait
			holds = append(holds[len(holds)-1:], holds[:len(holds)-1]...)
			c.close(&d, holds, waits)
			return d, true
		}
		h := c.holder(w, at)
		if h == nil {
			break
		}
		waits, holds = append(waits, w), append(holds, h)
		w = c.waitOf(h.owner, at)
	}
	return Deadlock{}, false
}

// holder returns what keeps a wait from its lock: the hold of another client, the latest of several.
func (c *circles) holder(w *claim, at trace.Instant) *claim {
	var last *claim
	for i := range c.holds {
		h := &c.holds[i]
		if h.lock == w.lock && h.standsAt(at) && h.owner.isOther(w.owner) && (last == nil || h.from >= last.from) {
			last = h
		}
	}
	return last
}

// waitOf returns what an owner waits for; nil if it waits for nothing.
func (c *circles) waitOf(o owner, at trace.Instant) *claim {
	for i := range c.waits {
		if w := &c.waits[i]; w.owner == o && w.standsAt(at) {
			return w
		}
	}
	return nil
}

// close completes a circle: when it ended, by what, and how that is told.
func (c *circles) close(d *Deadlock, holds, waits []*claim) {
	text := make([]string, 0, len(holds))
	ends, leaves := holds[0], waits[0] // the hold and the wait that end first
	for i, h := range holds {
		w := waits[i]
		d.Holds, d.Waits = append(d.Holds, h.id), append(d.Waits, w.id)
		text = append(text, h.owner.String()+" holds "+h.lock+" and waits for "+w.lock)
		if c.end(h) < c.end(ends) {
			ends = h
		}
		if w.to < leaves.to {
			leaves = w
		}
	}
	if to := min(c.end(ends), leaves.to); to <= c.h.End {
		d.To = to
	}
	d.Lasts = c.end(ends) == trace.Never && leaves.to > c.h.End
	none := "none of them"
	if len(holds) == 2 {
		none = "neither"
	}
	d.Text = strings.Join(text, "; ") + "; " + none + " can go on" + c.until(d, ends, leaves)
}

// end is when a hold ends. One that its client still prolongs when the run ends has no end.
func (c *circles) end(h *claim) trace.Instant {
	if h.keeps && h.to > c.h.End {
		return trace.Never
	}
	return h.to
}

// until says what ends a circle.
func (c *circles) until(d *Deadlock, ends, leaves *claim) string {
	switch {
	case d.Lasts:
		return ": what they hold does not end while they wait"
	case leaves.gaveUp && leaves.to <= c.end(ends):
		return " before " + leaves.owner.String() + " stops waiting at " + leaves.to.String()
	case ends.why == history.ByUnlock:
		return " before " + ends.owner.String() + " releases " + ends.lock + " at " + ends.to.String()
	case ends.why == history.BySessionLoss:
		return " before " + ends.owner.String() + "'s session ends at " + ends.to.String()
	case ends.why == history.ByCrash:
		return " before " + ends.owner.String() + " crashes at " + ends.to.String()
	default:
		return " before " + ends.owner.String() + "'s lease of " + ends.lock + " ends at " + ends.to.String()
	}
}

// isSame reports whether two circles are of the same clients, holding and waiting by the same acquisitions.
func (d *Deadlock) isSame(o *Deadlock) bool {
	return len(d.Waits) == len(o.Waits) && !slices.ContainsFunc(d.Waits, func(id history.ID) bool { return !slices.Contains(o.Waits, id) })
}
