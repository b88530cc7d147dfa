package promise

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// everyDatabase is all that can happen to one, but that clients draw alike.
func everyDatabase() search.FaultModel {
	m := everySession()
	m.KeepAlives = []time.Duration{0, 10 * time.Second}
	return m
}

// onDatabase is what locks of MySQL and PostgreSQL are asked: those of a connection, and rows that say until when.
func (s *Subject) onDatabase() []Promise {
	every := everyDatabase()
	service := Promise{Name: ExclusionAtService, Property: checker.ExclusionAtService, Model: every, Why: `
		The server gives the lock to one connection at a time, until that releases it or is over.`}
	release := Promise{Name: ReleaseSafety, Property: checker.ReleaseSafety, Model: every, Why: `
		A release ends the acquisition that it is for and no other.`}
	release.Model.Faults = search.Kinds(search.SameRandom)
	if s.Algorithm.Authority == locks.NoAuthority {
		release = s.lateRelease()
	}
	if !s.Expires {
		stands := Promise{
			Name: ExclusionUnlessForgotten, Property: checker.MutualExclusion, Model: search.FaultModel{
				Faults: slow(search.ServerAhead, search.ServerBack, search.Drift, search.Stall, search.Delay), Storage: waiting,
				Tasks: 2, Waits: true, Drift: 100_000,
			}, Why: `While its connection stands a client holds until it releases, and here nothing breaks connections.`,
		}
		stands = stands.played("unless-broken", alike)
		if stands.Model.Styles = s.heeded(); s.Asks { // what it asks while it holds may be answered too late for it, and it closes the connection
			stands.Model.Faults = slices.DeleteFunc(stands.Model.Faults, func(k search.Kind) bool {
				return k == search.ServerPause || k == search.Stall || k == search.Delay
			})
		}
		return append([]Promise{service.played("service", s.widen), release, stands, s.untilMissed(Promise{
			Name: Progress, Property: checker.Progress, Focus: deaths, Model: search.FaultModel{
				Faults: []search.Kind{search.ClientCrash, search.ClientPause, search.ClientClock}, Progress: 10,
			},
			Why: `Others get in when the client has died that holds the lock. Its connection is over when its process is, or when the
				server misses its machine: within the time of keep-alive, or, if it has an answer under way to it, when the kernel
				gives that up. A row that outlives the connection needs an end of its own. Nothing else happens to connections: a
				client that waits forever for an answer would not hear that the server has ended its session.`,
		})}, s.fenced(every)...)
	}
	service.Model.Faults = search.Kinds(search.ServerAhead, search.Drift, search.SameRandom)
	service.Model.KeepAlives, service.Model.Drift = nil, 0
	service.Why = `A statement takes the row over only if its time has passed on the server's clock, which is right or late.`
	late := func(m *search.FaultModel) { m.Timeouts = timeouts }
	messages := network
	if !s.Fresh { // the late release of an owner may end what it has taken since
		messages = waiting
	}
	list := s.bySameClocks([]Promise{service.played("service", late), release.played("release", late), Promise{
		Name: ExclusionWithinLease, Property: checker.MutualExclusion, Model: search.FaultModel{
			Faults:  append(slow(search.ServerCrash, search.PowerLoss, search.ServerBack, search.Drift), messages...),
			Storage: waiting, Within: 80, Drift: 5_000, Tasks: 2,
		}, Why: `The row is on the disk, and ends by the server's clock. Sections and faults take less than the lease together.`,
	}.played("within-lease", func(m *search.FaultModel) {
		m.Faults = slices.Concat(messages, slow(search.ServerCrash, search.PowerLoss, search.ServerBack, search.Drift))
		m.TTLs = []time.Duration{s.TTL, s.TTL / 10}
	}), s.untilMissed(Promise{
		Name: Progress, Property: checker.Progress, Focus: deaths, Extend: s.lateAtMost, Keeps: s.isLateAtMost, Model: search.FaultModel{
			Faults: slow(search.ServerCrash, search.Stall, search.Delay, search.Break), Progress: 10,
		}, Why: `The lease of a dead holder is over by the server's clock, and a transaction that it has open is when the server misses
			its machine.`,
	})})
	return append(list, s.fenced(every)...)
}

// missed is when a server has certainly missed a machine, and another client has had time to ask: what is not acknowledged is repeated
// for 924.6 s, and nothing is probed until then (Linux, tcp_retries2 and tcp_keepalive_timer).
const missed = 1000 * time.Second

// untilMissed lets servers take their time to miss a machine that has died, for what it has locked until then.
func (s *Subject) untilMissed(p Promise) Promise {
	extend, keeps := p.Extend, p.Keeps
	p.Model.KeepAlives = []time.Duration{s.TTL}
	p.Extend = func(src search.Source, of *scenarios.Scenario) {
		if extend != nil {
			extend(src, of)
		}
		for i := range of.Faults {
			if a := &of.Faults[i].Action; s.backTooEarly(a) {
				a.Restart = 2 * s.TTL
			}
		}
		if losesMachine(of) {
			of.Progress = max(of.Progress, missed)
		}
	}
	p.Keeps = func(of *scenarios.Scenario) bool {
		return !slices.ContainsFunc(of.Faults, func(f sim.Fault) bool { return s.backTooEarly(&f.Action) }) &&
			(!losesMachine(of) || of.Progress >= missed) && (keeps == nil || keeps(of))
	}
	return p
}

// losesMachine reports whether a machine dies.
func losesMachine(of *scenarios.Scenario) bool {
	return slices.ContainsFunc(of.Faults, func(f sim.Fault) bool { return f.Action.Kind == sim.Crash && f.Action.Host })
}

// backTooEarly reports whether a machine dies and is back before the server has missed it. Its kernel would then reset the
// old connection when the server's next probe arrives, which is not simulated.
func (s *Subject) backTooEarly(a *sim.Action) bool {
	return a.Kind == sim.Crash && a.Host && a.Restart != 0 && a.Restart < 2*s.TTL
}
