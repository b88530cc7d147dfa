package search

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// told is the key that a program is told to use while it is watched: no program has it in its text.
const told = "locksim-key-3f1c"

// mostWords is of how many words of a program's requests it is tried whether they are the lock's key.
const mostWords = 8

// usual is the life of leases that a program is told while it is watched: one that hardly any has in its text.
const usual = 7 * time.Second

// Learn watches the lock of a program on several servers, alone and without faults, and returns what can be seen of it: which key
// makes a holder, whether one server decides or most of them, how long a lease lives if that is not what the program is told, and
// whether there are fencing tokens, deadlines and renewals. What cannot be seen, since the program never gets the lock, stays as
// it is. When the context is done, what is seen so far counts.
func Learn(ctx context.Context, lock locks.Algorithm) locks.Algorithm {
	if !scenarios.Kind(lock.Backend()).Facts().Has(backend.Masters) {
		return lock
	}
	lock.Authority = locks.Majority
	h, words := watch(ctx, &lock, 2, usual/10)
	if len(h.Acquisitions) == 0 || h.Acquisitions[0].Outcome != history.OK {
		return lock
	}
	for _, word := range words[:min(len(words), mostWords)] {
		if agree(h) {
			break
		}
		other := lock
		other.Authority = locks.OneNode // the first server
		other.Key = func(o locks.Options) string { return strings.ReplaceAll(word, told, o.Key) }
		if seen, _ := watch(ctx, &other, 2, usual/10); agree(seen) {
			lock, h = other, seen
		}
	}
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		lock.Token = lock.Token || a.Token != 0
		if a.HasDeadline && lock.Deadline == locks.NoClock {
			lock.Deadline = locks.OnMonotonic
		}
	}
	if !agree(h) || len(h.Copies) == 0 {
		return lock
	}
	life := usual
	if c := &h.Copies[0]; c.Expires != trace.Never {
		if d := c.Expires.Sub(c.From); d < usual/10*9 || d > usual/10*11 {
			lock.Life, life = d, d
		}
	}
	held, _ := watch(ctx, &lock, 1, 3*life)
	lock.Renews = lock.Lease && agree(held) && slices.ContainsFunc(held.Grants, func(g history.Grant) bool { return g.To.Sub(g.From) > life })
	return lock
}

// watch plays one client that takes the lock so many times, and holds it for so long. It returns its history and the words of its
// requests that contain the key.
func watch(ctx context.Context, lock *locks.Algorithm, sections int, work time.Duration) (*history.History, []string) {
	s := Generate(FromBytes(nil), FaultModel{Lock: lock.Name, Servers: lock.Backend(), Masters: []int{5}})
	s.Clients = []scenarios.Client{{
		Name: "a", Count: 1, Tasks: 1, Sections: sections, Wait: locks.Forever, Again: time.Second, Work: work,
	}}
	s.Lock.Key, s.Lock.TTL, s.Until = told, usual, time.Minute+time.Duration(sections)*work
	plan, err := harness.Compile(s.Cases()[0], harness.Options{Instead: lock})
	if err != nil {
		return &history.History{}, nil
	}
	r := harness.Runner{Stop: Until(ctx)}
	defer r.Close()
	result, err := r.Run(plan, s.Seed, true)
	if err != nil {
		return &history.History{}, nil
	}
	var words []string
	for i := range result.Events {
		if result.Events[i].Does != trace.Execute {
			continue
		}
		for _, word := range strings.Fields(result.Events[i].Detail) {
			if strings.Contains(word, told) && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return result.History, words
}

// agree reports whether all that was granted agrees with what the client was told: the key is there before Lock returns, and goes
// with Unlock.
func agree(h *history.History) bool {
	return len(h.Acquisitions) > 0 && Granted(h) == 2*len(h.Acquisitions)
}

// Granted counts in how many ways what was granted agrees with what the client was told.
func Granted(h *history.History) int {
	n := 0
	for i := range h.Grants {
		g := &h.Grants[i]
		a := h.Acquisition(g.Acquisition)
		if a == nil || a.Outcome != history.OK || g.From > a.Returned {
			continue
		}
		n++
		ends := g.To >= a.Unlocked && g.To <= a.Released
		if a.Unended { // its program does not say when it releases
			ends = g.To >= a.Seen
		}
		if ends && g.Ended == history.ByUnlock {
			n++
		}
	}
	return n
}
