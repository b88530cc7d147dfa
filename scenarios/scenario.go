// Package scenarios holds scenarios: the data that, together with a seed, determine a run.
//
// Call [Load] for a named scenario or [Parse] for a file's text. Named scenarios, generated ones, minimal
// counterexamples and regression tests are all of the one type [Scenario]. [Scenario.Cases] unfolds a scenario into
// the cases it is to be played in: every variant, client style and fencing mode.
//
// Stability: the file format keeps working within a major version (FORMAT.md); the Go API may change.
package scenarios

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
)

// Scenario says who does what with which lock on which servers, what goes wrong, and what is expected of it.
type Scenario struct {
	Name    string // lower-case words joined by hyphens
	Title   string // one line
	Story   string // what happens, in two or three sentences for a newcomer
	Source  string // where the story is from
	Claims  string // what that source claims
	Finding string // where what happens differs from the claim, and why

	Lock     Lock
	Named    []NamedLock // the locks, if there are several or the one has a name; all are alike but for what is said here
	Servers  Servers
	Clients  []Client
	Resource Resource
	Network  Network
	Clocks   []Clock
	Faults   []sim.Fault

	Styles   []history.Style // the client styles to play it in; careless if empty
	Variants []Variant       // ways to play it; one nameless variant if empty
	Expect   Expect
	Measures []MeasureBound

	Progress time.Duration // how long clients may wait without any of them acquiring; 0: not judged
	Load     LoadBounds    // how many requests per second a client may send; not judged if zero
	Until    time.Duration // when the run ends at the latest; 0: when the scenario's own data says, see End
	Bounds   Bounds
	Seed     uint64 // the seed that is used unless another is asked for

	source *source // where the fields stand in the file; nil if the scenario was made by a program
}

// Lock is the lock under test.
type Lock struct {
	Algorithm string         // a name of the catalogue of package locks
	TTL       time.Duration  // life of a lease or a session
	Key       string         // its name at the servers
	Renew     time.Duration  // how long a watchdog waits before it renews
	Timeout   time.Duration  // how long one call to a server may take; 0: the algorithm's own default
	Acks      int            // how many replicas must acknowledge a grant; 0: the algorithm's own default
	Library   string         // whose handling of sessions the client follows; "": the algorithm's own default
	LockDelay *time.Duration // how long a lock that was lost is kept from others; nil: the servers' own default
}

// NamedLock is one of several locks. Its name is its key at the servers.
type NamedLock struct {
	Name     string
	TTL      time.Duration // 0: that of the scenario's lock
	Guards   string        // the resource that it protects, which it may share with others; "": one of its own
	Unfenced bool          // accesses do not show its token
}

// Client is one client process, or Count alike ones.
type Client struct {
	Name  string
	Count int // 1; more are called NAME-1, NAME-2, …
	Start time.Duration
	// Connected says that the process begins with open connections to the lock's servers, which have been idle since before the run.
	Connected bool
	Style     *history.Style // nil: the style the scenario is played in
	Lock      OwnLock
	Takes     []string       // the named locks that a section takes, in this order; all in the scenario's order if empty
	Between   time.Duration  // pause between two locks of a section
	Tasks     int            // concurrent tasks of the process, each doing Sections; 1
	Sections  int            // how often each task acquires, works and releases; 1
	Enters    int            // how often a section enters the lock before it works; 0 is once
	Wait      time.Duration  // how long one Acquire may wait: locks.Try, locks.Forever (the default) or a time
	Again     time.Duration  // pause before asking again after a failed Acquire; 0 means it does not ask again
	Unlock    time.Duration  // pause before calling Unlock once more after it failed; 0 means it is not called again
	Late      time.Duration  // it renews its lease so much later than Lock.Renew says, and looks at no clock meanwhile
	Forgets   bool           // it accesses the resource without its fencing token
	Passes    time.Duration  // it leaves the writes to a job that does them, with its token, so long after Unlock; 0: it does not
	Retry     Retry          // how a blocked Acquire polls
	Work      time.Duration  // length of the critical section
	Busy      bool           // the work keeps the processor busy ("cpu-bound"): a pause of the process makes it last longer
	Hangs     bool           // the work never ends ("work: forever")
	Read      time.Duration  // when in the section the registers are read; 0: at once
	Write     *time.Duration // when in the section they are written; nil: at its end
	Think     time.Duration  // pause between sections
	Stays     bool           // the process stays up after its sections, with its connections and sessions
	Servers   []string       // which servers it connects to, in this order; all, in any order, if empty
}

// OwnLock is what one client's lock has otherwise than the scenario's; what is zero is the same.
type OwnLock struct {
	Algorithm string
	TTL       time.Duration
	Renew     time.Duration
	Timeout   time.Duration
}

// Retry says how a blocked Acquire polls.
type Retry struct {
	Delay  time.Duration // 0: the algorithm's default
	Jitter time.Duration
	Tries  int
}

// Resource is what the lock protects.
type Resource struct {
	Fencing   []history.Fencing // the modes to play it in; none if empty
	Registers int               // how many values a section reads and writes; 1
	Guarded   bool              // they live on the lock's own servers, which take an access with the proof of the lock
	Mixed     bool              // of several locks that guard one, all tokens are compared with each other
	Latency   sim.Latency       // between clients and the resource; nil: the network's
}

// Network is the delays between nodes.
type Network struct {
	Latency sim.Latency // one way, unless a link says otherwise; the LAN of package sim if nil
	Links   []Link
}

// Link gives the connections between two sets of nodes a latency of their own.
type Link struct {
	sim.Link
	Latency sim.Latency
}

// LoadBounds says how many requests the lock of one client process sends to its servers within any second; 0: no bound.
type LoadBounds struct {
	Waiter int // while it asks for the lock, within Lock
	Holder int // at other times
}

// Clock says how the clocks of a node deviate from true time from the start on.
type Clock struct {
	Node   string
	Offset time.Duration // of the wall clock
	Rate   int64         // both clocks, parts per million
}

// Variant is another way to play the scenario.
type Variant struct {
	Name     string
	Scenario *Scenario // the scenario with what the variant sets
}

// Bounds end a run that does not end by itself; what they cut short is unknown.
type Bounds struct {
	Steps    int // events popped from the queue
	Messages int // segments sent
}

// MeasureBound is what a measured value is expected to be.
type MeasureBound struct {
	Name     string
	Min, Max *int64 // nil: no bound
}

// Expectation is an expected verdict for the cases that it matches.
type Expectation struct {
	Property checker.Property
	Fencing  *history.Fencing // nil: every mode
	Style    *history.Style   // nil: every style
	Verdict  checker.Verdict
	Any      bool // anything may come of it; Verdict says nothing
}

// Expect lists expected verdicts; what no entry matches may not be violated. Of entries that match one case the first
// counts. Files have no word for "else", so no entry read from one covers another: a program that wants an
// exception must list the modes and styles one by one for the scenario to have a YAML form. Of an entry that covers
// more special ones YAML would write only those.
type Expect []Expectation

// Case is one way in which a scenario is played.
type Case struct {
	Scenario *Scenario // of the variant
	Variant  string    // "" if the scenario has no variants
	Style    history.Style
	Fencing  history.Fencing
}

// LockOf returns the lock of a client. If that has an algorithm of its own, the scenario's interval of renewals is not for it.
func (s *Scenario) LockOf(c *Client) Lock {
	l, own := s.Lock, &c.Lock
	if own.Algorithm != "" {
		l.Algorithm, l.Renew = own.Algorithm, 0
	}
	l.TTL, l.Renew, l.Timeout = cmp.Or(own.TTL, l.TTL), cmp.Or(own.Renew, l.Renew), cmp.Or(own.Timeout, l.Timeout)
	return l
}

// TakenBy lists the named locks that a section of a client takes, in this order; none if the scenario names none.
func (s *Scenario) TakenBy(c *Client) []string {
	if len(c.Takes) > 0 {
		return c.Takes
	}
	var all []string
	for i := range s.Named {
		all = append(all, s.Named[i].Name)
	}
	return all
}

// Guarded lists for each named lock the place, from 0, of the resource that it protects, and how many resources there are. Locks
// that guard the same one have the same place.
func (s *Scenario) Guarded() (places []int, resources int) {
	places = make([]int, len(s.Named))
	for i := range s.Named {
		same := -1
		if guards := s.Named[i].Guards; guards != "" {
			same = slices.IndexFunc(s.Named[:i], func(l NamedLock) bool { return l.Guards == guards })
		}
		if same >= 0 {
			places[i] = places[same]
			continue
		}
		places[i] = resources
		resources++
	}
	return places, max(resources, 1)
}

// TakeInOneOrder makes all clients take the locks in the order in which the scenario names them; false if they do so already.
func (s *Scenario) TakeInOneOrder() (changed bool) {
	place := func(name string) int {
		return slices.IndexFunc(s.Named, func(l NamedLock) bool { return l.Name == name })
	}
	byPlace := func(a, b string) int { return cmp.Compare(place(a), place(b)) }
	for i := range s.Clients {
		if c := &s.Clients[i]; !slices.IsSortedFunc(c.Takes, byPlace) {
			c.Takes, changed = slices.SortedFunc(slices.Values(c.Takes), byPlace), true
		}
	}
	return changed
}

// LockNamed returns a client's lock of that name. What the client's own lock says counts before what the named one does.
func (s *Scenario) LockNamed(c *Client, name string) Lock {
	l := s.LockOf(c)
	for i := range s.Named {
		if n := &s.Named[i]; n.Name == name {
			l.Key, l.TTL = name, cmp.Or(c.Lock.TTL, n.TTL, l.TTL)
		}
	}
	return l
}

// LockOfProcess returns the lock of the client process of that name, or of several the one called lock; the scenario's if there
// is no such process.
func (s *Scenario) LockOfProcess(name, lock string) Lock {
	for i := range s.Clients {
		if slices.Contains(s.Clients[i].Names(), name) {
			return s.LockNamed(&s.Clients[i], lock)
		}
	}
	return s.LockNamed(&Client{}, lock)
}

// Algorithms lists the names of the locks of all clients, each once, the scenario's first.
func (s *Scenario) Algorithms() []string {
	list := []string{s.Lock.Algorithm}
	for i := range s.Clients {
		if own := s.Clients[i].Lock.Algorithm; own != "" && !slices.Contains(list, own) {
			list = append(list, own)
		}
	}
	return list
}

// Locks lists the locks of its clients with their settings, each once.
func (s *Scenario) Locks() []Lock {
	var list []Lock
	for i := range s.Clients {
		if l := s.LockOf(&s.Clients[i]); !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// Lease returns the longest time to live of a lease or a session of its clients.
func (s *Scenario) Lease() time.Duration {
	longest := s.Lock.TTL
	for i := range s.Clients {
		longest = max(longest, s.Clients[i].Lock.TTL)
	}
	for i := range s.Named {
		longest = max(longest, s.Named[i].TTL)
	}
	return longest
}

// Cases unfolds the scenario: its variants, and within each the styles and fencing modes.
func (s *Scenario) Cases() []Case {
	variants := s.Variants
	if len(variants) == 0 {
		variants = []Variant{{Scenario: s}}
	}
	var cases []Case
	for _, v := range variants {
		for _, style := range orDefault(v.Scenario.Styles, history.Careless) {
			for _, fencing := range orDefault(v.Scenario.Resource.Fencing, history.Unfenced) {
				cases = append(cases, Case{Scenario: v.Scenario, Variant: v.Name, Style: style, Fencing: fencing})
			}
		}
	}
	return cases
}

func orDefault[T any](list []T, fallback T) []T {
	if len(list) == 0 {
		return []T{fallback}
	}
	return list
}

// Expected returns the verdict that the case's scenario expects of a property; false if it expects none in particular.
func (c Case) Expected(p checker.Property) (checker.Verdict, bool) {
	x, ok := c.expectation(p)
	return x.Verdict, ok && !x.Any
}

// AllowsAny reports whether the case's scenario says that anything may come of a property.
func (c Case) AllowsAny(p checker.Property) bool {
	x, _ := c.expectation(p)
	return x.Any
}

// expectation returns the one that is about a property; false if there is none. What the resource accepts depends on the
// fencing mode, so that of a mode that the scenario does not name there is none.
func (c Case) expectation(p checker.Property) (Expectation, bool) {
	e, ok := c.matching(p)
	if ok && p == checker.Resource && !e.Any && !c.NamesMode() {
		return Expectation{}, false
	}
	return e, ok
}

func (c Case) matching(p checker.Property) (Expectation, bool) {
	for _, e := range c.Scenario.Expect {
		if e.Property == p && (e.Fencing == nil || *e.Fencing == c.Fencing) && (e.Style == nil || *e.Style == c.Style) {
			return e, true
		}
	}
	return Expectation{}, false
}

// NamesMode reports whether the scenario names the case's fencing mode. In another one it expects what it expects in every
// mode, but not of the resource, and its measures are not about it.
func (c Case) NamesMode() bool {
	return slices.Contains(orDefault(c.Scenario.Resource.Fencing, history.Unfenced), c.Fencing)
}

// MayBreak reports whether a property of which nothing in particular is expected may be violated: anything may come of it,
// or it is the resource, in a mode that the scenario does not name, and violated in every mode that it names.
func (c Case) MayBreak(p checker.Property) bool {
	e, ok := c.matching(p)
	return ok && (e.Any || p == checker.Resource && !c.NamesMode() && e.Verdict == checker.Violated)
}
