package promise

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// onRedis is what locks on Redis are asked.
func (s *Subject) onRedis() []Promise {
	list := s.exclusionOnRedis()
	// Votes take time, and only a deadline can say how much of the lease is left, unless that is made whole again.
	if s.Deadline || s.Several() && !s.Renews {
		list = append(list, s.untilDeadline())
	}
	// A value that serves a task for good cannot tell its acquisitions apart, nor can the servers then.
	if s.Expires && s.Fresh && s.Algorithm.Authority != locks.Replicated {
		service := Promise{Name: ExclusionAtService, Property: checker.ExclusionAtService, Model: search.FaultModel{
			Faults:  search.Kinds(search.ServerAhead, search.Drift, search.SameRandom, search.Evict, search.Failover, search.Partition, search.Lag),
			Storage: network, Tasks: 2, Waits: true, Persistence: onDisk,
		}, Why: `
			The key is made only if there is none, it ends when its lease has elapsed on a clock that is right or late, and nobody
			but its owner deletes it or prolongs its life.`}
		list = append(list, service.played("service", func(m *search.FaultModel) {
			m.Faults, m.Timeouts = search.Kinds(search.ServerAhead, search.Drift, search.SameRandom, search.Evict), timeouts
		}))
	}
	if s.Expires && s.Algorithm.Authority == locks.NoAuthority {
		list = append(list, s.lateRelease())
	}
	list = append(list, s.releaseOnRedis(), s.progressOnRedis())
	if s.Several() {
		list = append(list, s.availability())
	}
	list = append(list, s.fencedOnRedis()...)
	for i := range list { // runs on several servers take long, and most of what can go wrong there goes wrong often
		switch p := &list[i]; {
		case !s.Several():
		case p.Name == ExclusionUntilDeadline:
			p.Share = 200
		case p.Property != checker.MutualExclusion:
			p.Share = 25
		}
	}
	return s.bySameClocks(list)
}

// onLease is what locks are asked that live on one server which forgets them when it dies, as on memcached.
func (s *Subject) onLease() []Promise {
	faults := slow(search.ServerAhead, search.ServerBack, search.Drift, search.Cut, search.Stall, search.Delay, search.Break,
		search.Error)
	var copied []search.Kind // what servers survive that copy what one of them has acknowledged
	var apart [][]search.Kind
	lives := []time.Duration{s.TTL, s.TTL / 2}
	if s.facts().Role != "" {
		copied, apart = []search.Kind{search.ServerCrash, search.PowerLoss, search.Partition, search.Lag}, [][]search.Kind{{search.Partition}}
		lives = []time.Duration{6 * s.TTL, 12 * s.TTL} // in which there is time for an election
	}
	if s.TTL >= time.Minute { // an election takes some twelve seconds, more than a short lease has to spare
		faults = append(faults, copied...)
	}
	whole := max(s.TTL-s.facts().Early, 0) // a fourth of it is left for messages
	list := []Promise{
		Promise{Name: ExclusionWithinLease, Property: checker.MutualExclusion, Model: search.FaultModel{
			Faults: faults, Storage: waiting, Within: max(int64(whole*75/s.TTL), 1), Drift: 5_000, Tasks: 2, Waits: true,
		}, Why: `
			The item is there until it is deleted, unless the server dies, needs the room, or its time is over, by the units in
			which the server counts it. Sections and faults take less than that together.`}.played("within-lease", func(m *search.FaultModel) {
			m.Faults = slices.Concat(network, slow(search.ServerAhead, search.ServerBack, search.Drift), copied)
			m.Within, m.Waits, m.TTLs = 60, false, lives
		}),
		Promise{Name: ReleaseSafety, Property: checker.ReleaseSafety, Model: search.FaultModel{
			Faults:  search.Kinds(search.SameRandom, search.ServerCrash, search.PowerLoss),
			Storage: network, Tasks: 2, Waits: true, Drift: 100_000,
		}, Why: `
			A release ends the acquisition that it is for and no other.`}.
			played("release", func(m *search.FaultModel) { m.Timeouts = timeouts }),
		{Name: Progress, Property: checker.Progress, Focus: deaths, Extend: s.lateAtMost, Keeps: s.isLateAtMost, Model: search.FaultModel{
			Faults: slow(search.ServerCrash, search.Stall, search.Delay, search.Break, search.Error), Progress: 10,
		}, Why: `An item that nobody will delete is gone after one lease.`},
	}
	if !s.Expires {
		list[2].Why = "Others get in when the client has died that holds the lock: something ends what nobody will release."
	}
	if s.Fresh {
		list = append(list, Promise{
			Name: ExclusionAtService, Property: checker.ExclusionAtService, Focus: apart, Model: search.FaultModel{
				Faults:  append(search.Kinds(search.SameRandom, search.ServerCrash, search.PowerLoss, search.Evict, search.ServerAhead, search.Drift), copied...),
				Storage: network, Tasks: 2, Waits: true,
			}, Forgives: serversFault, Why: `
				The item is made only if there is none, and nobody but its owner replaces it before its time is over.`,
		})
		if own := &list[len(list)-1]; copied != nil { // what one of several servers does by mistake the others are to make good
			*own = withSameClocks(*own)
			own.Forgives = nil
		}
	}
	return append(s.bySameClocks(list), s.fenced(search.FaultModel{
		Faults:  search.Kinds(search.SameRandom, search.ServerCrash, search.PowerLoss, search.Evict),
		Storage: network, Tasks: 2, Waits: true, Drift: 100_000,
	})...)
}

// serversFault forgives what a server has done: memcached ends items up to a second early.
func serversFault(_ *history.History, v *checker.Violation) bool { return v.Broken == checker.Server }

// bySameClocks returns the promises of a lock. One whose clients compare the times of different clocks keeps only what a release
// promises whatever the clocks show.
func (s *Subject) bySameClocks(list []Promise) []Promise {
	for i := range list {
		if s.Wall && list[i].Name != ReleaseSafety {
			list[i] = withSameClocks(list[i])
		}
	}
	return list
}

// withSameClocks returns a promise that holds as long as all clocks show the same.
func withSameClocks(p Promise) Promise {
	clock := func(k search.Kind) bool {
		return slices.Contains([]search.Kind{search.ClientClock, search.ServerAhead, search.ServerBack, search.Drift}, k)
	}
	for _, m := range []*search.FaultModel{&p.Model, &p.Narrow} {
		m.Drift, m.Faults = 0, slices.DeleteFunc(slices.Clone(m.Faults), clock)
	}
	p.Focus = slices.DeleteFunc(slices.Clone(p.Focus), func(kinds []search.Kind) bool { return slices.ContainsFunc(kinds, clock) })
	p.Why += ` All clocks show the same.`
	return p
}

// exclusionOnRedis is exclusion as long as a key lives: forever, for a lease, or while it is renewed.
func (s *Subject) exclusionOnRedis() []Promise {
	faults, late := slow(search.ServerBack, search.Drift), []search.Kind{
		search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerBack, search.Drift,
	}
	switch {
	case !s.Expires:
		p := Promise{Name: ExclusionUnlessForgotten, Property: checker.MutualExclusion, Model: search.FaultModel{
			Faults:  search.Kinds(search.Evict, search.SameRandom),
			Storage: network, Tasks: 2, Waits: true, Drift: 100_000, Persistence: onDisk,
		}, Why: `The key has no deadline, and the server does not forget it: only its holder's release ends it.`}
		return []Promise{p.played("unless-forgotten", func(m *search.FaultModel) {
			m.Faults, m.Timeouts = search.Kinds(search.Evict), timeouts // locks of the catalogue make their values of more
		})}
	case s.Renews:
		p := Promise{Name: ExclusionWhileRenewed, Property: checker.MutualExclusion, Model: search.FaultModel{
			Faults: append(faults, search.Stall, search.Delay), Storage: waiting, Persistence: onDisk,
			Within: s.spare(), Renewed: true, Drift: 5_000, Tasks: 2, Styles: heeding,
		}, Why: `
			Faults take less than three quarters of what is left of the lease when it is renewed. No answer is an error, or lost.`}
		if s.RenewsFor > 0 {
			p.Extend, p.Keeps = s.whileKept, s.areWhileKept
		}
		p = p.played("renewed", func(m *search.FaultModel) {
			m.Styles, m.Faults, m.TTLs = nil, slices.Concat(waiting, late), []time.Duration{s.TTL, 3 * s.TTL}
			if s.Reentrant {
				m.Enters = 3
			}
		})
		if within := s.withinLease(); !s.Reentrant {
			within.Name = "" // of campaigns alone: clients that are done before the lease is renewed
			return []Promise{p, within}
		}
		return []Promise{p}
	}
	return []Promise{s.withinLease()}
}

// whileKept has no section last for longer than the lock renews its lease.
func (s *Subject) whileKept(_ search.Source, of *scenarios.Scenario) {
	for i := range of.Clients {
		c := &of.Clients[i]
		c.Work, c.Read = min(c.Work, s.RenewsFor), min(c.Read, s.RenewsFor)
		if c.Write != nil {
			*c.Write = min(*c.Write, s.RenewsFor)
		}
	}
}

func (s *Subject) areWhileKept(of *scenarios.Scenario) bool {
	return !slices.ContainsFunc(of.Clients, func(c scenarios.Client) bool {
		return max(c.Work, c.Read) > s.RenewsFor || c.Write != nil && *c.Write > s.RenewsFor
	})
}

// withinLease is of holders that are done before their lease is over. Between the request that makes the key and the one that
// releases it lie the section's work, messages, and what faults take: four fifths of the lease at most. A fifth is left for
// messages that are merely slow, and for clocks that are wrong by half a percent at either end. Asking five servers in turn, or
// waiting for a replica, takes another fifth of a short lease.
func (s *Subject) withinLease() Promise {
	faults := slow(search.ServerBack, search.Drift)
	m := search.FaultModel{
		Faults:  append(slices.Concat(network, faults), search.ServerCrash, search.PowerLoss),
		Storage: waiting, Within: 80, Drift: 5_000, Tasks: 2, Waits: true, Persistence: onDisk,
	}
	var focus [][]search.Kind
	switch {
	case s.Algorithm.Authority == locks.Replicated:
		m.Within, m.Drift, m.Replicas = 60, 0, []int{1}
		m.Faults = slices.DeleteFunc(m.Faults, func(k search.Kind) bool { return k == search.Drift })
		m.Faults = append(m.Faults, search.Failover, search.Partition, search.Lag)
		m.FullSyncs = []time.Duration{0, 10 * time.Millisecond}
		focus = [][]search.Kind{{search.Failover, search.Lag, search.ClientPause}}
	case s.Several():
		m.Within, focus = 60, [][]search.Kind{{search.Cut, search.Stall, search.Break, search.Error}}
	}
	p := Promise{Name: ExclusionWithinLease, Property: checker.MutualExclusion, Model: m, Focus: focus, Why: `
		The key is there from the request that made it until its holder's release, since nobody else removes it, and the
		servers neither forget it nor end it too early. Sections and faults take less than the lease together.`}
	return p.played("within-lease", func(m *search.FaultModel) {
		m.Waits = false
		switch {
		case s.Algorithm.Authority == locks.Replicated:
			m.Faults = slices.Concat(network, slow(search.ServerCrash, search.PowerLoss, search.ServerBack, search.Failover,
				search.Partition, search.Lag))
			m.TTLs = []time.Duration{s.TTL, 3 * s.TTL}
		case s.Fresh || s.Algorithm.Identity != "value":
			m.Faults = slices.Concat(network, slow(search.ServerCrash, search.PowerLoss, search.ServerBack, search.Drift))
		default: // the late clean-up of a try whose answer was lost may meet a later one, which has the same value
			m.Faults = slices.Concat(waiting, []search.Kind{
				search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerBack, search.Drift, search.Error,
			})
		}
	})
}

// spare is how much of a lease faults may take if it is renewed so late, and messages take their time, too.
func (s *Subject) spare() int64 { return max(s.Margin*3/4, 8) }

// untilDeadline is of holders that stop at the deadline that their lease states.
func (s *Subject) untilDeadline() Promise {
	m := search.FaultModel{
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
	p := Promise{Name: ExclusionUntilDeadline, Property: checker.MutualExclusion, Model: m, Focus: focus, Extend: s.lateAnswer, Why: `
		The deadline is counted from before the first request, so that no key of the holder's is older; and what it falls short
		of the lease by covers how far clocks may drift apart. How long processes pause and messages travel plays no part.`}
	row, wall := "careful", s.Algorithm.Deadline == locks.OnWall
	if s.Allowance == 0 && !wall {
		row = "careful-without-drift"
	}
	switch {
	case s.Several() && !s.Deadline:
		p.Why = "Votes take time: without a deadline, and without renewals, a holder cannot know how much of its lease is left."
		return p
	case !s.Several():
		return p
	}
	return p.played(row, func(m *search.FaultModel) {
		m.Faults, m.Timeouts = search.Kinds(search.ServerAhead, search.SameRandom, search.Evict), timeouts
		switch {
		case wall: // nobody may set its clock; and one value serves all tries, so that no late clean-up may meet it
			m.Timeouts, m.Faults = nil, search.Kinds(search.ServerAhead, search.SameRandom, search.Evict, search.ClientClock, search.Break,
				search.ServerCrash, search.PowerLoss)
		case s.Allowance == 0:
			m.Faults = search.Kinds(search.ServerAhead, search.SameRandom, search.Evict, search.Drift)
		}
	})
}

// lateAnswer has, in one scenario of eight, a client that works for long be paused for a part of its lease while the answer to one of its
// first requests is under way, and nothing else go wrong: a deadline may be counted from any of them.
func (s *Subject) lateAnswer(src search.Source, of *scenarios.Scenario) {
	if src.Below(8) > 0 {
		return
	}
	late := s.TTL / 10 * time.Duration(2+src.Below(7))
	for i := range of.Clients {
		c := &of.Clients[i]
		c.Wait, c.Tasks = locks.Forever, 1
		if i > 0 { // else another one has it first
			c.Start = late + time.Duration(i)*s.TTL/20
		}
	}
	holder := &of.Clients[0]
	holder.Count, holder.Start, holder.Sections, holder.Work = 1, 0, 1, 2*s.TTL
	nth := int(src.Below(5)) // 0 is the first as well, which matters most
	of.Clocks, of.Faults = nil, []sim.Fault{{
		Trigger: sim.Trigger{
			When: sim.After, Nth: nth, Step: sim.Pattern{Node: holder.Name, Does: trace.Send, Peer: s.facts().Node + "-*"},
		},
		Action: sim.Action{Kind: sim.Pause, Node: holder.Name}, For: late,
	}}
}

// untilDeadlineElsewhere is that of locks whose servers are none of Redis: one may forget the lock when it dies.
func (s *Subject) untilDeadlineElsewhere() Promise {
	p := s.untilDeadline()
	p.Model.Faults = slices.DeleteFunc(p.Model.Faults, func(k search.Kind) bool {
		return k == search.ServerCrash || k == search.PowerLoss || k == search.EndSession // which ends what was promised for longer
	})
	if s.Wall {
		p = withSameClocks(p)
	}
	return p
}

// coveredDrift is how far clocks may drift, in parts per million: for several servers what Redlock's specification says,
// for one what the deadline allows for. With the lease T and the allowance d a rate r is covered if r <= d/(2T-d).
func (s *Subject) coveredDrift() int64 {
	if s.Several() {
		return 5_000
	}
	d := s.Allowance - max(s.facts().Early, 2*time.Millisecond) // in which Redis counts, or what an entry may end early by
	if d <= 0 {
		return 0
	}
	return int64(d/time.Microsecond) * 900_000 / int64((2*s.TTL-d)/time.Microsecond)
}
