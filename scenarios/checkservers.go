package scenarios

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
)

// refuseForeign refuses the fields of a mapping that mean something to servers of other kinds alone. Who has mistaken the
// field, rather than the kind, is told what there is instead.
func refuseForeign[T any](a *audit, at string, m *mapping[T], instead string) {
	kind := a.Servers.kind()
	for _, f := range m.fields {
		here := join(at, f.name)
		if _, set := a.source.places[here]; set && !f.knownTo(kind.name) {
			a.report(here, "servers of the kind "+listing(f.kinds)+instead, "%s means nothing to %s", f.name, kind.title)
		}
	}
}

func (a *audit) checkServers() {
	if !a.known.sound("servers") {
		return
	}
	s, kind := &a.Servers, a.Servers.kind()
	instead := ""
	if known := serverFields.knownTo(kind.name); len(known) > 0 {
		instead = ", or one of " + listing(known)
	}
	refuseForeign(a, "servers", &serverFields, instead)
	written := s.Persistence == "everysec" || s.Persistence == "always"
	if kind.name == "redis" && s.Disk == "lies" && !written {
		a.report("servers.disk", "persistence everysec or always", "without persistence nothing is written to the disk")
	}
	if kind.name == "zookeeper" && s.Persistence != "" && s.Persistence != "lazy" && s.Persistence != "always" {
		a.report("servers.persistence", "lazy or always", "ZooKeeper has no persistence %q", s.Persistence)
	}
	if s.Nodes > 0 && s.Nodes%2 == 0 {
		a.report("servers.nodes", "an odd number", "%d servers bear no more failures than %d", s.Nodes, s.Nodes-1)
	}
	if s.Leader > s.Count() {
		a.report("servers.leader", fmt.Sprintf("a number from 1 to %d", s.Count()), "there is no server zk-%d", s.Leader)
	}
	if kind.name == "redis" {
		a.checkReplicas()
	}
}

// replicaTimeout is for how long a replica and its master bear each other's silence (repl-timeout).
const replicaTimeout = time.Minute

// checkReplicas refuses deployments of Redis that make no sense, or that are not simulated.
func (a *audit) checkReplicas() {
	s := &a.Servers
	if n := s.Count() + s.Sentinels; n > maxServers {
		a.report("servers", fmt.Sprintf("at most %d", maxServers), "%d servers, replicas and Sentinels together", n)
	}
	if s.Replicas > 0 && s.Masters > 1 && !s.Cluster {
		a.report("servers.replicas", "one master, or a cluster", "locks on %d masters do not use replicas", s.Masters)
	}
	switch {
	case s.Sentinels == 0:
	case s.Cluster:
		a.report("servers.sentinels", "either", "the masters of a cluster watch each other, without Sentinels")
	case s.Masters > 1:
		a.report("servers.sentinels", "one master", "the Sentinels watch one master, not %d", s.Masters)
	case s.Replicas == 0:
		a.report("servers.sentinels", "replicas", "there is no replica that could take the master's place")
	}
	if s.Cluster && s.Masters < 3 {
		a.report("servers.cluster", "3 masters or more", "the majority of %d masters does not outlive one of them", s.Masters)
	}
	if s.MinReplicas > s.Replicas {
		a.report("servers.min-replicas", "at most as many as there are replicas", "a master has %s", s.followers())
	}
	if s.FullSync >= replicaTimeout {
		a.report("servers.full-sync", "less than "+Brief(replicaTimeout), "a replica gives up a master that is silent for so long")
	}
	if s.DownAfter > 0 && s.Sentinels == 0 && !s.Cluster {
		a.report("servers.down-after", "Sentinels or a cluster", "nothing monitors the servers")
	}
}

// followers says how many replicas each master has.
func (s Servers) followers() string {
	switch s.Replicas {
	case 0:
		return "no replicas"
	case 1:
		return "one replica"
	}
	return fmt.Sprintf("%d replicas", s.Replicas)
}

// checkLock refuses options of the lock that its servers do not know.
func (a *audit) checkLock() {
	if !a.known.sound("lock", "servers") {
		return
	}
	refuseForeign(a, "lock", &lockFields, "")
	if a.Lock.Renew > a.Lock.TTL {
		a.report("lock.renew", "a time up to "+Brief(a.Lock.TTL)+", the lock's ttl", "the lease is over before it is renewed")
	}
	if s := &a.Servers; s.Kind == "redis" && a.Lock.Acks > s.Replicas {
		a.report("lock.acks", "at most as many as there are replicas", "a master has %s", s.followers())
	}
}

// isMasterAnyway reports whether a promotion has nothing to do: the server is a master when the run begins, and it
// is never replaced, so that clients know no other master either.
func (a *audit) isMasterAnyway(node string) bool {
	s := &a.Servers
	if s.Kind != "redis" || s.Cluster || s.Sentinels > 0 {
		return false
	}
	master := s.Names()[0]
	return (node == master || node == s.kind().role) && !slices.ContainsFunc(a.Faults, func(f sim.Fault) bool {
		return f.Action.Kind == sim.Promote && f.Action.Node != master && f.Action.Node != s.kind().role
	})
}
