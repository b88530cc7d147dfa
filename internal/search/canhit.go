package search

import (
	"slices"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// CanHit reports whether a kind of fault can hit servers that are deployed so, or their clients.
func (k Kind) CanHit(s *scenarios.Servers) bool {
	facts, shape := s.Facts(), s.Shape()
	switch k {
	case Failover:
		// Sentinels and clusters fail over by themselves, and take what somebody does by hand for a mistake.
		return backend.CanBeTold(sim.Promote, facts, shape) && !shape.Watched
	case Partition, Lag:
		return shape.Peers
	case Snapshot:
		return shape.Snapshots
	case Evict:
		return facts.Has(backend.Evict)
	case SessionCut, EndSession:
		return facts.Has(backend.EndSession)
	default:
		return true
	}
}

// Refusals lists errors with which servers of a kind may answer a request.
func Refusals(servers string) []string {
	return slices.Clone(scenarios.Kind(servers).Facts().Refuses)
}
