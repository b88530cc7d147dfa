package search

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// trait is what the generator has to know of a kind of servers.
type trait struct {
	kind    string
	prefix  string          // of the servers' names
	role    string          // of one of several that are peers
	ttls    []time.Duration // lives of a lease: the usual one, and the shortest that servers grant or people use
	says    []string        // what clients and servers tell each other besides what locks acquire and release with
	among   []string        // what servers tell each other
	refuses []string        // errors that a server may answer with
	knows   []Kind          // faults that there are of few kinds of servers only
}

// traits has a line for each kind of servers.
var traits = []trait{
	{
		kind: "redis", prefix: "redis", role: "master", ttls: []time.Duration{10 * time.Second, time.Second},
		among: []string{"acquire", "", "ACK", "release", "PSYNC", "REPLCONF"},
		refuses: []string{
			"LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica.",
		},
		knows: []Kind{Evict},
	},
	{
		kind: "zookeeper", prefix: "zk", role: "leader", ttls: []time.Duration{10 * time.Second, 4 * time.Second},
		says:    []string{"look", "ping", "connect", "event", "closeSession"},
		among:   []string{"PROPOSAL", "ACK", "COMMIT", "REQUEST", "PONG", "PING", "REVALIDATE", "NEWLEADER", "NOTIFICATION", "SYNC"},
		refuses: []string{"runtimeInconsistency"},
		knows:   []Kind{SessionCut, EndSession},
	},
	{
		kind: "etcd", prefix: "etcd", ttls: []time.Duration{10 * time.Second, 2 * time.Second},
		says:    []string{"look", "LeaseKeepAlive", "LeaseGrant", "Watch", "LeaseRevoke"},
		refuses: []string{"etcdserver: request timed out"},
		knows:   []Kind{Failover, SessionCut, EndSession},
	},
	{
		kind: "consul", prefix: "consul", ttls: []time.Duration{10 * time.Second},
		says:    []string{"look", "Session.Renew", "Session.Create", "KV.Get", "Session.Destroy"},
		refuses: []string{"No cluster leader"},
		knows:   []Kind{Failover, SessionCut, EndSession, Snapshot},
	},
	{
		kind: "chubby", prefix: "chubby", ttls: []time.Duration{12 * time.Second},
		says:    []string{"look", "KeepAlive", "CreateSession", "CheckSequencer", "EndSession"},
		refuses: []string{"the master has changed"},
		knows:   []Kind{Failover, SessionCut, EndSession},
	},
	{
		kind: "memcached", prefix: "memcached", ttls: []time.Duration{10 * time.Second, 2 * time.Second},
		says:    []string{"look"},
		refuses: []string{"SERVER_ERROR out of memory storing object"},
		knows:   []Kind{Evict},
	},
	{
		kind: "mysql", prefix: "mysql", ttls: []time.Duration{10 * time.Second}, says: []string{"look"},
		refuses: []string{"Lock wait timeout exceeded; try restarting transaction"},
		knows:   []Kind{SessionCut, EndSession},
	},
	{
		kind: "postgres", prefix: "postgres", ttls: []time.Duration{10 * time.Second}, says: []string{"look"},
		refuses: []string{"canceling statement due to user request"},
		knows:   []Kind{SessionCut, EndSession},
	},
}

// traitOf returns the line of the servers that a lock lives on.
func traitOf(lock string) *trait {
	a, _ := locks.Find(lock)
	kind := cmp.Or(a.Servers, "redis")
	i := slices.IndexFunc(traits, func(t trait) bool { return t.kind == kind })
	if i < 0 {
		panic("search: nothing is known of servers of the kind " + kind)
	}
	return &traits[i]
}

// any is a glob of all servers that keep data.
func (t *trait) any() string { return t.prefix + "-*" }

// deploy draws the servers.
func (g *generator) deploy() {
	m, s := &g.menu, &g.scenario.Servers
	s.Kind, s.Masters, s.Disk = g.kind.kind, 1, "honest"
	switch g.kind.kind {
	case "redis":
		g.deployRedis()
	case "zookeeper":
		s.Nodes, s.Tick, s.SyncLimit = choose(g, m.Nodes), choose(g, m.Ticks), choose(g, m.SyncLimits)
		s.Persistence = choose(g, m.Persistence)
		s.Leader = upTo(g, s.Count())
	case "mysql", "postgres":
		s.KeepAlive, s.Pool = choose(g, m.KeepAlives), choose(g, m.Pools)
	}
	g.servers = s.Names()
	g.keepers = g.servers[:s.Count()]
	if g.hosts = g.keepers; s.Pool > 0 {
		g.hosts = g.servers[s.Count():]
	}
	switch {
	case s.Replicas > 0 || s.Cluster:
		g.peers, g.role = g.servers, g.kind.role
		g.hosts = append([]string{g.role}, g.keepers...) // a replica says little to clients
	case g.kind.role != "" && s.Kind != "redis" && s.Count() > 1:
		g.peers, g.role = g.servers, g.kind.role
	}
}

// deployRedis draws independent masters, or those that replicas, Sentinels or a cluster stand behind.
func (g *generator) deployRedis() {
	m, s := &g.menu, &g.scenario.Servers
	s.Masters = pick(g, m.Masters...)
	s.Persistence, s.Disk = pick(g, orDefault(m.Persistence, "")...), pick(g, orDefault(m.Disk, "honest")...)
	if s.Persistence != "everysec" && s.Persistence != "always" {
		s.Disk = "honest" // nothing is written that it could lie about
	}
	s.Replicas, s.Sentinels, s.Cluster = choose(g, m.Replicas), choose(g, m.Sentinels), m.Cluster
	s.MinReplicas = min(choose(g, m.MinReplicas), s.Replicas)
	if s.Sentinels > 0 || s.Cluster {
		s.DownAfter = g.ttl / 5
	}
	if s.Sentinels > 0 {
		s.Failover = g.ttl
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

// meets reports whether a kind of fault can befall what has been deployed.
func (g *generator) meets(k Kind) bool {
	s := &g.scenario.Servers
	switch k {
	case Failover:
		// Sentinels and clusters fail over by themselves, and take what somebody does by hand for a mistake.
		return len(g.peers) > 0 && s.Sentinels == 0 && !s.Cluster || slices.Contains(g.kind.knows, k)
	case Partition, Lag:
		return len(g.peers) > 0
	case Snapshot:
		return s.Persistence == "rdb" || slices.Contains(g.kind.knows, k)
	case Evict, SessionCut, EndSession:
		return slices.Contains(g.kind.knows, k)
	default:
		return true
	}
}

// anyHost is a glob of all servers that clients talk to.
func (g *generator) anyHost() string {
	if len(g.hosts) == 1 {
		return g.hosts[0]
	}
	return g.kind.any()
}

// storage is the node of the protected resource, unless that lives on the lock's servers.
func (g *generator) storage() []string {
	if g.menu.Guarded {
		return nil
	}
	return []string{scenarios.Storage}
}
