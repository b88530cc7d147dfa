package model

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
)

// Runs of several locks. A client that holds or waits for one is then named with that lock, "a on x", so that each client has lanes of its own
// for every lock that it takes; what compares holders compares those of one lock. A run of one lock has no such names.

// onLock joins the name of a client or task with that of a lock. Neither name has blanks.
const onLock = " on "

// mostHoldersOfLocks is how many pairs of a client (or task) and a lock have lanes.
const mostHoldersOfLocks = 8

// locksOf lists the locks of runs if there are several, in the order in which they were first asked for.
func locksOf(runs []Run) []string {
	var names []string
	for i := range runs {
		for _, name := range runs[i].History.Locks() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

// Several reports whether a run is of several locks.
func (v *View) Several() bool { return len(v.Scope.Locks) > 0 }

// OnLock names somebody together with a lock, if there are several.
func (s *Scope) OnLock(who, lock string) string {
	if len(s.Locks) == 0 || lock == "" {
		return who
	}
	return who + onLock + lock
}

// holder names who asks for a lock.
func (s *Scope) holder(a *history.Acquisition) string {
	return s.OnLock(s.Name(a.Client, a.Task), a.Lock)
}

// mostHolders is how many holders have lanes.
func (s *Scope) mostHolders() int {
	if len(s.Locks) > 0 {
		return mostHoldersOfLocks
	}
	return maxHolders
}

// LaneHolder is whose lanes show what concerns a client or one of its tasks, whichever of its locks it is about: the first that it
// has, or its own name.
func (s *Scope) LaneHolder(who string) string {
	if i := slices.IndexFunc(s.Holders, func(h string) bool { return strings.HasPrefix(h, who+onLock) }); i >= 0 && len(s.Locks) > 0 {
		return s.Holders[i]
	}
	return who
}

// Turn is whose turn among the colours a holder has: a client has one for all of its locks.
func (s *Scope) Turn(holder int) int {
	var clients []string
	for _, who := range s.Holders[:holder+1] {
		if c := ClientOf(who); !slices.Contains(clients, c) {
			clients = append(clients, c)
		}
	}
	return slices.Index(clients, ClientOf(s.Holders[holder]))
}

// ClientOf is the name of a client or task without that of a lock.
func ClientOf(who string) string {
	name, _, _ := strings.Cut(who, onLock)
	return name
}

// Wait is a time during which somebody waits for a lock.
type Wait struct {
	history.Wait
	Who string
}

// waitsOf lists the waits of a run. Of several locks each has its own, since it is one of them that a client waits for.
func (s *Scope) waitsOf(h *history.History) []Wait {
	var list []Wait
	if len(s.Locks) == 0 {
		for _, w := range h.Waits {
			list = append(list, Wait{w, s.Name(w.Client, w.Task)})
		}
		return list
	}
	for _, lock := range h.Locks() {
		part, _ := h.Of(lock)
		for _, w := range part.Waits {
			list = append(list, Wait{w, s.OnLock(s.Name(w.Client, w.Task), lock)})
		}
	}
	return list
}

// LockNames are the locks of a run whose lanes are drawn for each: "" alone if there is one.
func (s *Scope) LockNames() []string {
	if len(s.Locks) == 0 {
		return []string{""}
	}
	return s.Locks
}

// IsOf reports whether an acquisition is of a lock; "" is any. What is of no acquisition is of none in particular.
func (v *View) IsOf(id history.ID, lock string) bool {
	return lock == "" || v.History.LockOf(id) == lock
}
