package search

import (
	"slices"

	"github.com/locksim/locksim/scenarios"
)

// CanHit reports whether a kind of fault can hit servers that are deployed so, or their clients.
func (k Kind) CanHit(s *scenarios.Servers) bool {
	knows := slices.Contains(traitOf(s.Kind).knows, k)
	switch k {
	case Failover:
		// Sentinels and clusters fail over by themselves, and take what somebody does by hand for a mistake.
		return peers(s) && s.Sentinels == 0 && !s.Cluster || knows
	case Partition, Lag:
		return peers(s)
	case Snapshot:
		return s.Persistence == "rdb" || knows
	case Evict, SessionCut, EndSession:
		return knows
	default:
		return true
	}
}

// replicates reports whether servers send each other what is written.
func replicates(s *scenarios.Servers) bool { return s.Replicas > 0 || s.Cluster }

// peers reports whether servers have connections to each other.
func peers(s *scenarios.Servers) bool {
	return replicates(s) || s.Kind == "zookeeper" && s.Count() > 1
}

// Refusals lists errors with which servers of a kind may answer a request.
func Refusals(servers string) []string { return slices.Clone(traitOf(servers).refuses) }
