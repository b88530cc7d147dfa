package scenarios

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/sim"
)

// Servers is the deployment of the lock's servers, with what reports and checks ask of it.
type Servers backend.Servers

// Count returns how many servers there are, but for those that only watch others.
func (s Servers) Count() int { return s.Shape().Keepers }

// Names returns the names of the servers: those of Redis with the masters first, then the replicas of each in turn, and
// the Sentinels or the pooler last.
func (s Servers) Names() []string { return s.Facts().Names(s.Shape()) }

// keeps reports whether a server keeps the lock's data, rather than to watch over others.
func (s Servers) keeps(name string) bool {
	return slices.Contains(s.Names()[:s.Count()], name)
}

// roles lists the roles in the deployment. Independent servers have no master or leader among them.
func (s Servers) roles() []string {
	if role := s.Facts().Role; role != "" && s.Shape().Peers {
		return []string{"holder", role}
	}
	return []string{"holder"}
}

// connects reports whether servers have connections to each other.
func (s Servers) connects() bool {
	shape := s.Shape()
	return shape.Peers || shape.Fronted
}

// elects reports whether it can change who among the servers is master or leader.
func (s Servers) elects() bool { return backend.CanBeTold(sim.Promote, s.Facts(), s.Shape()) }

var serverFields = ofBackends(mapping[Servers]{
	name: "servers",
	doc:  "The servers that keep the lock: one of [several backends](#the-kinds-of-servers).",
	fields: []field[Servers]{
		bind("kind", wordOf(kindNames()...), func(s *Servers) *string { return &s.Kind }, "The backend.").or(kindNames()[0]),
		bind("masters", integer(1, maxServers), func(s *Servers) *int { return &s.Masters },
			"The number of servers that do not replicate each other: `redis-1`, `redis-2`, …").or("1"),
		bind("replicas", integer(0, maxServers), func(s *Servers) *int { return &s.Replicas },
			"The number of replicas of each master.").or("0"),
		bind("sentinels", integer(0, maxServers), func(s *Servers) *int { return &s.Sentinels },
			"The number of Sentinels, which monitor the master and promote a replica if it is down.").or("0"),
		bind("cluster", truth(), func(s *Servers) *bool { return &s.Cluster },
			"Whether the masters form a Redis Cluster; `redis-1` serves the hash slot of the lock's key.").otherwise("no"),
		bind("version", omitted(wordOf("redis-7.0", "redis-8.4", "valkey-9.0")), func(s *Servers) *string { return &s.Version },
			"Which servers they are. Newer ones answer as Redis 7.0 does, and have besides: `redis-8.4` SET with IFEQ and IFNE, and DELEX; "+
				"`valkey-9.0` SET with IFEQ, and DELIFEQ. Others refuse these as unknown.").
			otherwise("the one whose commands the lock needs; `redis-7.0` if it needs none of the newer ones"),
		bind("min-replicas", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.MinReplicas },
			"How many connected replicas a master needs to accept writes (min-replicas-to-write).").
			otherwise("none"),
		bind("max-lag", omitted(atLeast(time.Second)), func(s *Servers) *time.Duration { return &s.MaxLag },
			"How long ago such a replica may have reported last (min-replicas-max-lag).").
			otherwise("`10s`").with("min-replicas"),
		bind("full-sync", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.FullSync },
			"How long a full synchronization takes, for a replica that cannot continue where it was. Meanwhile the replica keeps its "+
				"old data and acknowledges nothing. The default is that of a diskless synchronization, which first waits for more "+
				"replicas (repl-diskless-sync-delay); with repl-diskless-sync off it takes about `100ms`.").
			otherwise("`5s`").with("replicas"),
		bind("down-after", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.DownAfter },
			"How long a server must be silent before the others consider it down (Sentinel's down-after-milliseconds, the cluster's "+
				"cluster-node-timeout).").
			otherwise("`30s` for Sentinel, `15s` in a cluster").with("sentinels", "cluster"),
		bind("failover-timeout", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.Failover },
			"Sentinel's failover-timeout.").otherwise("`3m`").with("sentinels"),
		bind("nodes", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.Nodes },
			"The number of servers of the ensemble, which must be odd: `zk-1`, `zk-2`, …").otherwise("3"),
		bind("leader", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.Leader },
			"The number of the first leader.").otherwise("the last"),
		bind("tick", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.Tick },
			"The tickTime; sessions expire at multiples of it.").otherwise("`2s`"),
		bind("sync-limit", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.SyncLimit },
			"How many ticks of silence the leader and the followers tolerate (syncLimit).").otherwise("5"),
		bind("keep-alive", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.KeepAlive },
			"How long a client's machine may be silent before the server drops its connection.").
			otherwise("forever"),
		bind("idle-timeout", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.IdleTimeout },
			"How long a connection may be idle before the server closes it (MySQL's wait_timeout; PostgreSQL's "+
				"idle_session_timeout, which does not close a connection that is in a transaction).").
			otherwise("`8h` for MySQL, else forever"),
		bind("pool", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.Pool },
			"The number of server connections of a pooler, which assigns them to one transaction at a time, like PgBouncer with "+
				"pool_mode transaction. Clients connect to the pooler: `pooler-1`.").otherwise("no pooler"),
		bind("staleness", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.Staleness },
			"How old what an eventually consistent read returns is, as of DynamoDB those are that do not ask for more. Other reads, and "+
				"writes, see what is there.").
			otherwise("up to `1s`, drawn for each read"),
		bind("persistence", omitted(wordOf("none", "rdb", "lazy", "everysec", "always")),
			func(s *Servers) *string { return &s.Persistence },
			"When a write reaches the disk. Redis: `none` never, `rdb` with a snapshot, `lazy` when the operating system flushes, "+
				"`everysec` once a second, `always` before it is acknowledged (RDB, or appendonly and appendfsync). ZooKeeper: "+
				"`lazy` or `always` (forceSync).").
			otherwise("`none` for Redis, `always` for ZooKeeper"),
		bind("disk", wordOf("honest", "lies"), func(s *Servers) *string { return &s.Disk },
			"Whether the disk keeps what it has acknowledged: an `honest` disk does, one that `lies` may lose it. Only with "+
				"`persistence` everysec or always.").or("honest"),
	},
})
