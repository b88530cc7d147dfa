// Package promise says what locks promise, and where their promises end: fault models, each with the property that survives,
// or does not survive, whatever of it happens.
//
// Call [For] with a [Subject]: what package locktest finds out of a lock in runs without faults, or what [Of] declares of a
// lock of the catalogue. Call [Limits] for the fault models that locks of the catalogue do not survive.
package promise

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Name is what a promise is called; package locktest says what each means.
type Name string

// The promises.
const (
	ExclusionWithinLease     Name = "exclusion-within-lease"
	ExclusionWhileRenewed    Name = "exclusion-while-renewed"
	ExclusionWithinSession   Name = "exclusion-within-session"
	ExclusionUnlessForgotten Name = "exclusion-unless-forgotten"
	ExclusionUntilDeadline   Name = "exclusion-until-deadline"
	ExclusionUntilSuspended  Name = "exclusion-until-suspended"
	ExclusionOfLostWaiters   Name = "exclusion-of-lost-waiters"
	Reentrance               Name = "reentrance"
	ExclusionAtService       Name = "exclusion-at-service"
	ReleaseSafety            Name = "release-safety"
	Handover                 Name = "handover"
	Progress                 Name = "progress"
	Expiry                   Name = "expiry"
	Notice                   Name = "notice"
	Availability             Name = "availability"
	TokenOrder               Name = "token-order"
	FencedResource           Name = "fenced-resource"
	GuardedResource          Name = "guarded-resource"
	NothingLeft              Name = "nothing-left"
	NoSilentLoss             Name = "no-silent-loss"
	Survival                 Name = "survival"
	WaiterLoad               Name = "waiter-load"
)

// Promise is something that a lock keeps, whatever happens of what the promise is to survive.
type Promise struct {
	Name     Name
	Property checker.Property
	Model    search.FaultModel
	// Focus are parts of the fault model's faults that are drawn alone in their turn, since others would drown them out.
	Focus [][]search.Kind
	// Extend adds to a scenario what is in no fault model; nil: nothing.
	Extend func(search.Source, *scenarios.Scenario)
	// Keeps reports whether a scenario is one to which that has been added; nil: any is.
	Keeps func(*scenarios.Scenario) bool
	// Forgives reports whether a violation in a history breaks nothing which this lock promises; nil: none does.
	Forgives search.Excuse
	Why      string // the argument for it
	Share    int    // percent of the usual number of schedules that it takes; 0 is all of it

	// Row is its name in campaigns, after the lock's; "": no campaign has played it. A promise of campaigns alone has no Name.
	Row string
	// Narrow is the fault model of campaigns. It differs from Model where a lock of the catalogue keeps more than can be asked of any
	// lock, and where another one would be other draws than those that campaigns have recorded.
	Narrow search.FaultModel
	_      struct{}
}

// Two clients that draw the same random numbers are in no fault model that is asked of any lock: it may take its random names and
// values for its own.
//
// The network may do to messages whatever TCP lets it do. Storage is honest and durable.
var (
	network = []search.Kind{search.Cut, search.Stall, search.Delay, search.Break, search.Error}
	// That, and a resource that fails.
	failing = slices.Concat(network, []search.Kind{search.ServerPause, search.ServerCrash, search.PowerLoss})
	// Nothing is lost, all may be late.
	waiting = []search.Kind{search.ServerPause, search.Cut, search.Stall, search.Delay}
	careful = []history.Style{history.Careful}
	// Who is told that a renewal will be the last has stopped when the lease is over.
	heeding = []history.Style{history.Attentive}
	onDisk  = []string{"always"}
	// What a lock is most often asked to go on after.
	deaths = [][]search.Kind{{search.ClientCrash}}
	// How long locks of the catalogue wait for an answer, in percent of the lease; 0: as long as they usually do.
	timeouts = []int64{0, 10, 20}
)

// ofKind forgives violations of a kind.
func ofKind(kind string) func(*history.History, *checker.Violation) bool {
	return func(_ *history.History, v *checker.Violation) bool { return v.Kind == kind }
}

// overstayed forgives violations by a holder whose stated deadline had passed, or would in a moment, by which clocks may differ: nothing was
// promised for longer.
func overstayed(h *history.History, v *checker.Violation) bool {
	return slices.ContainsFunc(v.Acquisitions, func(id history.ID) bool {
		a := h.Acquisition(id)
		return a != nil && a.HasDeadline && a.Deadline.Add(-a.Deadline.Sub(a.Returned)/50) <= v.At
	})
}

// played returns the promise as one that campaigns play under a name, with another fault model.
func (p Promise) played(row string, change func(m *search.FaultModel)) Promise {
	p.Row, p.Narrow = row, p.Model
	change(&p.Narrow)
	return p
}

// alike plays a fault model in campaigns as it is.
func alike(*search.FaultModel) {}

// For lists what a lock promises.
func For(s *Subject) []Promise {
	var list []Promise
	switch f := s.facts(); {
	case f.Holds == backend.ByConnection:
		list = s.onDatabase()
	case s.InSession() && !s.ensemble():
		list = s.onSessions()
	case s.InSession():
		list = s.onEnsemble()
	case f.Has(backend.Masters):
		list = s.onRedis()
	default:
		list = s.onLease()
	}
	list = slices.Concat([]Promise{s.waiterLoad()}, list, s.everywhere(), s.onResource())
	list = slices.DeleteFunc(list, func(p Promise) bool { return !s.canJudge(&p) })
	for i := range list {
		if p := &list[i]; s.Deadline && (p.Name == ExclusionWithinLease || p.Name == ExclusionWhileRenewed) {
			p.Forgives = overstayed
		}
		s.fit(&list[i])
		s.narrow(&list[i].Narrow)
	}
	return list
}

// everywhere is what locks of all kinds are asked.
func (s *Subject) everywhere() []Promise {
	var list []Promise
	if s.TTL >= shortestHandover && !s.Algorithm.Lingers {
		list = append(list, s.handover())
	}
	if s.Deadline && s.Expires && !s.facts().Has(backend.Masters) {
		list = append(list, s.untilDeadlineElsewhere())
	}
	if s.Expires && s.Renews {
		list = append(list, s.expiry())
	}
	if s.Lost && (s.Expires || s.InSession() || s.Asks) { // a client hears that a connection is over if it sends something on it
		list = append(list, s.noticeOfLoss())
	}
	list = append(list, s.leftovers()...)
	if s.Reentrant {
		list = append(list, Promise{
			Name: Reentrance, Property: checker.MutualExclusion,
			Model: search.FaultModel{Enters: 3, Within: 50, Clients: 6, Tasks: 2}, // so that one comes between two releases
			Why:   `Without faults, a section that has entered several times and left once is still inside.`,
		})
	}
	if s.Algorithm.Program != nil {
		list = append(list, Promise{
			Name: Survival, Property: checker.Survival, Model: search.Wide(&s.Algorithm, search.Kinds()),
			Why: `A library tells its caller what goes wrong, by an error. It does not end the process.`,
		})
	}
	if s.Algorithm.Guard {
		list = append(list, Promise{
			Name: GuardedResource, Property: checker.Resource, Model: search.FaultModel{
				Faults: search.Kinds(search.SameRandom), Tasks: 2, Waits: true, Drift: 100_000, Guarded: true,
			},
			Why: `The lock's servers take an access in one step with the proof that the lease stands.`,
		}.played(s.guardRow(), func(m *search.FaultModel) {
			*m = s.every()
			s.widen(m)
			m.Guarded, m.Storage, m.Fencing = true, nil, nil
			if s.facts().Holds == "" { // a lease is named by random numbers alone
				m.Faults = search.Kinds(search.SameRandom)
			}
		}))
	}
	return list
}

// canJudge reports whether enough is known for a promise: what the servers grant, and what tokens say of it. Of a lock whose release
// sends nothing, none is asked about what releases do.
func (s *Subject) canJudge(p *Promise) bool {
	ofGrants := slices.Contains([]checker.Property{
		checker.ExclusionAtService, checker.ReleaseSafety, checker.Leak, checker.SilentLoss,
	}, p.Property)
	ofTokens := p.Property == checker.FencingOrder
	if s.Algorithm.Lingers && p.Property == checker.ReleaseSafety {
		return false
	}
	return s.Algorithm.Authority != locks.NoAuthority && (!ofTokens || s.Algorithm.Token) || !ofGrants && !ofTokens
}

// Plain is a fault model of the lock's servers, and of nothing else.
func (s *Subject) Plain() search.FaultModel {
	var p Promise
	s.fit(&p)
	return p.Model
}

// fit makes the fault model of a promise the lock's.
func (s *Subject) fit(p *Promise) {
	m := &p.Model
	m.TTLs = append(m.TTLs, s.TTL)[:1]
	m.Stays = true                                                  // a client that is refused, gives up or has done its work may live on
	m.GivesUp = !m.Waits && (p.Extend == nil || p.Name == Progress) // others say themselves which clients wait for how long
	m.Repeats = p.Property == checker.ReleaseSafety || p.Property == checker.ExclusionAtService ||
		p.Property == checker.MutualExclusion && s.Algorithm.Authority == locks.NoAuthority // where these two cannot be judged
	if s.Algorithm.Program != nil {
		m.Tasks = 1 // of a program's tasks nobody can say which asks
	}
	m.Lock, m.Servers, m.Renews = s.Algorithm.Name, s.Kind(), s.Algorithm.Renews
	if m.Masters == nil {
		m.Masters = s.Masters
	}
	if m.Replicas == nil {
		m.Replicas = s.Replicas
	}
	if !s.facts().Has(backend.Masters) {
		m.Masters, m.Disk = nil, nil
	}
	if !s.facts().Has(backend.Persistence) {
		m.Persistence = nil
	}
	p.Why = oneLine(p.Why)
}

// oneLine joins the lines of an argument.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// slow allows for faults that hold clients up, and for clocks that nobody should trust.
func slow(more ...search.Kind) []search.Kind {
	return append([]search.Kind{search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause}, more...)
}
