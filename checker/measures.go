package checker

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// MeasureDoc says what a measure is.
type MeasureDoc struct {
	Name string // ends in "-ns" for times, which are in nanoseconds
	Doc  string
}

// Measures lists what is measured, sorted by name. A report has those that mean something for its history.
func Measures() []MeasureDoc {
	docs := make([]MeasureDoc, len(measures))
	for i, m := range measures {
		docs[i] = m.MeasureDoc
	}
	return docs
}

// measures is sorted by name. A measure's function says false where the measure means nothing.
var measures = []struct {
	MeasureDoc
	of func(*judge) (int64, bool)
}{
	{MeasureDoc{"acquire-latency-max-ns", "the longest successful call of Lock"}, (*judge).longestAcquire},
	{MeasureDoc{"acquisitions", "calls of Lock that succeeded"}, (*judge).acquired},
	{MeasureDoc{"acted-outside-belief", "accesses that arrived at the resource outside their client's belief"},
		(*judge).actedOutsideBelief},
	{MeasureDoc{"current-holder-refused", "accesses of the newest holder refused because its token was smaller than " +
		"one seen before"}, (*judge).currentHolderRefused},
	{MeasureDoc{"deadlocks", "how often clients that each hold one of several locks waited for each other"}, (*judge).deadlocked},
	{MeasureDoc{"double-holders", "pairs of overlapping beliefs"}, (*judge).doubleHolders},
	{MeasureDoc{"next-holder-after-crash-ns", "the longest time from a holder's crash until Lock next succeeded"},
		(*judge).nextAfterCrash},
	{MeasureDoc{"overlap-max-ns", "the longest overlap of two beliefs"}, (*judge).longestOverlap},
	{MeasureDoc{"overlap-total-ns", "the time during which more than one believed to hold"}, (*judge).totalOverlap},
	{MeasureDoc{"overtakes-max", "the most waits that began later than one and were served before it"},
		(*judge).mostOvertakes},
	{MeasureDoc{"refusals", "calls of Lock that returned without the lock"}, (*judge).refused},
	{MeasureDoc{"refused-writes", "writes that the resource refused"}, (*judge).refusedWrites},
	{MeasureDoc{"releases-misreported", "calls of Unlock that said that the lock was not held although they ended their " +
		"own grant, or success although they ended nothing; an error says neither"}, (*judge).misreported},
	{MeasureDoc{"releases-of-others", "executed releases that ended another acquisition's grant, if its promise was not over"},
		(*judge).releasesOfOthers},
	{MeasureDoc{"requests", "requests that the lock's code sent to its servers"}, (*judge).requests},
	{MeasureDoc{"stale-effects-serialisable", "writes accepted after the first access of a newer acquisition that did " +
		"no damage"}, (*judge).harmlessStaleWrites},
	{MeasureDoc{"unfinished-waits", "waits that had not ended when the run did"}, (*judge).unfinished},
	{MeasureDoc{"unknown-acquires", "calls of Lock that may have succeeded at the servers, and whose caller cannot know"},
		(*judge).unknown},
	{MeasureDoc{"wait-max-ns", "the longest wait for the lock, over all its attempts"}, (*judge).longestWait},
	{MeasureDoc{"wait-mean-ns", "the mean of the waits for the lock that ended with it"}, (*judge).meanWait},
	{MeasureDoc{"wake-ups", "messages with which servers told clients of something unasked"}, (*judge).wakeUps},
}

func (j *judge) measure() {
	j.report.Measures = make([]Measure, 0, len(measures))
	for i := range measures {
		if value, ok := measures[i].of(j); ok {
			j.report.Measures = append(j.report.Measures, Measure{measures[i].Name, value})
		}
	}
}

func count[T any](list []T, is func(*T) bool) int64 {
	n := int64(0)
	for i := range list {
		if is(&list[i]) {
			n++
		}
	}
	return n
}

func (j *judge) countOutcomes(o history.Outcome) (int64, bool) {
	return count(j.h.Acquisitions, func(a *history.Acquisition) bool { return a.Outcome == o }), true
}

func (j *judge) acquired() (int64, bool) { return j.countOutcomes(history.OK) }
func (j *judge) refused() (int64, bool)  { return j.countOutcomes(history.Failed) }
func (j *judge) unknown() (int64, bool)  { return j.countOutcomes(history.Unknown) }

func (j *judge) longestAcquire() (int64, bool) {
	longest, found := trace.Instant(0), false
	for i := range j.h.Acquisitions {
		if a := &j.h.Acquisitions[i]; a.Outcome == history.OK && (j.h.Logged || !a.Unasked) {
			longest, found = max(longest, a.Returned-a.Invoked), true
		}
	}
	return int64(longest), found
}

func (j *judge) doubleHolders() (int64, bool)  { return int64(j.double.pairs), true }
func (j *judge) longestOverlap() (int64, bool) { return int64(j.double.longest), true }
func (j *judge) totalOverlap() (int64, bool)   { return int64(j.double.total), true }

// observed reports whether the grants and what ended them are known.
func (j *judge) observed() bool { return j.h.HasAuthority && !j.misdeclared }

func (j *judge) usesResource() bool { return len(j.h.Accesses) > 0 }

func (j *judge) actedOutsideBelief() (int64, bool) {
	return count(j.h.Accesses, func(a *history.Access) bool {
		return a.Applied != trace.Never && !j.believes(a.Acquisition, a.Applied)
	}), j.usesResource()
}

// believes reports whether an acquisition's client thinks that it holds because of it.
func (j *judge) believes(id history.ID, at trace.Instant) bool {
	b, ok := j.h.Acquisition(id).Belief()
	return ok && b.From <= at && at < b.To
}

func (j *judge) refusedWrites() (int64, bool) {
	return count(j.h.Accesses, func(a *history.Access) bool {
		return a.Op == history.Write && a.Applied != trace.Never && !a.Accepted
	}), j.usesResource()
}

func (j *judge) currentHolderRefused() (int64, bool) {
	return count(j.h.Accesses, func(a *history.Access) bool {
		refused := a.Applied != trace.Never && !a.Accepted && a.Overtaken()
		return refused && j.believes(a.Acquisition, a.Applied) && j.newestAt(a.Applied) == a.Acquisition
	}), j.usesResource() && j.h.HasTokens && j.h.Fencing.NeedsToken()
}

// newestAt returns the acquisition whose client was told last, by that moment, that it holds the lock.
func (j *judge) newestAt(at trace.Instant) history.ID {
	told, _ := slices.BinarySearchFunc(j.order, at+1, func(k int, t trace.Instant) int {
		return cmp.Compare(j.h.Acquisitions[k].Returned, t)
	})
	for _, k := range slices.Backward(j.order[:told]) {
		if a := &j.h.Acquisitions[k]; a.Outcome == history.OK {
			return a.ID
		}
	}
	return 0
}

func (j *judge) harmlessStaleWrites() (int64, bool) {
	return count(j.h.Accesses, func(a *history.Access) bool {
		return a.Op == history.Write && a.Accepted && j.isStale(a)
	}), j.report.Verdicts[Resource] == Held
}

func (j *judge) misreported() (int64, bool) {
	if !j.observed() {
		return 0, false
	}
	n := len(j.h.Acquisitions) + 1
	ended := sized(&j.room.reported, 2*n)
	endedOwn, endedAny := ended[:n], ended[n:]
	for i := range j.h.Grants {
		if g := &j.h.Grants[i]; g.Ended == history.ByUnlock {
			endedAny[g.Acquisition] = true
		}
	}
	for i := range j.h.Removals {
		r := &j.h.Removals[i]
		endedOwn[r.By] = endedOwn[r.By] || !r.Stale && endedAny[r.By] // a server that had lost the key had nothing to end
	}
	for i := range j.h.Copies { // a server whose clock is slow keeps a key for longer than it was granted: to delete that is no mistake
		c := &j.h.Copies[i]
		stood := func(g history.Grant) bool {
			return g.Acquisition == c.Acquisition && c.From <= g.From && g.From < c.To
		}
		a := j.h.Acquisition(c.Acquisition)
		if a != nil && c.Gone == history.Deleted && a.Unlocked <= c.To && c.To <= a.Released && slices.ContainsFunc(j.h.Grants, stood) {
			endedAny[a.ID] = true
		}
	}
	for i := range j.h.Removals {
		if r := &j.h.Removals[i]; r.Ended != 0 {
			endedAny[r.By] = true
		}
	}
	return count(j.h.Acquisitions, func(a *history.Acquisition) bool {
		return a.Release == history.Failed && endedOwn[a.ID] || a.Release == history.OK && !endedAny[a.ID]
	}), true
}

func (j *judge) releasesOfOthers() (int64, bool) {
	return count(j.h.Removals, func(r *history.Removal) bool { return r.Ended != 0 && !r.Again && !j.promiseOver(r) }), j.observed()
}

func (j *judge) nextAfterCrash() (int64, bool) {
	longest, found := trace.Instant(0), false
	for i := range j.h.Acquisitions {
		b, ok := j.h.Acquisitions[i].Belief()
		if !ok || b.Ended != history.ByCrash {
			continue
		}
		if next := j.acquiredAfter(b.To); next != trace.Never {
			longest, found = max(longest, next-b.To), true
		}
	}
	return int64(longest), found
}

// acquiredAfter returns when Lock first succeeded after a moment.
func (j *judge) acquiredAfter(at trace.Instant) trace.Instant {
	for _, k := range j.order {
		if a := &j.h.Acquisitions[k]; a.Outcome == history.OK && a.Returned > at {
			return a.Returned
		}
	}
	return trace.Never
}

func (j *judge) unfinished() (int64, bool) {
	return count(j.h.Waits, func(w *history.Wait) bool { return w.Ended == history.StillWaiting }), len(j.h.Waits) > 0
}

func (j *judge) longestWait() (int64, bool) {
	longest := trace.Instant(0)
	for i := range j.h.Waits {
		longest = max(longest, min(j.h.Waits[i].To, j.h.End)-j.h.Waits[i].From)
	}
	return int64(longest), len(j.h.Waits) > 0
}

// mostOvertakes goes through the waits in the order of their ends, and asks for each how many have been served that
// began later.
func (j *judge) mostOvertakes() (int64, bool) {
	waits := j.h.Waits
	order := indices(&j.room.byEnd, len(waits))
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(waits[a].To, waits[b].To), cmp.Compare(waits[a].From, waits[b].From), a-b)
	})
	most := 0
	var served []trace.Instant // when the waits began that have been served, sorted
	for _, k := range order {
		at, _ := slices.BinarySearch(served, waits[k].From+1)
		most = max(most, len(served)-at)
		if waits[k].Ended == history.GotIt {
			served = slices.Insert(served, at, waits[k].From)
		}
	}
	return int64(most), len(waits) > 0
}

// requests and wake-ups are counted by the package that runs the servers; a history that has no requests was not counted.
func (j *judge) requests() (int64, bool) { return int64(j.h.Requests), j.h.Requests > 0 }

func (j *judge) wakeUps() (int64, bool) { return int64(j.h.WakeUps), j.h.Requests > 0 }

func (j *judge) meanWait() (int64, bool) {
	total, n := int64(0), int64(0)
	for i := range j.h.Waits {
		if w := &j.h.Waits[i]; w.Ended == history.GotIt {
			total += int64(w.To.Sub(w.From))
			n++
		}
	}
	return total / max(n, 1), n > 0
}
