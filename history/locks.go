package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Locks lists the names of the locks that were asked for, in the order in which they first were. A history of one lock has one
// name, which may be "".
func (h *History) Locks() []string {
	var names []string
	for i := range h.Acquisitions {
		if name := h.Acquisitions[i].Lock; len(names) == 0 || !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// LockOf returns the name of the lock that an acquisition asked for; "" if there is no such acquisition.
func (h *History) LockOf(id ID) string {
	if a := h.Acquisition(id); a != nil {
		return a.Lock
	}
	return ""
}

// Of returns the history of one of several locks, and the acquisitions by the numbers that they have in it: ids[0] is its
// first. Its acquisitions are those of the lock; its grants, copies, asks, removals and accesses are those of these
// acquisitions, or of an unknown one. A task waits in it from each call of Lock until that returns. Everything else is as in
// the whole history.
func (h *History) Of(lock string) (part *History, ids []ID) {
	part = new(History)
	*part = *h
	number := make([]ID, len(h.Acquisitions)+1)
	part.Acquisitions, part.Waits = nil, nil
	for i := range h.Acquisitions {
		a := h.Acquisitions[i]
		if a.Lock != lock {
			continue
		}
		ids = append(ids, a.ID)
		a.ID = ID(len(ids))
		number[ids[a.ID-1]] = a.ID
		part.Acquisitions = append(part.Acquisitions, a)
		part.Waits = append(part.Waits, h.waitFor(&a))
	}
	of := func(id ID) bool { return id == 0 || number[id] != 0 }
	part.Grants = only(h.Grants, func(g *Grant) bool { return of(g.Acquisition) })
	part.Copies = only(h.Copies, func(c *Copy) bool { return of(c.Acquisition) })
	part.Asks = only(h.Asks, func(a *Ask) bool { return of(a.Acquisition) })
	part.Removals = only(h.Removals, func(r *Removal) bool { return of(r.By) && (r.By != 0 || of(r.Ended)) })
	part.Accesses = only(h.Accesses, func(a *Access) bool { return of(a.Acquisition) })
	for i := range part.Grants {
		part.Grants[i].Acquisition = number[part.Grants[i].Acquisition]
	}
	for i := range part.Copies {
		part.Copies[i].Acquisition = number[part.Copies[i].Acquisition]
	}
	for i := range part.Asks {
		part.Asks[i].Acquisition = number[part.Asks[i].Acquisition]
	}
	for i := range part.Removals {
		r := &part.Removals[i]
		r.By, r.Ended = number[r.By], number[r.Ended]
	}
	for i := range part.Accesses {
		part.Accesses[i].Acquisition = number[part.Accesses[i].Acquisition]
	}
	return part, ids
}

// waitFor is the time from the call of Lock until it returned, or until nothing could return to its process any more.
func (h *History) waitFor(a *Acquisition) Wait {
	w := Wait{Client: a.Client, Task: a.Task, From: a.Invoked, To: a.Returned}
	switch a.Outcome {
	case Pending:
	case OK:
		w.Ended = GotIt
	default:
		w.Ended = GaveUp
	}
	if a.Returned != trace.Never {
		return w
	}
	for i := range h.Waits {
		if x := &h.Waits[i]; x.Ended == Died && x.Client == a.Client && x.Task == a.Task && x.From <= a.Invoked && a.Invoked <= x.To {
			w.To, w.Ended = x.To, Died
		}
	}
	return w
}

func only[T any](list []T, is func(*T) bool) []T {
	var kept []T
	for i := range list {
		if is(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	return kept
}
