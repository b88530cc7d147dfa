package promise

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// leftovers are the promises about what a lock leaves behind, and about what it keeps by itself.
func (s *Subject) leftovers() (list []Promise) {
	model := search.FaultModel{Faults: search.Kinds(search.SameRandom), Storage: network, Tasks: 2, Waits: true, Persistence: onDisk}
	if s.Expires || s.facts().Holds != "" {
		left := Promise{
			Name: NothingLeft, Property: checker.Leak, Share: 50, Model: model, Focus: lostAnswer,
			Extend: func(_ search.Source, of *scenarios.Scenario) {
				for i := range of.Clients { // a client that ends at once may do so before what its lock does in the background
					of.Clients[i].Stays = true
				}
			},
			Keeps: func(of *scenarios.Scenario) bool {
				return !slices.ContainsFunc(of.Clients, func(c scenarios.Client) bool { return !c.Stays })
			},
			Why: `What is left of an acquisition that is over goes at once, or with its lease, its session or its connection. No
				process ends before it can take back what it has asked for.`,
		}
		if s.ensemble() {
			left.Share = 0 // what a server has not heard of yet takes two faults and the right moment
		}
		list = append(list, left.played("leaves-nothing", s.leavesNothing))
	}
	if !s.Algorithm.Keeps {
		return list
	}
	p := Promise{
		Name: NoSilentLoss, Property: checker.SilentLoss, Share: 50, Model: model, Focus: [][]search.Kind{{search.Error, search.Break}},
		Extend: func(src search.Source, of *scenarios.Scenario) { // work lasts for as long as it takes to lose a lease and be told
			c := &of.Clients[src.Below(int64(len(of.Clients)))]
			if c.Work = s.TTL * time.Duration(3+src.Below(4)); s.Several() && src.Below(4) == 0 {
				of.Faults = append(of.Faults, s.cutFromMajority(src, c.Name, of.Servers.Names()))
			}
		},
		Why: `A grant that is renewed lasts, and a lease that states a notice gives it.`,
	}
	p.Model.Renewed = true
	p.Model.Styles = heeding
	if !s.Lost {
		p.Forgives = ofKind(untold)
	}
	if !s.InSession() {
		return append(list, p)
	}
	return append(list, p.played("kept-or-told", func(m *search.FaultModel) {
		*m = s.brief()
		m.Renewed = true
	}))
}

// cutFromMajority takes the answers of all servers but a minority from a holder, for longer than its lease.
func (s *Subject) cutFromMajority(src search.Source, client string, servers []string) sim.Fault {
	first := int(src.Below(int64(len(servers))))
	far := slices.Concat(servers[first:], servers[:first])[:len(servers)/2+1]
	return sim.Fault{
		Trigger: whenHolding(client, some(src, s.TTL)), For: s.tooLong() + some(src, 2*s.TTL),
		Action: sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{client}, To: far}},
	}
}

// untold is the kind of violation in which a holder was not told of its loss.
const untold = "not told"

// leavesNothing is the fault model with which campaigns look for leftovers.
func (s *Subject) leavesNothing(m *search.FaultModel) {
	faults := search.Kinds(search.SameRandom, search.ServerAhead, search.ServerBack) // no clock jumps that a lease is measured by
	if s.facts().Holds == "" {
		*m = search.FaultModel{Faults: faults, Waits: true, Timeouts: timeouts, Drift: 20_000, Persistence: onDisk, Most: 2}
		return
	}
	*m = s.brief()
	if m.Stays = true; !s.InSession() {
		m.Faults = faults
	}
}

// brief is all that can happen to the servers, with clients that have one task each, and a resource that is spared.
func (s *Subject) brief() search.FaultModel {
	m := s.every()
	s.widen(&m)
	m.Fencing, m.Storage, m.Tasks, m.Drift = nil, nil, 1, 20_000
	return m
}

// every is all that can happen to servers which keep what they have acknowledged.
func (s *Subject) every() search.FaultModel {
	switch {
	case s.ensemble():
		return s.everyEnsemble()
	case s.InSession():
		return everySession()
	}
	return everyDatabase()
}

// widen adds what locks of the catalogue survive, but nobody knows of others: clients that draw the same random values, since
// they make their names and values of more; calls that are given up early; and client libraries to choose from.
func (s *Subject) widen(m *search.FaultModel) {
	m.Faults = search.Kinds()
	if s.facts().Has(backend.Library) {
		m.Libraries = []string{"curator", "go-zookeeper", "java"}
	} else {
		m.Timeouts = timeouts
	}
	if s.InSession() {
		m.Fencing = []history.Fencing{history.FencedReadWrite}
	}
}
