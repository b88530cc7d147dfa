package redis

import (
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Promote makes a replica a master permanently, as a failover does with REPLICAOF NO ONE and CONFIG REWRITE. It does
// not check whether that is safe. It reports whether there was anything to do.
func (s *Server) Promote() bool {
	if s.upstream == nil || !s.node.Up() {
		return false
	}
	s.node.Take(trace.Promote, "", func() bool {
		done := s.promote()
		s.rewriteConfig()
		return done
	})
	return true
}

// Demote makes a master a replica of another, or a replica the replica of another, permanently, as a failover does with
// REPLICAOF and CONFIG REWRITE. It reports whether there was anything to do.
func (s *Server) Demote(master *Server) bool {
	if !s.node.Up() || s.upstream != nil && s.upstream.master == master.node {
		return false
	}
	s.turnReplica(master.node, s.rewriteConfig)
	return true
}

// turnReplica takes the step of a demotion, if it is one, and does the rest with it.
func (s *Server) turnReplica(master *sim.Node, rest func()) {
	if s.upstream != nil {
		s.repoint(master)
		rest()
		return
	}
	s.node.Take(trace.Demote, master.Name, func() bool {
		done := s.demote(master)
		rest()
		return done
	})
}

// promote is replicationUnsetMaster.
func (s *Server) promote() bool {
	if s.upstream == nil {
		return false
	}
	s.upstream.leave()
	s.upstream = nil
	former, shared := s.history, s.offset
	s.beginHistory()
	s.former, s.shared, s.aloneSince = former, shared, s.unixTime()
	s.restrict()
	s.Store.Lead(s.node.Wall())
	if s.config.Observer != nil {
		s.config.Observer.Promoted(s)
	}
	s.dropAll()
	s.ended()
	return true
}

// demote is replicationSetMaster for a master. It refuses writes at once, but serves what it holds until the new master
// has answered. Its own replicas stay, and so do the connections of its clients, unless they are blocked.
func (s *Server) demote(master *sim.Node) bool {
	if s.upstream != nil {
		return false
	}
	s.Store.Follow(s.node.Wall())
	s.expiry.Stop()
	s.follow(master)
	s.restrict()
	if s.config.Observer != nil {
		s.config.Observer.Demoted(s)
	}
	s.disconnectBlocked()
	return true
}

// repoint has a replica follow another master.
func (s *Server) repoint(master *sim.Node) {
	s.upstream.leave()
	s.follow(master)
}

// rewriteConfig writes the role into the configuration file, so that it is kept through a restart.
func (s *Server) rewriteConfig() {
	s.configured = nil
	if s.upstream != nil {
		s.configured = s.upstream.master
	}
}
