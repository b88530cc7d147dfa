package promise

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// releaseOnRedis is of releases that come late, or twice. A client that may enter again is known to the servers by its name, not
// by an acquisition: a late release may end a later hold of its own.
func (s *Subject) releaseOnRedis() Promise {
	late := []search.Kind{search.ClientPause, search.ServerPause, search.Delay, search.Stall}
	p := Promise{Name: ReleaseSafety, Property: checker.ReleaseSafety, Focus: [][]search.Kind{late}, Model: search.FaultModel{
		Faults: search.Kinds(search.SameRandom), Storage: network, Tasks: 2, Waits: true, Drift: 100_000,
		Persistence: []string{"none", "everysec", "always"}, Disk: []string{"honest", "lies"},
	}, Why: `
		A release ends the acquisition that it is for and no other, whatever becomes of keys and clocks.`}
	if s.ByName {
		p.Forgives, p.Why = ofKind(releasedLater), `
			A release ends a hold of its owner and of nobody else. It may be late, and end what its owner has entered since.`
	}
	if s.Algorithm.Authority == locks.Replicated {
		return p // see amongReplicas
	}
	return p.played("release", func(m *search.FaultModel) {
		if s.ByName {
			m.Persistence, m.Disk, m.Enters = onDisk, nil, 2
		} else {
			*m = uniqueValues()
		}
	})
}

// releasedLater is the kind of violation that is a late release which ends a later hold of its own client.
const releasedLater = "released a later try"

// amongReplicas is what is left of the promises of a lock on one Redis server when there are replicas, one of which may take its
// place: those that do not rest on what becomes of keys.
func amongReplicas() []Promise {
	m := uniqueValues()
	m.Replicas, m.Persistence = []int{1, 2}, append(slices.Clone(m.Persistence), "rdb")
	watched := m
	watched.Sentinels = []int{3}
	const why = `Whichever server is asked, the script deletes the key there only if it has the value that the release names.`
	return []Promise{
		{Property: checker.ReleaseSafety, Row: "release-among-replicas", Narrow: m, Why: why},
		{Property: checker.ReleaseSafety, Row: "release-under-sentinel", Narrow: watched, Why: why},
		{Property: checker.Resource, Row: "token-equality-among-replicas", Narrow: m, Why: `
		As for one server: the resource compares values that are one acquisition's, and what becomes of keys plays no part.`},
	}
}
