package checker

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Property is something that a lock promises.
type Property uint8

// The properties.
const (
	MutualExclusion    Property = iota // beliefs of different acquisitions do not overlap
	ExclusionAtService                 // grants, as promised, do not overlap
	Resource                           // what the resource accepted is as if sections had run one after another
	FencingOrder                       // tokens grow in the order of the grants
	ReleaseSafety                      // no release ends another acquisition's grant
	Progress                           // while somebody waits, somebody acquires, once faults have healed
	Availability                       // the same during faults
	Survival                           // no client's program ends its process before its work is done
	Leak                               // what is released, or was not acquired, keeps nobody out
	SilentLoss                         // a lock that keeps its grant loses none without a fault, and none in silence
	RequestLoad                        // a client sends no more requests per second than the scenario allows
	PropertyCount
)

var propertyNames = []string{
	"mutual-exclusion", "exclusion-at-service", "resource", "fencing-order", "release-safety", "progress",
	"availability", "survival", "leak", "silent-loss", "load",
}

// String returns the name that scenarios use.
func (p Property) String() string { return propertyNames[p] }

// PropertyNames lists the properties.
func PropertyNames() []string { return slices.Clone(propertyNames) }

// ParseProperty is the inverse of String.
func ParseProperty(name string) (Property, bool) {
	i := slices.Index(propertyNames, name)
	return Property(max(i, 0)), i >= 0
}

// Verdict says whether a property held in one run.
type Verdict uint8

// The verdicts.
const (
	NotJudged Verdict = iota // there is nothing to judge by: no token, no authority, no bound
	Held                     // it held, and had been in danger
	Violated                 // it did not hold
	Vacuous                  // it held, but the danger never arose
	Undecided                // a bound was hit, or the checker gave up: "unknown"
	NotSeen                  // it was not violated in this run of a program, which another run of the same schedule may do
)

// VerdictCount is the number of verdicts.
const VerdictCount = int(NotSeen) + 1

var verdictNames = []string{"not-judged", "held", "violated", "vacuous", "unknown", "not-seen"}

// String returns the name that scenarios use.
func (v Verdict) String() string { return verdictNames[v] }

// Meets reports whether a verdict is the one that is expected, or as much of it as can be shown.
func (v Verdict) Meets(expected Verdict) bool {
	return v == expected || v == NotSeen && expected == Held
}

// Kept reports whether a property was not violated, as far as is known.
func (v Verdict) Kept() bool { return v == Held || v == Vacuous || v == NotSeen }

// VerdictNames lists the verdicts that a scenario can expect: a run that shows nothing is never as expected.
func VerdictNames() []string { return slices.Clone(verdictNames[:Undecided]) }

// ParseVerdict is the inverse of String.
func ParseVerdict(name string) (Verdict, bool) {
	i := slices.Index(verdictNames, name)
	return Verdict(max(i, 0)), i >= 0
}

// Violation is one way in which a property did not hold.
type Violation struct {
	Property     Property
	Kind         string // "double holder", "lost update", "torn section", "token went backwards", …
	At           trace.Instant
	Broken       Party        // whose promise was broken, as far as the history tells
	Server       string       // if a server broke it, that server …
	Gone         history.Gone // … and what became of the lock's key there; Kept if it did not have the key
	Acquisitions []history.ID // who took part, in the order of the story
	Text         string       // one sentence for a reader, with times
	Output       string       // the end of what a program wrote whose end it is; "" if it is of no program
	Lock         string       // of several locks the one whose promise it is about; "" if there is one, or it is about all
}

// Measure is a number that was observed: a count, or a time in nanoseconds.
type Measure struct {
	Name  string // ends in "-ns" for times
	Value int64
}

// Report is what the checker says of one history.
type Report struct {
	Verdicts   [PropertyCount]Verdict
	Dangers    [PropertyCount]int // how often each property was in danger
	Reasons    [PropertyCount]string
	Violations []Violation // in the order of their moments
	// Overlaps are all pairs of beliefs of a history from logs that overlapped, or that may have; nil of other histories.
	Overlaps []Overlap
	Measures []Measure // sorted by name

	// Of a history of several locks: what holds of each of them, in the order of [history.History.Locks], and who waited for each
	// other, in the order in which they began to. Nil if there is one lock.
	Locks     []LockReport
	Deadlocks []Deadlock
}

// LockReport is what the checker says of one of several locks. Properties that are about all of them, such as progress, are not
// judged in it.
type LockReport struct {
	Name     string
	Verdicts [PropertyCount]Verdict
	Dangers  [PropertyCount]int
	Reasons  [PropertyCount]string
}

// OfProgram returns the report of a run of a program that no seed makes do the same again: what held was not seen violated.
func (r Report) OfProgram() Report {
	for p, v := range r.Verdicts {
		if v == Held {
			r.Verdicts[p] = NotSeen
		}
	}
	return r
}
