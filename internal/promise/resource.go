package promise

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// fenced is what is asked of a lock that hands out tokens, under whatever else is in the fault model.
func (s *Subject) fenced(model search.FaultModel) []Promise {
	if !s.Algorithm.Token {
		return nil
	}
	model.Fencing = []history.Fencing{history.FencedReadWrite}
	held := [][]search.Kind{{search.ClientPause}, {search.ClientPause, search.Delay}} // between the token and the grant
	if s.InSession() {
		held = append(held, lostHolders...)
	}
	order := Promise{Name: TokenOrder, Property: checker.FencingOrder, Model: model, Focus: held,
		Why: `Whatever makes the token grows with every grant, and is as durable as the lock.`}
	if s.Reentrant {
		order.Forgives = reentered
	}
	resource := Promise{Name: FencedResource, Property: checker.Resource, Model: model,
		Why: `Tokens grow from holder to holder, so that sections are applied in the order of their tokens. One register only.`}
	return []Promise{order.played("tokens", s.widen), resource.played("fenced-read-write", s.widen)}
}

// reentered forgives that a task is given its token again with a lock that nobody else has had meanwhile: it may not have left it as often as it
// has entered, if an answer was lost.
func reentered(h *history.History, v *checker.Violation) bool {
	if len(v.Acquisitions) != 2 {
		return false
	}
	a, b := h.Acquisition(v.Acquisitions[0]), h.Acquisition(v.Acquisitions[1])
	return a != nil && b != nil && a.Token == b.Token && a.Client == b.Client && a.Task == b.Task &&
		!slices.ContainsFunc(h.Acquisitions, func(c history.Acquisition) bool {
			return a.Returned < c.Returned && c.Returned < b.Returned && c.Outcome == history.OK && (c.Client != a.Client || c.Task != a.Task)
		})
}

// fencedOnRedis is of tokens, as durable as the keys.
func (s *Subject) fencedOnRedis() []Promise {
	list := s.fenced(search.FaultModel{
		Faults: search.Kinds(search.SameRandom), Storage: failing, Persistence: onDisk, Tasks: 2, Waits: true, Drift: 100_000,
	})
	for i := range list {
		m := &list[i].Narrow
		m.Faults, m.Timeouts, m.Masters = search.Kinds(), timeouts, []int{1}
	}
	return list
}

// guardRow is what campaigns call it that the servers take accesses with the proof that the lease stands.
func (s *Subject) guardRow() string {
	switch f := s.facts(); {
	case f.Holds == backend.ByConnection:
		return "same-transaction"
	case f.Elects:
		return "txn-owner"
	case f.Holds == "":
		return "leased-blob"
	}
	return "" // of ZooKeeper's it has not been played
}

// onResource is what campaigns play of the protected resource, and of locks that have replicas.
func (s *Subject) onResource() []Promise {
	list := []Promise{{
		Property: checker.Resource, Row: "compare-and-set", Narrow: anything(history.CompareAndSet, 1, 3), Why: `
		A write is accepted if the version that it replaces is the one its section has read: sections are atomic in the
		order of their writes, and need no lock. One register only: writes of two are two steps.`,
	}}
	if !s.facts().Has(backend.Masters) {
		return list
	}
	if s.Expires && s.Algorithm.Authority == locks.OneNode {
		list = append(list, Promise{
			Property: checker.Resource, Row: "unfenced-within-lease", Narrow: search.FaultModel{
				Faults:  slices.Concat(network, slow(search.ServerCrash, search.ServerBack, search.Drift)),
				Storage: waiting, Within: 80, Drift: 5_000, Registers: 2, Persistence: onDisk,
			}, Why: `
		Beliefs do not overlap (see within-lease), and no access outlives the belief of its section: storage loses neither
		requests nor answers, so that the client hears of each access before it releases. The last access of a client that
		crashes arrives within the lease.`,
		})
	}
	if s.Fresh && s.Algorithm.Authority != locks.Replicated {
		list = append(list, Promise{Property: checker.Resource, Row: "token-equality", Narrow: uniqueValues(), Why: `
		A read registers its section's value, a write needs it to be the last that was registered. So no other section
		has read between the read and the write of a section whose write was accepted, nor written, since it would have
		had to read first. Values must be unique: of a section, not of a process, so that no late write of one section
		passes for one of the next. One register only.`})
	}
	if s.Fresh && !s.Several() {
		list = append(list, amongReplicas()...)
	}
	return list
}

// anything is what a resource has to face that defends itself.
func anything(fencing history.Fencing, masters ...int) search.FaultModel {
	return search.FaultModel{
		Fencing: []history.Fencing{fencing}, Masters: masters, Persistence: []string{"none", "everysec", "always"},
		Disk: []string{"honest", "lies"}, Tasks: 2, Waits: true, Timeouts: timeouts, Drift: 100_000,
		Faults: search.Kinds(), Storage: failing,
	}
}

// uniqueValues is that for a resource that tells sections apart by the values of their leases, no two of which are alike.
func uniqueValues() search.FaultModel {
	m := anything(history.TokenEquality)
	m.Faults = search.Kinds(search.SameRandom)
	return m
}
