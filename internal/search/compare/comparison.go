// Package compare measures locks side by side: how often each is violated under each kind of fault and each fencing mode,
// on the same schedules, and what each costs where nothing goes wrong. What it returns is data; package
// reports/comparison makes pages and tables of it.
//
// Call [Compare] with a [Plan]. [Check] plays a part of a published comparison again.
package compare

// Schema names the form of a [Comparison] as JSON.
const Schema = "locksim.compare/1"

// Comparison is what was measured of several locks. It is a function of its plan: not of the machine, nor of how many
// runs were played at once.
type Comparison struct {
	Schema     string   `json:"schema"`
	Runs       int      `json:"runs"`       // schedules of each cell
	First      uint64   `json:"first"`      // the number of the first one
	Confidence int      `json:"confidence"` // of the intervals, in percent
	Style      string   `json:"style"`      // of the clients: when they stop believing that they hold
	Network    string   `json:"network"`    // the model of latencies, in words
	Profile    []string `json:"profile"`    // what else the rates hang on: clients, leases, how faults are drawn; a sentence each
	Faults     []string `json:"faults"`     // columns of the matrix: "none" is the first, then each kind of faults by itself
	Meanings   []string `json:"meanings"`   // of the columns, a phrase each
	Fencing    []string `json:"fencing"`    // modes
	Locks      []Lock   `json:"locks"`      // rows
	// Cells come by lock, faults, property and fencing. Beliefs are judged without fencing: mutual exclusion has a cell in
	// the mode "none" alone, the resource in each mode.
	Cells []Cell `json:"cells"`
	// Guarded are cells of the resource where it lives on the lock's own servers, which take an access in one step with the
	// proof of the lock: of those locks that can do so, by lock and faults.
	Guarded []Cell   `json:"guarded,omitempty"`
	Advice  []Advice `json:"advice"`
	// Interrupted says that not all of it was played; cells say how much was.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Lock is what is known of one lock, and what it costs. Durations are virtual time, in nanoseconds, in the comparison's
// network; they are not to be held against those of a real one.
type Lock struct {
	Name    string `json:"name"`
	Servers string `json:"servers"` // their kind
	Summary string `json:"summary"`
	Status  string `json:"status,omitempty"` // why it is never advised: "published mistake", "superseded", "unavailable"
	// Library is which modules' code was played as it is, in which versions, divided by commas; "" of plain code of ours.
	Library string `json:"library,omitempty"`
	// Program says that it is the lock of a program of the operating system, which no seed makes do the same again.
	Program bool `json:"program,omitempty"`

	Latency    Quantiles `json:"latency"`     // of acquiring a free lock
	Messages   int64     `json:"messages"`    // that the lock sends and gets for one section, in thousandths
	RoundTrips int64     `json:"round_trips"` // one after another, until a free lock is acquired, in thousandths
	AfterCrash Quantiles `json:"after_crash"` // from the death of a holder until the next one holds; Count 0: nobody ever does
	NeverAfter int       `json:"never_after"` // of the runs with a crash, in how many nobody held any more
	// The same if it is not its process that dies but its machine, whose connections nobody closes.
	AfterPowerLoss      Quantiles `json:"after_power_loss"`
	NeverAfterPowerLoss int       `json:"never_after_power_loss"`
	Throughput          int64     `json:"throughput"`   // sections that read and write once, in a second of virtual time, under contention, in thousandths
	Contenders          int       `json:"contenders"`   // clients in that measurement
	Fairness            int64     `json:"fairness"`     // Jain's index of the contenders' sections, in thousandths
	LongestWait         int64     `json:"longest_wait"` // under contention, in nanoseconds

	Needs     []string `json:"needs"` // nodes, persistence, a bound on clocks
	Token     string   `json:"token"` // what it hands out as fencing token; "" if nothing
	Lasts     bool     `json:"lasts"` // a holder that works for longer than the lease keeps it, if nothing goes wrong
	Reentrant bool     `json:"reentrant"`
	Try       bool     `json:"try"`   // it can be asked for without waiting
	Guard     bool     `json:"guard"` // its servers can keep the protected data, too, and take a write with the proof of the lock
}

// Quantiles of what was measured so often.
type Quantiles struct {
	Count int   `json:"count"`
	P50   int64 `json:"p50"`
	P99   int64 `json:"p99"`
	Max   int64 `json:"max"`
}

// Outcome says what a cell came to.
type Outcome string

// The outcomes.
const (
	Violated   Outcome = "violated"
	Held       Outcome = "held"       // it was in danger, and often enough for that to mean something
	Seldom     Outcome = "seldom"     // not violated, but in danger in fewer than EnoughDanger runs
	NotSeen    Outcome = "not-seen"   // exposed and not violated in runs of a program, of which others may violate it
	Vacuous    Outcome = "vacuous"    // the danger never arose
	NotJudged  Outcome = "not-judged" // there was nothing to judge by
	Undecided  Outcome = "undecided"  // in every run something kept the checker from a verdict
	Impossible Outcome = "impossible" // these servers do not know such faults, or the lock has nothing for the mode to compare
)

// EnoughDanger is in how many runs a lock must have been in danger for anybody to say that it was not violated. Of a lock
// that fails in three of a hundred dangers, this many show it nineteen times out of twenty.
const EnoughDanger = 100

// Cell is what was measured of one lock under one kind of fault in one fencing mode.
type Cell struct {
	Lock     string  `json:"lock"`
	Faults   string  `json:"faults"`
	Fencing  string  `json:"fencing"`
	Property string  `json:"property"`
	Outcome  Outcome `json:"outcome"`
	Why      string  `json:"why,omitempty"` // of an impossible cell, or one that is not judged
	// Schedules tells on which schedules it was played: cells with the same number were played on the same ones. It is 0 if
	// it was not played.
	Schedules int `json:"schedules,omitempty"`

	Runs      int     `json:"runs"`
	Violated  int     `json:"violated"`
	InDanger  int     `json:"in_danger"`
	Undecided int     `json:"undecided"`
	Rate      float64 `json:"rate"`
	Least     float64 `json:"least"` // of the exact interval
	Most      float64 `json:"most"`
	// Sample is what came of its first few runs, by which a reader can check whether the comparison is still true.
	Sample *Sample `json:"sample,omitempty"`

	Kind    string   `json:"kind,omitempty"` // how it is violated first
	First   *uint64  `json:"first,omitempty"`
	Command string   `json:"command,omitempty"` // plays its counterexample
	Example *Example `json:"example,omitempty"`
}

// Sample is the beginning of what a cell counts.
type Sample struct {
	Runs     int `json:"runs"`
	Violated int `json:"violated"`
	InDanger int `json:"in_danger"`
}

// Example is a minimal scenario in which a cell's property is violated. Cells of one lock that it violates alike share it.
type Example struct {
	Name   string   `json:"name"`             // of its file, without an ending
	Cause  string   `json:"cause,omitempty"`  // what goes wrong in it, in a few words
	Digest string   `json:"digest,omitempty"` // of its run in the cell's fencing mode; a program has none
	Story  string   `json:"story"`
	Needs  []string `json:"needs"`
	// Faultless says that nothing goes wrong in it: the cell is red whatever its column.
	Faultless bool `json:"faultless,omitempty"`
}

// Advice is one row of the decision table.
type Advice struct {
	Question string   `json:"question"` // what the lock is for: efficiency or correctness, and what may happen
	Answer   string   `json:"answer"`
	Locks    []string `json:"locks"`   // that answer it
	Because  []string `json:"because"` // the cells that it follows from, in words
}
