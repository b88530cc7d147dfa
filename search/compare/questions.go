package compare

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// question is one row of the decision table. What answers it is measured: a lock does if it was not violated in any of the
// columns, and was in danger in one of them at least.
type question struct {
	ask      string
	property checker.Property
	mode     history.Fencing
	guarded  bool                 // the resource lives on the lock's own servers
	columns  []string             // all if empty
	also     func(*Lock) bool     // what else is asked of a lock; nil: nothing
	better   func(a, b *Lock) int // which of those that do is the better choice; nil: the less often violated one
	some     string               // the answer if there are such locks
	none     string               // the answer if there are none
}

// questions are those that the well-known texts ask: Kleppmann, "How to do distributed locking" (2016), tells a lock for
// efficiency from one for correctness, and wants a fencing token for the latter; Sanfilippo, "Is Redlock safe?" (2016),
// answers with a unique value that the resource compares; the Redis documentation names persistence and clocks.
var questions = []question{
	{
		ask:      "Efficiency: may work be done twice now and then, at little cost?",
		property: checker.MutualExclusion, columns: []string{noFaults}, also: recovers, better: cheaper,
		some: "Take the cheapest that keeps two apart while nothing goes wrong, and that a dead holder does not block for ever.",
		none: "None of these keeps two apart even while nothing goes wrong.",
	},
	{
		ask:      "Correctness: must it never be done twice, and the resource takes whatever comes?",
		property: checker.Resource, columns: withoutOverrun(),
		some: "These never let a write through that came too late, in whatever was tried.",
		none: "No lock does that by itself: each lets a late write through under some fault. Have the resource check.",
	},
	{
		ask:      "Correctness, and the resource checks a token with every read and write, in one step?",
		property: checker.Resource, mode: history.FencedReadWrite,
		some: "Take one whose token never repeats or goes back; the resource then refuses who comes too late.",
		none: "Of these no lock's token is good for that: it repeats or goes back under some fault.",
	},
	{
		ask:      "Correctness, and the resource checks a token with writes only?",
		property: checker.Resource, mode: history.FencedWrite,
		some: "With these that was enough.",
		none: "That is not enough: a write that comes first with the older token passes, and what the newer holder had read is stale.",
	},
	{
		ask:      "Correctness, and a gateway checks the token before the write, in two steps?",
		property: checker.Resource, mode: history.CheckThenWrite,
		some: "With these that was enough.",
		none: "That is not enough: who stands still between the check and the write is not stopped.",
	},
	{
		ask:      "Correctness, and the resource compares a unique value that the holder has registered?",
		property: checker.Resource, mode: history.TokenEquality,
		some: "That needs no counter, only values that are never drawn twice.",
		none: "With none of these that was enough.",
	},
	{
		ask:      "Correctness, and the resource compares versions, and sets?",
		property: checker.Resource, mode: history.CompareAndSet, also: recovers, better: cheaper,
		some: "The resource protects itself, under any of these; the lock saves work that would be refused. Take a cheap one.",
		none: "With none of these that was enough.",
	},
	{
		ask:      "Correctness, and the data live on the lock's own servers?",
		property: checker.Resource, guarded: true,
		some: "Have the servers take each write in one step with the proof of the lock; nothing else has to check.",
		none: "With none of these that was enough.",
	},
	{
		ask:      "Must others go on soon when a holder dies, be it the process or its machine?",
		property: checker.MutualExclusion, columns: []string{noFaults}, also: recovers, better: sooner,
		some: "Take one that the servers take back by themselves; the shorter the lease, the sooner.",
		none: "None of these is taken back from the dead.",
	},
	{
		ask:      "Is it unknown how long the work takes?",
		property: checker.MutualExclusion, columns: []string{overruns},
		some: "Take one that is prolonged while its holder lives.",
		none: "All of these are outlasted by long work.",
	},
	{
		ask:      "May processes stand still: garbage collection, a busy machine, a virtual one that moves?",
		property: checker.MutualExclusion, columns: []string{"client-pause"}, also: recovers,
		some: "These kept two apart.",
		none: "None that gives up on the dead keeps two apart then, since who stands still does not hear of its loss. Have the resource " +
			"check a token.",
	},
	{
		ask:      "May clocks jump or run off?",
		property: checker.MutualExclusion, columns: []string{"client-clock", "server-ahead", "server-back", "drift"}, also: recovers,
		some: "Take one whose servers measure time by a clock that does not jump.",
		none: "Each of these is broken by one clock or another.",
	},
	{
		ask:      "May servers forget: a restart, a power loss, eviction?",
		property: checker.MutualExclusion, columns: []string{"server-crash", "power-loss", "evict"}, also: recovers,
		some: "Take one whose servers keep what they grant, on more disks than can be lost at once.",
		none: "Each of these forgets a holder one way or another, as it was deployed here.",
	},
	{
		ask:      "May another server take over?",
		property: checker.MutualExclusion, columns: []string{"failover", "partition", "lag"}, also: recovers,
		some: "Take one whose servers agree before they grant.",
		none: "With each of these a grant can be lost on the way to the next server.",
	},
	{
		ask:      "May the network lose touch, or be late?",
		property: checker.MutualExclusion, columns: []string{"cut", "stall", "delay", "break", "error", "session-cut", "end-session"}, also: recovers,
		some: "These kept two apart.",
		none: "None that gives up on the dead keeps two apart then, for clients of this style: who is cut off believes on. Have the " +
			"resource check a token.",
	},
}

// withoutOverrun is every column of a single kind of faults, and the one without.
func withoutOverrun() []string {
	return slices.DeleteFunc(ColumnNames(), func(name string) bool { return name == overruns || name == allFaults })
}

// recovers says that a dead holder does not keep the lock for ever.
func recovers(l *Lock) bool {
	return l.NeverAfter == 0 && l.NeverAfterPowerLoss == 0 && l.AfterCrash.Count > 0
}

func cheaper(a, b *Lock) int {
	return cmp.Or(cmp.Compare(a.Messages, b.Messages), cmp.Compare(a.RoundTrips, b.RoundTrips))
}

func sooner(a, b *Lock) int {
	return cmp.Compare(max(a.AfterCrash.P50, a.AfterPowerLoss.P50), max(b.AfterCrash.P50, b.AfterPowerLoss.P50))
}
