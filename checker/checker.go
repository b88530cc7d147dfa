// Package checker turns a history into verdicts. Call [Check].
//
// Every property stands in a file of its own together with its danger: what must have happened for the property to
// have been at risk. A property that held without having been in danger is [Vacuous], not [Held].
//
// Two judges look at the two properties that need a search, exclusion of beliefs and the resource: a fast one of our
// own and porcupine, a linearizability checker. They must agree; if they do not the checker panics, since only a
// mistake in it can be the cause.
//
// Stability: the API of this package keeps working within a major version; properties may be added.
package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Options configures a check.
type Options struct {
	// ProgressWithin is how long somebody may wait before somebody acquires; 0 leaves progress and availability
	// unjudged.
	ProgressWithin time.Duration
	// Lease is the life of a lease or a session in true time, on the slowest clock, by which leak and silent-loss
	// measure what is late; 0 leaves them unjudged.
	Lease time.Duration
	// Lingers is for how long what was granted stands after a release, as documented of the lock: nothing, or a lease.
	Lingers time.Duration
	// Load bounds the requests of a client; its zero value leaves load unjudged.
	Load Load
	// Sample makes porcupine judge this history even if it is long and the interval scan accepted it.
	Sample bool
	_      struct{}
}

// Bounds of what porcupine is asked, and of what is told. Its search is exponential at worst, so a bound keeps every
// check short: the fast judges see all of every history.
const (
	alwaysSections   = 20    // up to this many sections porcupine judges every history
	accusedSections  = 200   // up to this many it judges a resource that the fast judge accuses
	sampledSections  = 2_000 // up to this many it judges a sample
	accusedAtOnce    = 10    // sections under way at once, in an accused history: the search is exponential in these
	toldOfOneProblem = 100   // violations of one property that are told; double-holders counts them all
)

// Check judges a history under every property. It panics if the history is not [history.History.Valid]. A caller that has many
// to check uses a [Checker].
func Check(h *history.History, o Options) Report { return new(Checker).Check(h, o) }

// Checker checks one history after another and keeps the memory that it needs for it. The zero value is ready.
type Checker struct{ judge judge }

// Check is the function of that name. The report is the caller's to keep.
func (c *Checker) Check(h *history.History, o Options) Report {
	if err := h.Valid(); err != nil {
		panic("checker: not a valid history: " + err.Error())
	}
	if names := h.Locks(); len(names) > 1 {
		return c.several(h, o, names)
	}
	return c.one(h, o, nil)
}

// one checks a history of one lock. If it is a part of another one, ids are the acquisitions by the numbers that they have in that.
func (c *Checker) one(h *history.History, o Options, ids []history.ID) Report {
	j := &c.judge
	*j = judge{h: h, o: o, ids: ids, room: j.room}
	j.misdeclared = j.authorityIsWrong()
	j.held, j.granted = j.beliefs(), j.grants()
	j.order = j.oldestFirst()
	j.newer = j.supersededFrom()
	j.mutualExclusion()
	j.listOverlaps()
	j.exclusionAtService()
	j.resource()
	j.fencingOrder()
	j.releaseSafety()
	j.progress()
	j.survival()
	j.leak()
	j.silentLoss()
	j.load()
	j.heedBound()
	j.measure()
	sortViolations(j.report.Violations)
	return j.report
}

func sortViolations(list []Violation) {
	slices.SortStableFunc(list, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Property, b.Property))
	})
}

// judge is one check under way.
type judge struct {
	h           *history.History
	o           Options
	report      Report
	ids         []history.ID       // see one
	told        [PropertyCount]int // how many violations there were to tell
	held        intervals          // beliefs
	granted     intervals          // grants
	double      overlaps           // among held
	misdeclared bool               // see authorityIsWrong
	order       []int              // acquisitions, by the moment their clients were told that they hold
	deadlocks   []Deadlock         // of several locks
	newer       []trace.Instant    // by acquisition: when the first access of a newer acquisition arrived
	room        room
}

// Reasons why a property was not judged, or was judged in vain.
var vacuousReasons = [PropertyCount]string{
	MutualExclusion:    "nobody else asked for the lock while somebody believed to hold it",
	ExclusionAtService: "nobody else's request was executed while a grant was running",
	Resource:           "no access arrived after the first access of a newer acquisition",
	FencingOrder:       "fewer than two acquisitions were given a token",
	ReleaseSafety:      "no release was executed where somebody else had the lock",
	Progress:           "nobody had to wait for another holder or a fault",
	Availability:       "nobody waited during a fault",
	Survival:           "no program was asked for the lock",
	Leak:               "nobody else wanted the lock after a release or a failed acquisition",
	SilentLoss:         "nobody held the lock for longer than a lease and could be told of a loss",
	RequestLoad:        "nobody waited, or held the lock, for a second",
}

const (
	noAuthority    = "no authority declared"
	wrongAuthority = "the declared authority never had the lock's key"
	noTokens       = "no token handed out"
	noGrantedToken = "no grant handed out a token"
	noPrograms     = "the lock is no program's"
)

// conclude sets the verdict of a property that was judged.
func (j *judge) conclude(p Property, violated bool, dangers int) {
	j.report.Dangers[p] = dangers
	switch {
	case violated:
		j.report.Verdicts[p] = Violated
	case dangers > 0:
		j.report.Verdicts[p] = Held
	default:
		j.report.Verdicts[p] = Vacuous
		j.report.Reasons[p] = vacuousReasons[p]
	}
}

// pass says why a property is not judged.
func (j *judge) pass(p Property, reason string) {
	j.report.Verdicts[p] = NotJudged
	j.report.Reasons[p] = reason
}

// passUnobserved passes over a property that is about the grants, where they are not known: nobody declared whose word
// makes a grant, or the declaration is wrong. It reports whether it did.
func (j *judge) passUnobserved(p Property) bool {
	switch {
	case !j.h.HasAuthority:
		j.pass(p, noAuthority)
	case j.misdeclared:
		j.pass(p, wrongAuthority)
	default:
		return false
	}
	return true
}

// inferred reports whether beliefs are known only from what clients did: when they asked for the lock, and whether they have released it, is
// not known.
func (j *judge) inferred() bool {
	return !j.h.Logged && slices.ContainsFunc(j.h.Acquisitions, func(a history.Acquisition) bool { return a.Unended })
}

const saysNothing = "a program does not say when it asks for the lock and when it releases it"

// authorityIsWrong reports whether clients acquired a lock of which the servers that were declared to be its authority
// never knew anything: an empty list of grants then says nothing of the lock.
func (j *judge) authorityIsWrong() bool {
	h := j.h
	return h.HasAuthority && len(h.Grants) == 0 && len(h.Copies) == 0 &&
		slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool { return a.Outcome == history.OK })
}

func (j *judge) accuse(v Violation) {
	j.told[v.Property]++
	if j.told[v.Property] <= toldOfOneProblem {
		j.report.Violations = append(j.report.Violations, v)
	}
}

// heedBound takes back what a run cut short by a bound, or by the scenario's end, cannot say: what it showed to be broken
// stays broken, what held so far may have been broken later.
func (j *judge) heedBound() {
	reason := j.h.Cut
	if j.h.Bound != "" {
		reason = "the bound on " + j.h.Bound + " was reached"
	}
	if reason == "" {
		return
	}
	for p, v := range j.report.Verdicts {
		if v == Held || v == Vacuous {
			j.report.Verdicts[p] = Undecided
			j.report.Reasons[p] = reason
		}
	}
}
