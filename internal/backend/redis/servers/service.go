// Package servers simulates Redis servers in a run: independent ones, replicas, Sentinels, a cluster.
package servers

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	kind "github.com/locksim/locksim/internal/backend/redis"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/redis/cluster"
	"github.com/locksim/locksim/internal/sim/redis/sentinel"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// service is Redis servers: independent ones, masters with replicas, with Sentinels perhaps, or a cluster.
type service struct {
	world     simulated.World
	deployed  scenarios.Servers
	purposes  *kind.Purposes
	truth     *truth
	nodes     []*sim.Node
	redis     []*redis.Server // by the same index
	sentinels []*sentinel.Sentinel
	cluster   []*cluster.Node // by the same index, if it is one
	latest    []int           // by shard, that of the lock's key first: the last of its servers that became master
	told      map[string]int  // which server a client was told to be the master, by its name; nil before the first is
}

// Build builds the servers, with Sentinels or as a cluster if they are deployed so.
func Build(w simulated.World) simulated.Service {
	s := &service{world: w, deployed: w.Scenario().Servers, purposes: kind.PurposesOf(w.Lock().Scripts)}
	s.deployed.Version = cmp.Or(s.deployed.Version, w.Lock().Version)
	n := s.deployed.Count()
	s.nodes, s.redis = make([]*sim.Node, 0, n), make([]*redis.Server, 0, n)
	s.truth = newTruth(s, w)
	for i, name := range w.Scenario().Servers.Names()[:n] {
		server, process := s.build(s.store(i), s.config(i))
		n := w.Engine().AddServer(name, process)
		s.nodes, s.redis = append(s.nodes, n), append(s.redis, server)
	}
	for i, server := range s.redis {
		server.Attach(s.nodes[i])
	}
	for i := range s.deployed.Masters {
		s.latest = append(s.latest, i)
	}
	s.deploySentinels()
	cluster.Meet(s.cluster)
	return s
}

// store returns the i-th store that runs share, as if fresh.
func (s *service) store(i int) *redis.Store {
	spare := s.world.Spare()
	stores, _ := (*spare).([]*redis.Store)
	if i == len(stores) {
		stores = append(stores, redis.NewStore())
		*spare = stores
	} else {
		stores[i].Reset()
	}
	return stores[i]
}

// build makes a server, and what runs it: itself, unless it is part of a cluster.
func (s *service) build(store *redis.Store, c redis.Config) (*redis.Server, sim.Server) {
	if !s.deployed.Cluster {
		server := redis.NewServer(store, c)
		return server, server
	}
	config := cluster.Config{NodeTimeout: s.deployed.DownAfter}
	if s.world.Lock().Cluster { // real clients, which know of slots
		config.Key = s.world.Keys()[0]
	}
	n := cluster.New(store, c, config)
	s.cluster = append(s.cluster, n)
	return n.Server, n
}

// fullSync is how long a full resynchronisation takes unless the scenario says: without a disk, the master waits for more
// replicas that might want one (repl-diskless-sync-delay, redis.conf of Redis 7).
const fullSync = 5 * time.Second

// config is that of the i-th server. Masters come first, then the replicas of each in turn.
func (s *service) config(i int) redis.Config {
	d := &s.deployed
	c := redis.Config{
		Databases: 1, // keys are followed by their names
		DiskLies:  d.Disk == "lies", MinReplicas: d.MinReplicas, MinReplicasMaxLag: d.MaxLag,
		FullSyncDelay: cmp.Or(d.FullSync, fullSync), Observer: s.truth,
		Version: redis.Version(d.Version),
	}
	switch d.Persistence {
	case "rdb":
		c.Persistence = redis.RDB
	case "lazy":
		c.Persistence = redis.Lazy
	case "everysec":
		c.Persistence = redis.Everysec
	case "always":
		c.Persistence = redis.Always
	}
	if i >= d.Masters {
		c.ReplicaOf = s.redis[(i-d.Masters)/d.Replicas]
	}
	return c
}

// Servers returns the nodes.
func (s *service) Servers() []*sim.Node { return s.nodes }

// independent reports whether the servers know nothing of each other.
func (s *service) independent() bool { return s.deployed.Replicas == 0 && !s.deployed.Cluster }

// index numbers a server from 0.
func (s *service) index(server *redis.Server) int {
	i := slices.Index(s.redis, server)
	if i < 0 {
		panic("servers: an observed server is not part of the world")
	}
	return i
}

// named numbers the server of that name.
func (s *service) named(name string) int {
	return slices.IndexFunc(s.nodes, func(n *sim.Node) bool { return n.Name == name })
}

// sameShard reports whether two servers were deployed as a master and its replica, or as replicas of one master.
func (s *service) sameShard(i, j int) bool { return s.shard(i) == s.shard(j) }

func (s *service) shard(i int) int {
	if i < s.deployed.Masters {
		return i
	}
	return (i - s.deployed.Masters) / s.deployed.Replicas
}

// Role finds the server that takes itself for the master; of several, the one that became it last.
func (s *service) Role(name string) string {
	if name != "master" || s.independent() {
		return ""
	}
	if latest := s.latest[0]; s.leads(latest) {
		return s.nodes[latest].Name
	}
	for i := range s.redis {
		if s.takesItself(i) && s.sameShard(i, 0) {
			return s.nodes[i].Name
		}
	}
	return ""
}

// takesItself reports whether a server that is up takes itself for a master.
func (s *service) takesItself(i int) bool {
	return s.redis[i].Role() == redis.Master && s.nodes[i].Up()
}

// leads reports whether a server is the last that became master of its shard, and still is.
func (s *service) leads(i int) bool { return s.latest[s.shard(i)] == i && s.takesItself(i) }

// Command carries out an action on a server.
func (s *service) Command(n *sim.Node, a *sim.Action) bool {
	i := slices.Index(s.nodes, n)
	if i < 0 {
		return false // a Sentinel keeps no data
	}
	server := s.redis[i]
	switch a.Kind {
	case sim.Evict:
		return server.Evict(cmp.Or(a.Key, s.truth.keys[0]))
	case sim.Snapshot:
		return server.Snapshot()
	case sim.Promote:
		if s.deployed.Cluster {
			return s.cluster[i].TakeOver()
		}
		return s.promote(server, a)
	default:
		return false
	}
}

// promote is a failover by hand: the server is made master, the other replicas of its master are told to follow it, and
// clients are told where it is.
func (s *service) promote(server *redis.Server, a *sim.Action) bool {
	did := false
	if server.Role() != redis.Master {
		old := server.Info().Master
		did = server.Promote()
		for i, other := range s.redis {
			switch {
			case other == server || !s.sameShard(i, s.index(server)):
			case s.nodes[i].Name == old:
				s.demoteLater(other, server, a.Demote)
			case other.Role() != redis.Master:
				other.Demote(server)
			}
		}
	}
	for _, name := range s.world.Clients() {
		if len(a.Nodes) > 0 && !sim.MatchesAny(a.Nodes, name) {
			continue
		}
		did = did || s.told[name] != s.index(server)
		if s.told == nil {
			s.told = make(map[string]int)
		}
		s.told[name] = s.index(server)
	}
	return did
}

// demoteLater has the old master told after a while; never if that is 0.
func (s *service) demoteLater(old, master *redis.Server, after time.Duration) {
	if after > 0 {
		s.world.Engine().After(after, func() { old.Demote(master) })
	}
}

// ErrorReply answers a request with an error.
func (s *service) ErrorReply(request sim.Payload, text string) sim.Payload {
	return redis.ErrorResponse(request, text)
}

// clients is a task's clients of the servers.
type clients struct {
	simulated.None
	ports []port
}

// shared is what the tasks of a process share of their clients.
type shared struct {
	service *service
	pools   []pool
	router  router // nil if each client is of one server
}

// Clients makes a task's clients of the servers.
func (s *service) Clients(p simulated.Process) locks.Services {
	state, ok := (*p.Own()).(*shared)
	if !ok {
		state = &shared{service: s, pools: make([]pool, len(s.nodes))}
		for i, n := range s.nodes {
			from := &state.pools[i]
			from.server, from.idle, from.busy = n, from.firstIdle[:0], from.firstBusy[:0]
		}
		if !s.independent() {
			state.router = s.router(state)
		}
		*p.Own() = state
	}
	c := &clients{None: simulated.None{Process: p}, ports: make([]port, s.deployed.Masters)}
	for i := range c.ports {
		c.ports[i] = port{process: p, state: state, server: i}
	}
	if !s.independent() {
		c.ports = c.ports[:1]
	}
	return c
}

// RedisNodes returns the number of independent servers.
func (c *clients) RedisNodes() int { return len(c.ports) }

// Redis returns the client of the i-th of these servers.
func (c *clients) Redis(i int) locks.Redis {
	if i < 0 || i >= len(c.ports) {
		panic(fmt.Sprintf("there is no Redis server %d of %d: they are counted from 0", i, len(c.ports)))
	}
	return &c.ports[i]
}
