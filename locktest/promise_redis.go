package locktest

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// onRedis is what locks on Redis are asked.
func (s *subject) onRedis() []promise {
	list := []promise{s.exclusionOnRedis()}
	// Votes take time, and only a deadline can say how much of the lease is left, unless that is made whole again.
	if s.deadline || s.several() && !s.renews {
		list = append(list, s.untilDeadline())
	}
	// A value that serves a task for good cannot tell its acquisitions apart, nor can the servers then.
	if s.expires && s.fresh && s.algorithm.Authority != locks.Replicated {
		list = append(list, promise{name: ExclusionAtService, property: checker.ExclusionAtService, menu: search.Menu{
			Faults:  search.Kinds(search.ServerAhead, search.Drift, search.SameRandom, search.Evict, search.Failover, search.Partition, search.Lag),
			Storage: network, Tasks: 2, Waits: true, Persistence: onDisk,
		}, why: `
			The key is made only if there is none, it ends when its lease has elapsed on a clock that is right or late, and nobody
			but its owner deletes it or prolongs its life.`})
	}
	if s.expires && s.algorithm.Authority == locks.NoAuthority {
		list = append(list, s.lateRelease())
	}
	list = append(list, s.releaseOnRedis(), promise{name: Progress, property: checker.Progress, focus: deaths, extend: s.lateAtMost, keeps: s.isLateAtMost, menu: search.Menu{
		Faults:      slow(search.ServerCrash, search.Stall, search.Delay, search.Break, search.Error),
		Persistence: onDisk, Progress: 10, Uneven: s.several(),
	}, why: `A key that nobody will release, of a dead holder or a late request, is gone after one lease.`})
	if s.several() {
		list = append(list, s.availability())
	}
	list = append(list, s.fenced(search.Menu{
		Faults: search.Kinds(search.SameRandom), Storage: append(slices.Clone(network), search.ServerPause, search.ServerCrash,
			search.PowerLoss), Persistence: onDisk, Tasks: 2, Waits: true, Drift: 100_000,
	})...)
	for i := range list { // runs on several servers take long, and most of what can go wrong there goes wrong often
		switch p := &list[i]; {
		case !s.several():
		case p.name == ExclusionUntilDeadline:
			p.share = 200
		case p.property != checker.MutualExclusion:
			p.share = 25
		}
	}
	return list
}

// releaseOnRedis is of releases that come late, or twice. A client that may enter again is known to the servers by its name, not
// by an acquisition: a late release may end a later hold of his own.
func (s *subject) releaseOnRedis() promise {
	late := []search.Kind{search.ClientPause, search.ServerPause, search.Delay, search.Stall}
	p := promise{name: ReleaseSafety, property: checker.ReleaseSafety, focus: [][]search.Kind{late}, menu: search.Menu{
		Faults: search.Kinds(search.SameRandom), Storage: network, Tasks: 2, Waits: true, Drift: 100_000,
		Persistence: []string{"none", "everysec", "always"}, Disk: []string{"honest", "lies"},
	}, why: `
		A release ends the acquisition that it is for and no other, whatever becomes of keys and clocks.`}
	if s.byName {
		p.forgives, p.why = releasedLater, `
			A release ends a hold of its owner and of nobody else. It may be late, and end what its owner has entered since.`
	}
	return p
}

// releasedLater is the kind of violation that is a late release which ends a later hold of its own client.
const releasedLater = "released a later try"

// exclusionOnRedis is exclusion as long as a key lives: forever, for a lease, or while it is renewed.
func (s *subject) exclusionOnRedis() promise {
	faults := slow(search.ServerBack, search.Drift)
	switch {
	case !s.expires:
		return promise{name: ExclusionUnlessForgotten, property: checker.MutualExclusion, menu: search.Menu{
			Faults: search.Kinds(search.Evict), Storage: network, Tasks: 2, Waits: true, Drift: 100_000, Persistence: onDisk,
		}, why: `The key has no deadline, and the server does not forget it: only its holder's release ends it.`}
	case s.renews:
		return promise{name: ExclusionWhileRenewed, property: checker.MutualExclusion, menu: search.Menu{
			Faults: append(faults, search.Stall, search.Delay), Storage: waiting, Persistence: onDisk,
			Within: s.spare(), Renewed: true, Drift: 5_000, Tasks: 2,
		}, why: `
			Faults take less than three quarters of what is left of the lease when it is renewed. No answer is an error, or lost.`}
	}
	m := search.Menu{
		Faults:  append(slices.Concat(network, faults), search.ServerCrash, search.PowerLoss),
		Storage: waiting, Within: 80, Drift: 5_000, Tasks: 2, Waits: true, Persistence: onDisk,
	}
	var focus [][]search.Kind
	switch {
	case s.algorithm.Authority == locks.Replicated:
		m.Within, m.Drift, m.Replicas = 60, 0, []int{1}
		m.Faults = slices.DeleteFunc(m.Faults, func(k search.Kind) bool { return k == search.Drift })
		m.Faults = append(m.Faults, search.Failover, search.Partition, search.Lag)
		m.FullSyncs = []time.Duration{0, 10 * time.Millisecond}
		focus = [][]search.Kind{{search.Failover, search.Lag, search.ClientPause}}
	case s.several():
		m.Within, focus = 60, [][]search.Kind{{search.Cut, search.Stall, search.Break, search.Error}}
	}
	return promise{name: ExclusionWithinLease, property: checker.MutualExclusion, menu: m, focus: focus, why: `
		The key is there from the request that made it until its holder's release, since nobody else removes it, and the
		servers neither forget it nor end it too early. Sections and faults take less than the lease together.`}
}

// spare is how much of a lease faults may take if it is renewed so late, and messages take their time, too.
func (s *subject) spare() int64 { return max(s.margin*3/4, 8) }

// untilDeadline is of holders that stop at the deadline that their lease states.
func (s *subject) untilDeadline() promise {
	m := search.Menu{
		Faults:  search.Kinds(search.ServerAhead, search.SameRandom, search.Evict, search.Drift, search.Failover, search.Partition, search.Lag),
		Storage: network, Persistence: onDisk, Styles: careful, Waits: true,
	}
	if m.Drift = s.coveredDrift(); m.Drift > 0 {
		m.Faults = append(m.Faults, search.Drift)
	}
	late := []search.Kind{search.ClientPause, search.ServerPause, search.Delay, search.Stall}
	focus := [][]search.Kind{late, late, {search.ClientClock}, {search.ClientClock}}
	if m.Drift > 0 {
		focus = append(focus, []search.Kind{search.Drift})
	}
	return promise{name: ExclusionUntilDeadline, property: checker.MutualExclusion, menu: m, focus: focus, why: `
		The deadline is counted from before the first request, so that no key of the holder's is older; and what it falls short
		of the lease by covers how far clocks may drift apart. How long processes pause and messages travel plays no part.`}
}

// coveredDrift is how far clocks may drift, in parts per million: for several servers what Redlock's specification says,
// for one what the deadline allows for. With the lease T and the allowance d a rate r is covered if r <= d/(2T-d).
func (s *subject) coveredDrift() int64 {
	if s.several() {
		return 5_000
	}
	d := s.allowance - 2*time.Millisecond // for the milliseconds in which Redis counts
	if d <= 0 {
		return 0
	}
	return int64(d/time.Microsecond) * 900_000 / int64((2*s.ttl-d)/time.Microsecond)
}

// availability is of a majority of servers while the others fail.
func (s *subject) availability() promise {
	return promise{name: Availability, property: checker.Availability, menu: search.Menu{
		Faults:  []search.Kind{search.ServerPause, search.ServerCrash, search.PowerLoss},
		Masters: []int{5}, Persistence: onDisk, Progress: 8, Most: 2,
	}, why: `Two servers of five fail at most, and no client waits for an answer for long: three can grant the lock.`}
}
