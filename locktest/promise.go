package locktest

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/promise"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Promise is something that a lock is asked to keep, whatever happens of what the promise is to survive. Which of them
// a lock is asked to keep depends on what it is like; [Options.Waive] names those that it does not make.
type Promise = promise.Name

// The promises.
const (
	// ExclusionWithinLease: while sections and faults take less than the lease together, nobody holds beside another.
	ExclusionWithinLease = promise.ExclusionWithinLease
	// ExclusionWhileRenewed: while faults take less than is left of the lease when it is renewed, likewise, however long
	// sections are.
	ExclusionWhileRenewed = promise.ExclusionWhileRenewed
	// ExclusionWithinSession: while no session can end, likewise.
	ExclusionWithinSession = promise.ExclusionWithinSession
	// ExclusionUnlessForgotten: a lock whose grants do not end by themselves excludes for as long as its servers remember.
	ExclusionUnlessForgotten = promise.ExclusionUnlessForgotten
	// ExclusionUntilDeadline: nobody holds beside another client that stops at the deadline that its lease states.
	ExclusionUntilDeadline = promise.ExclusionUntilDeadline
	// ExclusionUntilSuspended: nobody holds beside another client that stops when it hears that its session may end.
	ExclusionUntilSuspended = promise.ExclusionUntilSuspended
	// ExclusionOfLostWaiters: a client that has lost its place while it waited does not come to hold beside another.
	ExclusionOfLostWaiters = promise.ExclusionOfLostWaiters
	// Reentrance: a client that enters a lock that it holds has it until it has left as often.
	Reentrance = promise.Reentrance
	// ExclusionAtService: the servers do not grant the lock while it is promised to another.
	ExclusionAtService = promise.ExclusionAtService
	// ReleaseSafety: a release ends nothing but its own acquisition.
	ReleaseSafety = promise.ReleaseSafety
	// Handover: a client that waits gets the lock soon after it was released, without any fault. A lock of several servers also takes back
	// what it has asked for and got no answer to.
	Handover = promise.Handover
	// Progress: when faults are over, somebody gets the lock after some leases at most, whichever client has died.
	Progress = promise.Progress
	// Expiry: a client that dies while it holds keeps the lock for some leases at most, though another that had lost it
	// works on.
	Expiry = promise.Expiry
	// Notice: a holder that loses the lock is told within some leases, if its lease says that it will be. While it cannot reach the servers
	// it need not be told: not every lock counts its lease by its own clock.
	Notice = promise.Notice
	// Availability: while only a minority of the servers fails, somebody gets the lock after some leases at most.
	Availability = promise.Availability
	// TokenOrder: tokens grow from grant to grant.
	TokenOrder = promise.TokenOrder
	// FencedResource: a resource that refuses older tokens on reads and writes is not damaged.
	FencedResource = promise.FencedResource
	// GuardedResource: data that live with the lock, and are accessed through it, are not damaged.
	GuardedResource = promise.GuardedResource
	// NothingLeft: what is released, or was not acquired, keeps nobody out: not for longer than a tenth of a lease if no fault was near, and
	// otherwise not for longer than three leases, or the session, live after it. A release may leave it until a minimum of the lease is over.
	// It is not asked of locks whose grants never end, neither by themselves nor with a session or a connection.
	NothingLeft = promise.NothingLeft
	// NoSilentLoss: a lock that keeps its grants loses none without a fault, and notifies a holder that loses its grant
	// otherwise, if the lease has such a notice.
	NoSilentLoss = promise.NoSilentLoss
	// Survival: a program neither panics nor exits, nor runs out of memory, whatever happens. It is asked of programs alone.
	Survival = promise.Survival
	// WaiterLoad: a client that waits for another, which may have died, does not ask the servers again and again without a pause: it
	// sends at most 5,000 requests per second. A lock that breaks it is asked for nothing else, since its runs take too long.
	WaiterLoad = promise.WaiterLoad
)

var promiseNames = []Promise{
	ExclusionWithinLease, ExclusionWhileRenewed, ExclusionWithinSession, ExclusionUnlessForgotten,
	ExclusionUntilDeadline, ExclusionUntilSuspended, ExclusionOfLostWaiters, Reentrance, ExclusionAtService,
	ReleaseSafety, Handover, Progress, Expiry, Notice, Availability, TokenOrder, FencedResource, GuardedResource,
	NothingLeft, NoSilentLoss, Survival, WaiterLoad,
}

// pledge is a promise as it is put to the lock under test.
type pledge struct {
	promise.Promise
	patience time.Duration // the shortest time for which the lock waits for an answer; 0 if none was seen
}

// runs is how many schedules are played for the promise.
func (p *pledge) runs(o *Options) int {
	if p.Share == 0 {
		return o.Runs
	}
	return (o.Runs*p.Share + 99) / 100
}

// promises lists what is asked of the lock.
func (s *subject) promises() []pledge {
	var list []pledge
	for _, p := range promise.For(&s.Subject) {
		if p.Name != "" && s.options.wants(p.Name) {
			s.options.narrow(&p)
			list = append(list, pledge{p, s.patience})
		}
	}
	// What takes few schedules comes first: it is as likely to find something. Whether somebody has lost what nobody saw granted is asked
	// when exclusion has been: two that hold at once break both.
	turn := func(p *pledge) int {
		if p.Name == Notice && s.Algorithm.Authority == locks.NoAuthority {
			return s.options.Runs
		}
		return p.runs(&s.options)
	}
	slices.SortStableFunc(list, func(a, b pledge) int { return turn(&a) - turn(&b) })
	return list
}

// narrow leaves in the fault model what the options allow.
func (o *Options) narrow(p *promise.Promise) {
	m := &p.Model
	if only := o.faults(); only != nil {
		m.Faults, m.Storage = common(m.Faults, only), common(m.Storage, only)
		p.Focus = slices.Clone(p.Focus)
		for i := range p.Focus {
			p.Focus[i] = common(p.Focus[i], only)
		}
	}
	if o.Within > 0 && m.Within > 0 {
		m.Within = o.Within
	}
	if o.Drift > 0 && m.Drift > 0 {
		m.Drift = o.Drift
	}
}

// common returns the kinds that are in both lists.
func common(list, only []search.Kind) []search.Kind {
	return slices.DeleteFunc(slices.Clone(list), func(k search.Kind) bool { return !slices.Contains(only, k) })
}

// draw draws a scenario for the promise.
func (p *pledge) draw(src search.Source) *scenarios.Scenario {
	m := p.Model
	// Two faults that aim at one acquisition are a focus of their own, and so are clients that come between a loss and its notice, and
	// sections that go on long after a lease of which one renewal failed.
	choices := []func(){func() {}}
	for i := range p.Focus {
		choices = append(choices, func() { m.Faults = p.Focus[i] })
	}
	if m.Aims() {
		choices = append(choices, func() { m.Pairs, m.Votes = 1, true })
	}
	if m.Pauses() {
		choices = append(choices, func() { m.Between = 1 })
	}
	lasting := false
	if held := common(m.Faults, []search.Kind{search.Stall, search.Cut, search.Delay, search.Break, search.Error}); m.Renewed && len(held) > 0 {
		choices = append(choices, func() { m.Faults, lasting = held, true })
	}
	choices[src.Below(int64(len(choices)))]()
	s := search.Generate(src, m)
	p.hasten(s)
	if lasting {
		outlast(src, s)
	}
	if p.Extend != nil {
		p.Extend(src, s)
	}
	return s
}

// hasten has no message take longer than it may.
func (p *pledge) hasten(s *scenarios.Scenario) {
	most := sim.Constant(p.longestMessage(s))
	if longest(s.Network.Latency) > most[0].Delay {
		s.Network.Latency = most
	}
	for i := range s.Network.Links {
		if l := &s.Network.Links[i].Latency; longest(*l) > most[0].Delay {
			*l = most
		}
	}
}

// outlast has one client work for as long as it takes to end a lease that is renewed no more, and what keeps others out then; all others
// wait for it. What keeps messages back begins within a lease from when it has acquired.
func outlast(src search.Source, s *scenarios.Scenario) {
	holder := int(src.Below(int64(len(s.Clients))))
	for i := range s.Clients {
		if c := &s.Clients[i]; i == holder {
			c.Work = s.Lock.TTL * time.Duration(3+src.Below(4))
		} else {
			c.Wait = locks.Forever
		}
	}
	for i := range s.Faults {
		if f := &s.Faults[i]; f.Action.Kind == sim.Stall || f.Action.Kind == sim.Cut {
			f.Trigger = sim.Trigger{
				When: sim.After, Step: sim.Pattern{Node: s.Clients[holder].Name, Does: trace.Acquired},
				Plus: s.Lock.TTL / 16 * time.Duration(src.Below(16)),
			}
		}
	}
}
