package locktest

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Promise is something that a lock is asked to keep, whatever happens of what the promise is to survive. Which of them
// a lock is asked to keep depends on what it is like; [Options.Waive] names those that it does not make.
type Promise string

// The promises.
const (
	// ExclusionWithinLease: while sections and faults take less than the lease together, nobody holds beside another.
	ExclusionWithinLease Promise = "exclusion-within-lease"
	// ExclusionWhileRenewed: while faults take less than is left of the lease when it is renewed, likewise, however long
	// sections are.
	ExclusionWhileRenewed Promise = "exclusion-while-renewed"
	// ExclusionWithinSession: while no session can end, likewise.
	ExclusionWithinSession Promise = "exclusion-within-session"
	// ExclusionUnlessForgotten: a lock whose grants do not end by themselves excludes for as long as its servers remember.
	ExclusionUnlessForgotten Promise = "exclusion-unless-forgotten"
	// ExclusionUntilDeadline: nobody holds beside another who stops at the deadline that his lease states.
	ExclusionUntilDeadline Promise = "exclusion-until-deadline"
	// ExclusionUntilSuspended: nobody holds beside another who stops when he hears that his session may end.
	ExclusionUntilSuspended Promise = "exclusion-until-suspended"
	// ExclusionOfLostWaiters: who has lost his place while he waited does not come to hold beside another.
	ExclusionOfLostWaiters Promise = "exclusion-of-lost-waiters"
	// Reentrance: who enters a lock that he holds has it until he has left as often.
	Reentrance Promise = "reentrance"
	// ExclusionAtService: the servers do not grant the lock while it is promised to another.
	ExclusionAtService Promise = "exclusion-at-service"
	// ReleaseSafety: a release ends nothing but its own acquisition.
	ReleaseSafety Promise = "release-safety"
	// Handover: without any fault, a client that waits gets the lock soon after it was released.
	Handover Promise = "handover"
	// Progress: when faults are over, somebody gets the lock after some leases at most, whichever client has died.
	Progress Promise = "progress"
	// Expiry: who dies while he holds keeps the lock for some leases at most, though another who had lost it works on.
	Expiry Promise = "expiry"
	// Notice: who loses the lock is told within some leases, if his lease says that he will be.
	Notice Promise = "notice"
	// Availability: while only a minority of the servers fails, somebody gets the lock after some leases at most.
	Availability Promise = "availability"
	// TokenOrder: tokens grow from grant to grant.
	TokenOrder Promise = "token-order"
	// FencedResource: a resource that refuses older tokens on reads and writes is not damaged.
	FencedResource Promise = "fenced-resource"
	// GuardedResource: data that live with the lock, and are accessed through it, are not damaged.
	GuardedResource Promise = "guarded-resource"
	// NothingLeft: what is released, or was not acquired, keeps nobody out for longer than the lease or the session lives.
	NothingLeft Promise = "nothing-left"
	// NoSilentLoss: a lock that keeps its grants loses none without a fault, and notifies a holder that loses its grant
	// otherwise, if the lease has such a notice.
	NoSilentLoss Promise = "no-silent-loss"
	// Survival: a program neither panics nor exits, nor runs out of memory, whatever happens. It is asked of programs alone.
	Survival Promise = "survival"
)

var promiseNames = []Promise{
	ExclusionWithinLease, ExclusionWhileRenewed, ExclusionWithinSession, ExclusionUnlessForgotten,
	ExclusionUntilDeadline, ExclusionUntilSuspended, ExclusionOfLostWaiters, Reentrance, ExclusionAtService,
	ReleaseSafety, Handover, Progress, Expiry, Notice, Availability, TokenOrder, FencedResource, GuardedResource,
	NothingLeft, NoSilentLoss, Survival,
}

// promise is one of them as it is put to a lock.
type promise struct {
	name     Promise
	property checker.Property
	menu     search.Menu
	// focus are parts of the menu's faults that are drawn alone in their turn, since others would drown them out.
	focus [][]search.Kind
	// extend adds to a scenario what is on no menu; nil: nothing.
	extend func(search.Source, *scenarios.Scenario)
	// keeps reports whether a scenario is one to which that has been added; nil: any is.
	keeps func(*scenarios.Scenario) bool
	// forgives is a kind of violation that breaks nothing which this lock promises; "": none.
	forgives string
	why      string // the argument for it
	share    int    // percent of the usual number of schedules that it takes; 0 is all of it
}

// runs is how many schedules are played for the promise.
func (p *promise) runs(o *Options) int {
	if p.share == 0 {
		return o.Runs
	}
	return (o.Runs*p.share + 99) / 100
}

// Two clients that draw the same random numbers are on no menu: a lock may take its random names and values for its own.
//
// The network may do to messages whatever TCP lets it do. Storage is honest and durable.
var (
	network = []search.Kind{search.Cut, search.Stall, search.Delay, search.Break, search.Error}
	// Nothing is lost, all may be late.
	waiting = []search.Kind{search.ServerPause, search.Cut, search.Stall, search.Delay}
	careful = []history.Style{history.Careful}
	onDisk  = []string{"always"}
	// What a lock is most often asked to go on after.
	deaths = [][]search.Kind{{search.ClientCrash}}
)

// promises lists what is asked of the lock.
func (s *subject) promises() []promise {
	var list []promise
	switch s.kind() {
	case "redis":
		list = s.onRedis()
	case "memcached":
		list = s.onMemcached()
	case "zookeeper":
		list = s.onZooKeeper()
	case "etcd", "consul", "chubby":
		list = s.onSessions()
	default:
		list = s.onDatabase()
	}
	list = append(list, s.everywhere()...)
	list = slices.DeleteFunc(list, func(p promise) bool { return !s.options.wants(p.name) || !s.canJudge(&p) })
	for i := range list {
		s.fit(&list[i])
		if s.algorithm.Program != nil {
			list[i].menu.Tasks = 1 // of a program's tasks nobody can say which asks
		}
	}
	// What takes few schedules comes first: it is as likely to find something.
	slices.SortStableFunc(list, func(a, b promise) int { return a.runs(&s.options) - b.runs(&s.options) })
	return list
}

// canJudge reports whether enough is known for a promise: what the servers grant, and what tokens say of it.
func (s *subject) canJudge(p *promise) bool {
	ofGrants := slices.Contains([]checker.Property{
		checker.ExclusionAtService, checker.ReleaseSafety, checker.Leak, checker.SilentLoss,
	}, p.property)
	ofTokens := p.property == checker.FencingOrder
	return s.algorithm.Authority != locks.NoAuthority && (!ofTokens || s.algorithm.Token) || !ofGrants && !ofTokens
}

// fit makes the menu of a promise the lock's.
func (s *subject) fit(p *promise) {
	m := &p.menu
	m.Lock, m.Servers, m.TTLs = s.algorithm.Name, s.kind(), append(m.TTLs, s.ttl)[:1]
	m.Renews = s.algorithm.Renews
	m.Stays = true                                                  // a client that is refused, gives up or has done its work may live on
	m.GivesUp = !m.Waits && (p.extend == nil || p.name == Progress) // others say themselves who waits for how long
	m.Repeats = p.property == checker.ReleaseSafety || p.property == checker.ExclusionAtService
	if m.Masters == nil {
		m.Masters = s.masters
	}
	if m.Replicas == nil {
		m.Replicas = s.replicas
	}
	if s.kind() != "redis" {
		m.Masters, m.Disk = nil, nil
		if s.kind() != "zookeeper" {
			m.Persistence = nil
		}
	}
	if only := s.options.faults(); only != nil {
		m.Faults, m.Storage = common(m.Faults, only), common(m.Storage, only)
		p.focus = slices.Clone(p.focus)
		for i := range p.focus {
			p.focus[i] = common(p.focus[i], only)
		}
	}
	if s.options.Within > 0 && m.Within > 0 {
		m.Within = s.options.Within
	}
	if s.options.Drift > 0 && m.Drift > 0 {
		m.Drift = s.options.Drift
	}
	p.why = strings.Join(strings.Fields(p.why), " ")
}

// common returns the kinds that are in both lists.
func common(list, only []search.Kind) []search.Kind {
	return slices.DeleteFunc(slices.Clone(list), func(k search.Kind) bool { return !slices.Contains(only, k) })
}

// draw draws a scenario for the promise.
func (p *promise) draw(src search.Source) *scenarios.Scenario {
	m := p.menu
	// Two faults that aim at one acquisition are a focus of their own, and so are clients that come between a loss and its notice.
	choices := []func(){func() {}}
	for i := range p.focus {
		choices = append(choices, func() { m.Faults = p.focus[i] })
	}
	if m.Aims() {
		choices = append(choices, func() { m.Pairs, m.Votes = 1, true })
	}
	if m.Pauses() {
		choices = append(choices, func() { m.Between = 1 })
	}
	choices[src.Below(int64(len(choices)))]()
	s := search.Generate(src, m)
	if p.extend != nil {
		p.extend(src, s)
	}
	return s
}

// slow allows for faults that hold clients up, and for clocks that nobody should trust.
func slow(more ...search.Kind) []search.Kind {
	return append([]search.Kind{search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause}, more...)
}
