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
// acquisitions, or of an unknown one; an access that shows the tokens of several locks is one of each. A task waits in it from each call of Lock until that returns. Everything else is as in
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
	part.Accesses = h.AccessesOf(lock)
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

// AccessesOf lists the accesses that show the lease of an acquisition of a lock, as if they showed that alone.
func (h *History) AccessesOf(lock string) []Access {
	var list []Access
	for i := range h.Accesses {
		seen := h.Accesses[i]
		guards := append([]Shown{{seen.Acquisition, seen.Token, seen.MaxToken}}, seen.With...)
		if k := slices.IndexFunc(guards, func(s Shown) bool { return h.LockOf(s.Acquisition) == lock }); k >= 0 {
			seen.Acquisition, seen.Token, seen.MaxToken, seen.With = guards[k].Acquisition, guards[k].Token, guards[k].MaxToken, nil
			list = append(list, seen)
		}
	}
	return list
}

// Shared lists the sets of locks that guard one resource, if there are such: locks whose acquisitions access the same register.
func (h *History) Shared() [][]string {
	set := make(map[string]int) // of a lock
	of := make([][]string, h.Registers)
	var sets [][]string
	for i := range h.Accesses {
		a := &h.Accesses[i]
		on := &of[a.Register]
		for _, id := range a.Guards() {
			if name := h.LockOf(id); !slices.Contains(*on, name) {
				*on = append(*on, name)
			}
		}
	}
	for _, names := range of {
		if len(names) < 2 {
			continue
		}
		into := slices.IndexFunc(names, func(n string) bool { _, ok := set[n]; return ok })
		if into < 0 {
			sets = append(sets, nil)
			into = len(sets) - 1
		} else {
			into = set[names[into]]
		}
		for _, n := range names {
			if _, known := set[n]; !known {
				set[n] = into
				sets[into] = append(sets[into], n)
			}
		}
	}
	return sets
}

// Overtaken reports whether the resource had seen a larger token than one that an access shows, of those that it compares with it.
func (a *Access) Overtaken() bool {
	return a.Token < a.MaxToken || slices.ContainsFunc(a.With, func(s Shown) bool { return s.Token < s.MaxToken })
}

// Guards lists the acquisitions whose tokens an access shows, its own first.
func (a *Access) Guards() []ID {
	list := []ID{a.Acquisition}
	for _, s := range a.With {
		list = append(list, s.Acquisition)
	}
	return list
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
