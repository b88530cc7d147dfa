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
		ask:      "Efficiency: is it acceptable that work is done twice now and then?",
		property: checker.MutualExclusion, columns: []string{noFaults}, also: recovers, better: cheaper,
		some: "Take the cheapest lock that excludes others while nothing fails and that a dead holder does not block forever.",
		none: "None of these excludes others even while nothing fails.",
	},
	{
		ask:      "Correctness: must work never be done twice, while the resource accepts every write?",
		property: checker.Resource, columns: withoutOverrun(),
		some: "These never admitted a late write in anything that was tried.",
		none: "No lock does that by itself: each admits a late write under some fault. Have the resource check a token.",
	},
	{
		ask:      "Correctness, and the resource checks a token with every read and write, in one step?",
		property: checker.Resource, mode: history.FencedReadWrite,
		some: "Take one whose token never repeats or goes back; the resource then refuses late writes.",
		none: "No token of these locks is sufficient: each repeats or goes back under some fault.",
	},
	{
		ask:      "Correctness, and the resource checks a token with writes only?",
		property: checker.Resource, mode: history.FencedWrite,
		some: "With these locks that was sufficient.",
		none: "That is not sufficient: a write with the older token that arrives first is accepted, and what the newer holder has read is stale.",
	},
	{
		ask:      "Correctness, and a gateway checks the token before the write, in two steps?",
		property: checker.Resource, mode: history.CheckThenWrite,
		some: "With these locks that was sufficient.",
		none: "That is not sufficient: a client that is paused between the check and the write is not stopped.",
	},
	{
		ask:      "Correctness, and the resource compares a unique value that the holder has registered?",
		property: checker.Resource, mode: history.TokenEquality,
		some: "That needs no counter, only values that are never drawn twice.",
		none: "With none of these locks that was sufficient.",
	},
	{
		ask:      "Correctness, and the resource compares versions, and sets?",
		property: checker.Resource, mode: history.CompareAndSet, also: recovers, better: cheaper,
		some: "The resource protects itself under any of these; the lock only saves work that would be refused. Take a cheap one.",
		none: "With none of these locks that was sufficient.",
	},
	{
		ask:      "Correctness, and the data live on the lock's own servers?",
		property: checker.Resource, guarded: true,
		some: "Have the servers accept each write in one step with the proof of the lock; nothing else has to check.",
		none: "With none of these locks that was sufficient.",
	},
	{
		ask:      "Must other clients continue soon after a holder dies, whether its process or its machine?",
		property: checker.MutualExclusion, columns: []string{noFaults}, also: recovers, better: sooner,
		some: "Take a lock that the servers release by themselves; the shorter the lease, the sooner.",
		none: "None of these is released when its holder dies.",
	},
	{
		ask:      "Is it unknown how long the work takes?",
		property: checker.MutualExclusion, columns: []string{overruns},
		some: "Take a lock that is renewed while its holder lives.",
		none: "Long work outlasts all of these.",
	},
	{
		ask:      "Can processes pause: garbage collection, an overloaded machine, a virtual machine that migrates?",
		property: checker.MutualExclusion, columns: []string{"client-pause"}, also: recovers,
		some: "These maintained mutual exclusion.",
		none: "No lock that a dead holder loses maintains mutual exclusion then: a paused client does not notice its loss. Have the " +
			"resource check a token.",
	},
	{
		ask:      "Can clocks jump or drift?",
		property: checker.MutualExclusion, columns: []string{"client-clock", "server-ahead", "server-back", "drift"}, also: recovers,
		some: "Take a lock whose time is measured with monotonic clocks.",
		none: "Each of these is broken by one clock or another.",
	},
	{
		ask:      "Can servers lose data: a restart, a power loss, eviction?",
		property: checker.MutualExclusion, columns: []string{"server-crash", "power-loss", "evict"}, also: recovers,
		some: "Take a lock whose servers persist what they grant, on more disks than can be lost at once.",
		none: "Each of these loses a holder in one of these ways, as it was deployed here.",
	},
	{
		ask:      "Can another server take over?",
		property: checker.MutualExclusion, columns: []string{"failover", "partition", "lag"}, also: recovers,
		some: "Take a lock whose servers agree before they grant.",
		none: "With each of these a grant can be lost on the way to the next server.",
	},
	{
		ask:      "Can the network fail or be slow?",
		property: checker.MutualExclusion, columns: []string{"cut", "stall", "delay", "break", "error", "session-cut", "end-session"}, also: recovers,
		some: "These maintained mutual exclusion.",
		none: "No lock that a dead holder loses maintains mutual exclusion then, for clients of this style: a client that is cut off " +
			"still believes that it holds. Have the resource check a token.",
	},
}

// withoutOverrun is every column of a single kind of faults, and the one without.
func withoutOverrun() []string {
	return slices.DeleteFunc(ColumnNames(), func(name string) bool { return name == overruns || name == allFaults })
}

// recovers says that a dead holder does not keep the lock forever.
func recovers(l *Lock) bool {
	return l.NeverAfter == 0 && l.NeverAfterPowerLoss == 0 && l.AfterCrash.Count > 0
}

func cheaper(a, b *Lock) int {
	return cmp.Or(cmp.Compare(a.Messages, b.Messages), cmp.Compare(a.RoundTrips, b.RoundTrips))
}

func sooner(a, b *Lock) int {
	return cmp.Compare(max(a.AfterCrash.P50, a.AfterPowerLoss.P50), max(b.AfterCrash.P50, b.AfterPowerLoss.P50))
}
