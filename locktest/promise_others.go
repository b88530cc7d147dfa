package locktest

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// onMemcached is what locks on memcached are asked.
func (s *subject) onMemcached() []promise {
	faults := slow(search.ServerAhead, search.ServerBack, search.Drift, search.Cut, search.Stall, search.Delay, search.Break,
		search.Error)
	// Whole seconds are counted, so that an item ends up to one early; a fourth of the rest is left for messages.
	whole := max(s.ttl-time.Second, 0)
	list := []promise{
		{name: ExclusionWithinLease, property: checker.MutualExclusion, menu: search.Menu{
			Faults: faults, Storage: waiting, Within: max(int64(whole*75/s.ttl), 1), Drift: 5_000, Tasks: 2, Waits: true,
		}, why: `
			The item is there until it is deleted, unless the server dies, needs the room, or its time is over: a second early at
			worst. Sections and faults take less than that together.`},
		{name: ReleaseSafety, property: checker.ReleaseSafety, menu: search.Menu{
			Faults:  search.Kinds(search.SameRandom, search.ServerCrash, search.PowerLoss),
			Storage: network, Tasks: 2, Waits: true, Drift: 100_000,
		}, why: `
			A release ends the acquisition that it is for and no other.`},
		{name: Progress, property: checker.Progress, focus: deaths, extend: s.lateAtMost, keeps: s.isLateAtMost, menu: search.Menu{
			Faults: slow(search.ServerCrash, search.Stall, search.Delay, search.Break, search.Error), Progress: 10,
		}, why: `An item that nobody will delete is gone after one lease.`},
	}
	return append(list, s.fenced(search.Menu{
		Faults:  search.Kinds(search.ServerCrash, search.PowerLoss, search.Evict),
		Storage: network, Tasks: 2, Waits: true, Drift: 100_000,
	})...)
}

// onDatabase is what locks of MySQL and PostgreSQL are asked: those of a connection, and rows that say until when.
func (s *subject) onDatabase() []promise {
	every := search.Menu{
		Faults: search.Kinds(search.SameRandom), Storage: network, Tasks: 2, Waits: true, Drift: 100_000,
		KeepAlives: []time.Duration{0, 10 * time.Second},
	}
	service := promise{name: ExclusionAtService, property: checker.ExclusionAtService, menu: every, why: `
		The server gives the lock to one connection at a time, until that releases it or is over.`}
	release := promise{name: ReleaseSafety, property: checker.ReleaseSafety, menu: every, why: `
		A release ends the acquisition that it is for and no other.`}
	release.menu.Faults = search.Kinds(search.SameRandom)
	if !s.expires {
		return append([]promise{service, release, {
			name: ExclusionUnlessForgotten, property: checker.MutualExclusion, menu: search.Menu{
				Faults: slow(search.ServerAhead, search.ServerBack, search.Drift, search.Stall, search.Delay), Storage: waiting,
				Tasks: 2, Waits: true, Drift: 100_000,
			}, why: `While its connection stands a client holds until it releases, and here nothing breaks connections.`,
		}, {
			name: Progress, property: checker.Progress, focus: deaths, menu: search.Menu{
				Faults:     []search.Kind{search.ClientCrash, search.ClientPause, search.ClientClock},
				KeepAlives: []time.Duration{s.ttl}, Progress: 10,
			},
			extend: func(_ search.Source, of *scenarios.Scenario) {
				for i := range of.Faults {
					if a := &of.Faults[i].Action; s.backTooEarly(a) {
						a.Restart = 2 * s.ttl
					}
				}
			},
			keeps: func(of *scenarios.Scenario) bool {
				return !slices.ContainsFunc(of.Faults, func(f sim.Fault) bool { return s.backTooEarly(&f.Action) })
			},
			why: `The connection of a dead client is over when its process is, or when the server misses its machine. Nothing else
				happens to connections: a client that waits forever for an answer would
				not hear that the server has ended its session.`,
		}}, s.fenced(every)...)
	}
	service.menu.Faults = search.Kinds(search.ServerAhead, search.Drift, search.SameRandom)
	service.menu.KeepAlives, service.menu.Drift = nil, 0
	service.why = `A statement takes the row over only if its time has passed on the server's clock, which is right or late.`
	return append([]promise{service, release, {
		name: ExclusionWithinLease, property: checker.MutualExclusion, menu: search.Menu{
			Faults:  append(slow(search.ServerCrash, search.PowerLoss, search.ServerBack, search.Drift), network...),
			Storage: waiting, Within: 80, Drift: 5_000, Tasks: 2,
		}, why: `The row is on the disk, and ends by the server's clock. Sections and faults take less than the lease together.`,
	}, {
		name: Progress, property: checker.Progress, focus: deaths, extend: s.lateAtMost, keeps: s.isLateAtMost, menu: search.Menu{
			Faults: slow(search.ServerCrash, search.Stall, search.Delay, search.Break), Progress: 10,
		}, why: `The lease of a dead holder is over by the server's clock.`,
	}}, s.fenced(every)...)
}

// backTooEarly reports whether a machine dies and is back before the server has missed it. Its kernel would then reset the
// old connection when the server's next probe arrives, which is not simulated.
func (s *subject) backTooEarly(a *sim.Action) bool {
	return a.Kind == sim.Crash && a.Host && a.Restart != 0 && a.Restart < 2*s.ttl
}
