// Package history holds the observations of one run, or of real clients on real servers: which clients
// requested the lock and when, which believed to hold it, what the lock service granted, and what the protected
// resource accepted. All moments are true time.
//
// An observer (the harness, a replay on real servers, a test) fills a [History], and package checker judges it.
// It has a text form, [History.String], of which [Parse] is the inverse.
//
// Belief, ground truth and effect are kept apart on purpose: an [Acquisition] records a client's belief, a
// [Grant] the lock that the service gave, an [Access] a request that reached the resource.
//
// Stability: the API of this package and the text form keep working within a major version.
package history

import (
	"math"
	"time"

	"github.com/locksim/locksim/trace"
)

// Style says when a client stops believing that it holds the lock.
type Style uint8

// The styles.
const (
	// Careless clients believe until they call Unlock or crash.
	Careless Style = iota
	// Attentive clients also stop when a notice of loss reaches the application.
	Attentive
	// Careful clients also stop when the lease's stated deadline passes on the clock that the lock uses, and
	// check it before each access.
	Careful
)

// Fencing is the fencing mode of the protected resource.
type Fencing uint8

// The fencing modes.
const (
	// Unfenced accepts every write.
	Unfenced Fencing = iota
	// CheckThenWrite makes a gateway compare the token, and write in a second step.
	CheckThenWrite
	// FencedWrite compares the token and writes in one step; reads are free.
	FencedWrite
	// FencedReadWrite compares and registers the token on reads too.
	FencedReadWrite
	// TokenEquality accepts a write only from the holder whose value was registered last.
	TokenEquality
	// CompareAndSet accepts a write if the version that was read is still current; it needs no lock.
	CompareAndSet
)

// Outcome says how an operation ended.
type Outcome uint8

// The outcomes.
const (
	Pending Outcome = iota // it had not ended by the end of the run
	OK                     // it was done
	Failed                 // it was certainly not done: another client held the lock, or the caller did not hold it
	Unknown                // it may have been done
	Refused                // it was certainly not done, for another reason: the server refused it or was not reached
)

// ID numbers an acquisition within a history, from 1; 0 is none.
type ID int

// Acquisition is one call of Lock and the belief that resulted from it.
type Acquisition struct {
	ID     ID
	Client string
	Task   int // number of the client's task over all lives of its process; 0 is the first
	Style  Style
	// Lock is the name of the lock that is asked for, in a history of several; "" if there is one.
	Lock string

	Invoked  trace.Instant // Lock was called
	Returned trace.Instant // Lock returned to the application; Never if it did not
	Outcome  Outcome       // OK begins a belief; nothing else does
	Said     string        // why Lock returned without the lock, in the words of a program's library; "" for other locks

	Value       string        // identifies the holder at the servers; "" if the lock has no owner
	Token       uint64        // fencing token; 0 if the lock has none
	HasDeadline bool          // the lease stated a deadline
	Deadline    trace.Instant // when it passes on the holder's own clock, in true time; Never if it does not
	CanLearn    bool          // the lease has a notice of loss
	Told        bool          // that notice, as its style hears it, had arrived when Unlock was called, or when the run ended

	// Unkept and Lease are for clients with different locks: this one does not keep its grants, see History.Keeps, and its lease
	// or session has this life; 0 is that of the checker's options.
	Unkept bool
	Lease  time.Duration
	// Late says that the client's application renews the lease, and later than it should: an end of the lease is its doing.
	Late bool

	// Of an acquisition that is known from a log. Its moments may be off in true time by up to Uncertainty, either way. Unasked:
	// the log does not say when Lock was called, and Invoked is Returned. Unended: it does not say when its client stopped; Seen is the
	// last moment at which it shows the client hold the lock, and by Latest that was over (Never if the log does not tell). Vague: it
	// says when Unlock had returned, which Unlocked is, and not when it was called; the client held the lock until Seen for certain.
	Uncertainty time.Duration
	Unasked     bool
	Unended     bool
	Vague       bool
	Seen        trace.Instant
	Latest      trace.Instant

	Noticed  trace.Instant // a notice of loss reached the application, or it saw that the deadline had passed; Never if not
	Unlocked trace.Instant // Unlock was called; Never if not
	Crashed  trace.Instant // the client's process died while this was its last acquisition; Never if not
	Ended    trace.Instant // the client's process ended, its work done; Never if it stayed up
	Released trace.Instant // Unlock returned; Never if not
	Release  Outcome       // what Unlock reported: OK, Failed (not held), Refused or Unknown
}

// Belief is the time during which the client of an acquisition believes to hold the lock: From included, To not.
type Belief struct {
	Acquisition *Acquisition
	From, To    trace.Instant
	Ended       Cause
}

// Cause says what ended a belief or a grant.
type Cause uint8

// The causes.
const (
	Open          Cause = iota // nothing did, until the run ended
	ByUnlock                   // Unlock was called (belief); a release was executed (grant)
	ByCrash                    // the client died
	ByNotice                   // a notice of loss arrived
	ByDeadline                 // the stated deadline passed (belief); the lease ended in true time (grant)
	BySessionLoss              // the session behind it rightfully expired (grant)
	Unseen                     // a log shows nothing of it after that moment (belief)
)

// Belief returns the acquisition's belief by the rule of its style; false if there is none, because Lock did
// not return success, or its deadline had already passed when it returned.
func (a *Acquisition) Belief() (Belief, bool) {
	if a.Outcome != OK {
		return Belief{}, false
	}
	if a.HasDeadline && a.Deadline <= a.Returned {
		return Belief{}, false
	}
	b := Belief{Acquisition: a, From: a.Returned, To: trace.Never}
	b.endAt(a.Unlocked, ByUnlock)
	b.endAt(a.Crashed, ByCrash)
	if a.Style == Careful || a.Style == Attentive && a.CanLearn {
		b.endAt(a.Noticed, ByNotice)
	}
	if a.Style == Careful && a.HasDeadline {
		b.endAt(a.Deadline, ByDeadline)
	}
	if a.Unended {
		b.endAt(max(a.Seen, a.Returned), Unseen)
	}
	return b, true
}

func (b *Belief) endAt(t trace.Instant, why Cause) {
	if t < b.To {
		b.To, b.Ended = t, why
	}
}

// Grant is a grant of the lock service, as promised: it lasts from its execution until it is released, its time
// to live has elapsed in true time, or its session has rightfully expired.
type Grant struct {
	Acquisition ID // the acquisition whose request was granted; 0 if unknown
	Client      string
	From, To    trace.Instant // From included, To not
	Ended       Cause
	Token       uint64 // token handed out with it; 0 if none
	// Outlived says that the Lock call continued after the end of the grant's session: the service has carried
	// out a request of it in another session. A client that does that could know.
	Outlived bool
}

// Copy is the lock's key as one server stored it; grants are derived from copies.
type Copy struct {
	Node        string
	Acquisition ID // the acquisition whose request made it; 0 unknown
	Client      string
	From, To    trace.Instant
	Expires     trace.Instant // when it expires by the server's clock, as foreseen at From; Never without expiry
	Gone        Gone
}

// Gone says why a server no longer has the lock's key.
type Gone uint8

// The ways.
const (
	Kept        Gone = iota // it still has it
	Deleted                 // a client's command removed it
	Overwritten             // another request took its place
	Expired                 // its deadline passed on the server's clock
	Wiped                   // the server lost it in a crash
	Evicted                 // the server evicted it
)

// Ask is a request for the lock that reached a server.
type Ask struct {
	Acquisition ID
	Client      string
	Node        string
	At          trace.Instant
	Granted     bool // the server gave its vote
}

// Removal is a release that a server executed.
type Removal struct {
	By     ID // the acquisition that sent it
	Client string
	Node   string
	At     trace.Instant
	// Stale says that the key was not the sender's when the release was executed: no longer, never, or made by
	// a later request of its own.
	Stale bool
	// Exposed says that somebody else had the key then, or a later request of its sender: it could have removed that.
	Exposed bool
	// Ended is the other acquisition whose grant it ended, 0 if it ended none but its own. A release that was sent
	// before the request that made the key ended another grant even if both are of one acquisition (Again).
	Ended ID
	// Again says that Ended is the sender's own acquisition, granted by a later try.
	Again bool
	// Shortened says that the other's key was not removed, but given an earlier expiry.
	Shortened bool
}

// Op is what an access does.
type Op uint8

// The accesses.
const (
	Read  Op = iota // takes a register's version; registers the token where the mode does so
	Check           // asks the gateway whether the token is still the newest
	Write           // stores a new version
)

// NoVersion is the version of an access of which a log states none.
const NoVersion uint64 = math.MaxUint64

// Access is one request to the protected resource.
type Access struct {
	Acquisition ID
	Client      string
	Op          Op
	Register    int
	Invoked     trace.Instant // the client sent it
	Applied     trace.Instant // the resource decided on it; Never if it never arrived
	Returned    trace.Instant // the client had the answer; Never if it did not
	Accepted    bool          // the resource's decision; false if the request never arrived
	Token       uint64
	MaxToken    uint64 // the largest token that the resource had seen, after this access, of those that it compares with this one
	With        []Shown
	Version     uint64 // the version that was read or written; every write has its own; 0 is the initial one
}

// Shown is the fencing token of another acquisition that an access shows, where several locks guard one resource.
type Shown struct {
	Acquisition ID
	Token       uint64
	MaxToken    uint64 // as in [Access]
}

// Wait is the time during which a task requested the lock and did not have it, over all its attempts. A task that takes several
// locks waits until it has all of them.
type Wait struct {
	Client   string
	Task     int
	From, To trace.Instant // To is Never if it still waits at the end
	Ended    WaitEnd
}

// WaitEnd says how a wait ended.
type WaitEnd uint8

// The ways.
const (
	StillWaiting WaitEnd = iota
	GotIt
	GaveUp
	Died // its process died, or was stopped permanently
)

// Fault is an injected fault as it happened.
type Fault struct {
	Name       string
	Text       string // its effect, as text
	Fired      bool
	Begin, End trace.Instant // End is Never if it does not heal
	Of         string        // the node that it concerns alone, a client or the resource: its process, its clock or its links; "": perhaps all
	Sets       bool          // it makes a clock jump or go at another rate, and keeps nobody from anything afterwards
	Waits      bool          // what it holds up arrives when it ends, and no later
}

// Outage says that since From a client has permanently lost something that every lock on these servers needs.
type Outage struct {
	Client string
	From   trace.Instant
	Text   string // continues a sentence that begins with the client: "it cannot reach the only master any more"
}

// Note is further information for a reader: a client has lost its connection, or is told of its session's end.
// The checker ignores it.
type Note struct {
	Node string
	At   trace.Instant
	Text string // continues a sentence that begins with the node
}

// Renews is the text of the note that a log tells of a renewal.
const Renews = "renews its lease"

// Exit is the end of a client's process by its own code: it panicked or exited.
type Exit struct {
	Client string
	At     trace.Instant
	Kind   string // identifies exits of the same origin: "panic in main.lock", "exit with status 3"
	Text   string // continues a sentence that begins with the program: "panics: …"
	Output string // the end of the process's output
}

// Load counts the requests that a client's lock sent within a second that begins with the first of them, while it requested the lock or
// at other times. Of seconds that overlap it is the one with the most requests.
type Load struct {
	Client   string
	Waiting  bool // the requests were sent within Lock
	From     trace.Instant
	Requests int
}

// History holds all observations of one run.
type History struct {
	Fencing      Fencing
	Registers    int
	HasAuthority bool // the lock's authority is declared: Grants, Copies and Removals are meaningful
	HasTokens    bool // the lock hands out fencing tokens
	Logged       bool // it is known from clients' logs, see package internal/ingest: nobody observed the servers
	HasPrograms  bool // the clients are programs whose exits are observed: Exits is meaningful
	Keeps        bool // the lock, or one of them, prolongs its grants by itself: it renews its lease, or keeps a session alive
	Faulty       bool // there is a fault from the start on: a clock is wrong, or clients draw the same random numbers
	Blocks       int  // how many copies exclude all other clients from the lock; 0 is 1
	Requests     int  // number of requests that the lock's code sent to its servers
	WakeUps      int  // unsolicited messages from servers to clients: events of watches, publications
	End          trace.Instant
	// Bound names the bound that ended the run early ("steps", "messages", …); "" if none did.
	Bound string
	// Cut describes an activity that the scenario's end interrupted: "the run ended at 60s while a was in its
	// critical section"; "" if there was none.
	Cut string
	// Outages lists the clients that have permanently lost something that every lock on these servers needs:
	// from then on their waits say nothing about the lock's progress.
	Outages []Outage
	// Quiescent says that the run ended because no event was left: a wait that had not ended by then lasts forever.
	Quiescent bool

	Acquisitions []Acquisition // Acquisitions[i].ID == i+1
	Grants       []Grant
	Copies       []Copy
	Asks         []Ask
	Removals     []Removal
	Accesses     []Access // in the order in which they were invoked
	Waits        []Wait
	Faults       []Fault
	Notes        []Note
	Exits        []Exit
	Loads        []Load
}

// Acquisition returns the acquisition of that ID; nil if there is none.
func (h *History) Acquisition(id ID) *Acquisition {
	if id < 1 || int(id) > len(h.Acquisitions) {
		return nil
	}
	return &h.Acquisitions[id-1]
}

// Tokenless reports whether an access showed no fencing token although the lock had given its acquisition one: the
// application forgot it.
func (h *History) Tokenless(x *Access) bool {
	a := h.Acquisition(x.Acquisition)
	return a != nil && a.Token != 0 && x.Token == 0
}

// Passed reports whether an access was sent when Unlock had been called for its acquisition: the application has passed the
// acquisition's token on, to code that outlives the critical section.
func (h *History) Passed(x *Access) bool {
	a := h.Acquisition(x.Acquisition)
	return a != nil && a.Unlocked < x.Invoked
}

// Belated returns the grant of a stale acquisition: it had ended when Lock returned it as if it had not, and the caller
// has no means to notice; nil if the acquisition is not stale. An expired grant is noticed by its deadline, or by a notice
// of loss, if the lock has those; a grant whose session has ended is not noticed if Lock continued in another session.
func (h *History) Belated(id ID) *Grant {
	a := h.Acquisition(id)
	if a == nil || a.Outcome != OK {
		return nil
	}
	var last *Grant
	for i := range h.Grants {
		if g := &h.Grants[i]; g.Acquisition == id && g.From <= a.Returned && (last == nil || g.To >= last.To) {
			last = g
		}
	}
	switch {
	case last == nil || last.To > a.Returned:
		return nil
	case last.Ended == ByDeadline && !a.HasDeadline && !a.CanLearn, last.Ended == BySessionLoss && last.Outlived:
		return last
	}
	return nil
}

// Beliefs returns the beliefs of all acquisitions, in the order of the acquisitions.
func (h *History) Beliefs() []Belief {
	beliefs := make([]Belief, 0, len(h.Acquisitions))
	for i := range h.Acquisitions {
		if b, ok := h.Acquisitions[i].Belief(); ok {
			beliefs = append(beliefs, b)
		}
	}
	return beliefs
}
