package search

import (
	"slices"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/scenarios"
)

// deploy draws the servers.
func (g *generator) deploy() {
	m, s := &g.model, &g.scenario.Servers
	s.Kind, s.Masters, s.Disk = g.kind.Name, 1, "honest"
	switch {
	case g.kind.Has(backend.Masters):
		g.deployMasters()
	case g.kind.Has(backend.Leader):
		s.Nodes, s.Tick, s.SyncLimit = choose(g, m.Nodes), choose(g, m.Ticks), choose(g, m.SyncLimits)
		s.Persistence = choose(g, m.Persistence)
		s.Leader = upTo(g, s.Count())
	case g.kind.Has(backend.KeepAlive):
		s.KeepAlive, s.Pool = choose(g, m.KeepAlives), choose(g, m.Pools)
		s.IdleTimeout = choose(g, m.IdleTimeouts)
	}
	g.lookAround()
}

// lookAround notes which servers there are, and what they are to each other.
func (g *generator) lookAround() {
	s := &g.scenario.Servers
	g.servers, g.shape = s.Names(), s.Shape()
	g.keepers = g.servers[:g.shape.Keepers]
	if g.hosts = g.keepers; g.shape.Fronted {
		g.hosts = g.servers[g.shape.Keepers:]
	}
	if g.shape.Peers {
		g.peers, g.role = g.servers, g.kind.Role
	}
	if g.shape.Replicates {
		g.hosts = append([]string{g.role}, g.keepers...) // a replica says little to clients
	}
}

// deployMasters draws independent masters, or those that replicas, Sentinels or a cluster stand behind.
func (g *generator) deployMasters() {
	m, s := &g.model, &g.scenario.Servers
	s.Masters = pick(g, m.Masters...)
	s.Persistence, s.Disk = pick(g, orDefault(m.Persistence, "")...), pick(g, orDefault(m.Disk, "honest")...)
	if s.Persistence != "everysec" && s.Persistence != "always" {
		s.Disk = "honest" // nothing is written that it could lie about
	}
	s.Replicas, s.Sentinels, s.Cluster = choose(g, m.Replicas), choose(g, m.Sentinels), m.Cluster
	if m.Watched.OneIn > 0 && (s.Replicas > 0 || s.Masters > 1) {
		g.watch()
	}
	s.MinReplicas = min(choose(g, m.MinReplicas), s.Replicas)
	if s.Replicas > 0 {
		s.FullSync = choose(g, m.FullSyncs)
	}
	if s.Sentinels > 0 || s.Cluster {
		s.DownAfter = g.ttl / 5
	}
	if s.Sentinels > 0 {
		s.Failover = g.ttl
	}
}

// watch has Sentinels watch the servers, or makes a cluster of them.
func (g *generator) watch() {
	s, w := &g.scenario.Servers, g.model.Watched
	switch n := g.Below(w.OneIn); {
	case n == 1 && w.Sentinels:
		s.Masters, s.Replicas, s.Sentinels = 1, max(s.Replicas, 1), 3
	case n == 2 && w.Cluster:
		s.Cluster, s.Masters, s.Replicas = true, 3, 1
	}
}

// choose draws from a list, if there is anything in it.
func choose[T any](g *generator, list []T) T {
	if len(list) == 0 {
		var none T
		return none
	}
	return pick(g, list...)
}

// possible lists the kinds of the fault model's faults that can hit what has been drawn.
func (g *generator) possible() []Kind {
	return slices.DeleteFunc(slices.Clone(g.model.Faults), func(k Kind) bool {
		return k.IsMistake() || !k.CanHit(&g.scenario.Servers) || k == SameRandom && len(g.clients) < 2
	})
}

// anyHost is a glob of all servers that clients talk to.
func (g *generator) anyHost() string {
	if len(g.hosts) == 1 {
		return g.hosts[0]
	}
	return g.glob()
}

// glob is a pattern of all servers that keep data.
func (g *generator) glob() string { return g.kind.Node + "-*" }

// storage is the node of the protected resource, unless that lives on the lock's servers.
func (g *generator) storage() []string {
	if g.model.Guarded {
		return nil
	}
	return []string{scenarios.Storage}
}
