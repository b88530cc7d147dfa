package locktest

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

// everywhere is what locks of all kinds are asked.
func (s *subject) everywhere() []promise {
	var list []promise
	if s.ttl >= shortestHandover {
		list = append(list, s.handover())
	}
	if s.expires && s.renews {
		list = append(list, s.expiry())
	}
	if s.lost && (s.expires || inSession(s.kind())) { // of a connection that is over nobody hears who sends nothing on it
		list = append(list, s.noticeOfLoss())
	}
	list = append(list, s.leftovers()...)
	if s.reentrant {
		list = append(list, promise{
			name: Reentrance, property: checker.MutualExclusion, menu: search.Menu{Enters: 3, Within: 50},
			why: `Without faults, a section that has entered several times and left once is still inside.`,
		})
	}
	if s.algorithm.Program != nil {
		list = append(list, promise{
			name: Survival, property: checker.Survival, menu: search.Wide(&s.algorithm, search.Kinds()),
			why: `A library tells its caller what goes wrong, by an error. It does not end his process.`,
		})
	}
	if s.algorithm.Guard {
		list = append(list, promise{
			name: GuardedResource, property: checker.Resource, menu: search.Menu{
				Faults: search.Kinds(search.SameRandom), Tasks: 2, Waits: true, Drift: 100_000, Guarded: true,
			},
			why: `The lock's servers take an access in one step with the proof that the lease stands.`,
		})
	}
	return list
}

// leftovers are the promises about what a lock leaves behind, and about what it keeps by itself.
func (s *subject) leftovers() (list []promise) {
	menu := search.Menu{Faults: search.Kinds(search.SameRandom), Storage: network, Tasks: 2, Waits: true, Persistence: onDisk}
	if s.expires || s.kind() != "redis" {
		list = append(list, promise{
			name: NothingLeft, property: checker.Leak, share: 50, menu: menu, focus: lostAnswer,
			extend: func(_ search.Source, of *scenarios.Scenario) {
				for i := range of.Clients { // who ends at once may end before what its lock does in the background
					of.Clients[i].Stays = true
				}
			},
			keeps: func(of *scenarios.Scenario) bool {
				return !slices.ContainsFunc(of.Clients, func(c scenarios.Client) bool { return !c.Stays })
			},
			why: `What is left of an acquisition that is over goes at once, or with its lease, its session or its connection. No
				process ends before it can take back what it has asked for.`,
		})
	}
	if !s.algorithm.Keeps {
		return list
	}
	p := promise{
		name: NoSilentLoss, property: checker.SilentLoss, share: 50, menu: menu, focus: [][]search.Kind{{search.Error, search.Break}},
		extend: func(src search.Source, of *scenarios.Scenario) { // work lasts for as long as it takes to lose a lease and be told
			c := &of.Clients[src.Below(int64(len(of.Clients)))]
			if c.Work = s.ttl * time.Duration(3+src.Below(4)); s.several() && src.Below(4) == 0 {
				of.Faults = append(of.Faults, s.cutFromMajority(src, c.Name, of.Servers.Names()))
			}
		},
		why: `A grant that is renewed lasts, and a lease that states a notice gives it.`,
	}
	p.menu.Renewed = true
	if !s.lost {
		p.forgives = untold
	}
	return append(list, p)
}

// cutFromMajority takes the answers of all servers but a minority from a holder, for longer than its lease.
func (s *subject) cutFromMajority(src search.Source, client string, servers []string) sim.Fault {
	first := int(src.Below(int64(len(servers))))
	far := slices.Concat(servers[first:], servers[:first])[:len(servers)/2+1]
	return sim.Fault{
		Trigger: whenHolding(client, some(src, s.ttl)), For: s.tooLong() + some(src, 2*s.ttl),
		Action: sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{client}, To: far}},
	}
}

// untold is the kind of violation in which a holder was not told of its loss.
const untold = "not told"

// shortestHandover is the lease below which a handover cannot be told from the end of a lease: clients poll as often as
// five times a second.
const shortestHandover = time.Second

// handover has clients wait for each other without faults, one of them with less patience than it may take or none, and
// stay up when they are done, or come back later. Of several servers it lets a majority execute requests whose answers are lost, so that failed tries
// are to be cleaned up.
func (s *subject) handover() promise {
	bound := s.ttl - s.ttl/10
	return promise{
		name: Handover, property: checker.Progress, share: 50, menu: search.Menu{Within: 20, Progress: 1},
		extend: func(src search.Source, of *scenarios.Scenario) {
			of.Progress = bound
			n := int64(len(of.Clients))
			if i := src.Below(2 * n); i < n && s.kind() != "consul" { // where a session that is given up delays the next one
				c := &of.Clients[i]
				if c.Wait = s.ttl / 10; src.Below(2) == 1 {
					c.Wait = locks.Try
				}
				if src.Below(2) == 1 {
					c.Again = 0
				}
			}
			if src.Below(2) == 1 { // one comes while another leaves
				of.Clients[n-1].Start = of.Clients[0].Start + of.Clients[0].Work + time.Millisecond*time.Duration(src.Below(8))
			}
			after := src.Below(3)
			for i := range of.Clients { // nothing is free because a connection or a session is over, unless they end
				c := &of.Clients[i]
				if c.Stays = after > 0 || c.Wait != locks.Forever; after > 1 {
					c.Sections, c.Think = 2, 2*s.ttl
				}
			}
			if s.several() && src.Below(2) == 1 {
				of.Faults = append(of.Faults, lostAnswers(src, of)...)
			}
		},
		keeps: func(of *scenarios.Scenario) bool { // several who come and go may keep each other from a queue's head
			impatient := 0
			for i := range of.Clients {
				if c := &of.Clients[i]; c.Wait != locks.Forever {
					if impatient += c.Count * c.Tasks; c.Wait < s.ttl/10 && c.Wait != locks.Try || !c.Stays {
						return false
					}
				}
			}
			return impatient <= 1 && (impatient == 0 || s.kind() != "consul")
		},
		why: `Nobody holds for longer than a fifth of a lease, and a release, or the clean-up after a try that failed, frees the
			lock at once: a client that waits need not wait until a lease has ended, or another client is gone.`,
	}
}

// lostAnswers breaks one client's connections to a majority of the servers when they have granted it the lock.
func lostAnswers(src search.Source, of *scenarios.Scenario) []sim.Fault {
	client := of.Clients[src.Below(int64(len(of.Clients)))].Name
	servers := of.Servers.Names()
	first, nth := int(src.Below(int64(len(servers)))), int(src.Below(2))
	var faults []sim.Fault
	for i := range len(servers)/2 + 1 {
		server := servers[(first+i)%len(servers)]
		faults = append(faults, sim.Fault{
			Trigger: sim.Trigger{When: sim.Before, Nth: nth, Step: sim.Pattern{
				Node: server, Does: trace.Execute, What: "acquire", Peer: client,
			}},
			Action: sim.Action{Kind: sim.Break, This: true, RST: true, Lose: sim.LoseReply},
		})
	}
	return faults
}

// lostWaiters takes clients' places away while another is well inside its section, so that nothing that they have asked
// before can still be answered when it leaves.
func (s *subject) lostWaiters(menu search.Menu) promise {
	menu.Clients, menu.Waits, menu.Renewed = 4, false, true
	menu.Faults, menu.Storage, menu.Styles, menu.Fencing = nil, nil, nil, nil
	return promise{
		name: ExclusionOfLostWaiters, property: checker.MutualExclusion, menu: menu, keeps: s.losesWaitersOnly,
		extend: func(src search.Source, of *scenarios.Scenario) {
			of.Resource.Registers = 1
			for i := range of.Clients {
				of.Clients[i].Work = max(of.Clients[i].Work, s.ttl/2)
				of.Clients[i].Read, of.Clients[i].Write = 0, nil
				of.Clients[i].Start = min(of.Clients[i].Start, s.ttl/10)
			}
			for range 1 + src.Below(2) {
				of.Faults = append(of.Faults, s.lossOfPlace(src, of))
			}
		},
		why: `A client that waits when its session ends has lost its place, and finds that out before it holds. No holder loses its own:
			what happens begins while another one holds.`,
	}
}

// lossOfPlace draws how a client that waits is lost.
func (s *subject) lossOfPlace(src search.Source, of *scenarios.Scenario) sim.Fault {
	n := int64(len(of.Clients))
	holder := src.Below(n)
	waiter := of.Clients[(holder+1+src.Below(n-1))%n].Name
	f := sim.Fault{Trigger: sim.Trigger{
		When: sim.After, Step: sim.Pattern{Node: of.Clients[holder].Name, Does: trace.Acquired},
		Nth: int(src.Below(2)), Plus: s.ttl / 100 * time.Duration(1+src.Below(20)),
	}}
	ways := int64(3)
	if s.kind() == "chubby" { // it answers who waits when his turn comes, and a client that pauses reads that when it goes on
		ways = 2
	}
	switch src.Below(ways) {
	case 0:
		f.Action = sim.Action{Kind: sim.EndSession, Node: waiter}
	case 1:
		f.Action = sim.Action{Kind: sim.Crash, Node: waiter}
	default:
		f.Action, f.For = sim.Action{Kind: sim.Pause, Node: waiter}, s.ttl*time.Duration(2+src.Below(2))
	}
	return f
}

// losesWaitersOnly reports whether each fault takes the place of a client that waits, as lostWaiters draws it.
func (s *subject) losesWaitersOnly(of *scenarios.Scenario) bool {
	for i := range of.Clients {
		if c := &of.Clients[i]; c.Work < s.ttl/2 || c.Read > 0 || c.Write != nil || c.Start > s.ttl/10 {
			return false
		}
	}
	for i := range of.Faults {
		t, a := &of.Faults[i].Trigger, &of.Faults[i].Action
		if t.When != sim.After || t.Step.Does != trace.Acquired || t.Step.Node == "" || t.Step.Node == a.Node ||
			t.Plus < s.ttl/100 || t.Plus > s.ttl/5 || a.Kind == sim.Pause && of.Faults[i].For < 2*s.ttl {
			return false
		}
	}
	return true
}

// fenced is what is asked of a lock that hands out tokens, under whatever else is on the menu.
func (s *subject) fenced(menu search.Menu) []promise {
	if !s.algorithm.Token {
		return nil
	}
	menu.Fencing = []history.Fencing{history.FencedReadWrite}
	held := [][]search.Kind{{search.ClientPause}, {search.ClientPause, search.Delay}} // between the token and the grant
	if inSession(s.kind()) {
		held = append(held, lostHolders...)
	}
	return []promise{
		{name: TokenOrder, property: checker.FencingOrder, menu: menu, focus: held,
			why: `Whatever makes the token grows with every grant, and is as durable as the lock.`},
		{name: FencedResource, property: checker.Resource, menu: menu,
			why: `Tokens grow from holder to holder, so that sections are applied in the order of their tokens. One register only.`},
	}
}

// lateAtMost bounds how late one message may be: a client without time-outs waits for it, and no fault is over meanwhile.
func (s *subject) lateAtMost(_ search.Source, of *scenarios.Scenario) {
	for i := range of.Faults {
		if a := &of.Faults[i].Action; a.Kind == sim.Delay {
			a.By = min(a.By, s.ttl)
		}
	}
}

// isLateAtMost reports whether lateAtMost has nothing to bound.
func (s *subject) isLateAtMost(of *scenarios.Scenario) bool {
	return !slices.ContainsFunc(of.Faults, func(f sim.Fault) bool { return f.Action.Kind == sim.Delay && f.Action.By > s.ttl })
}
