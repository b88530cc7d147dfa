package scenarios

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// Servers is the deployment of the lock's servers. Each kind has fields of its own; of those, zero stands for the kind's
// default.
type Servers struct {
	Kind        string        // a name of serverKinds
	Masters     int           // Redis: servers that do not replicate each other; 1
	Replicas    int           // Redis: of each master
	Sentinels   int           // Redis: processes that watch the master and have a replica take its place
	Cluster     bool          // Redis: the masters are those of a Redis Cluster
	MinReplicas int           // Redis: how many replicas a master needs to accept writes
	MaxLag      time.Duration // Redis: how long such a replica may have been silent
	FullSync    time.Duration // Redis: how long a replica waits for its master's whole dataset
	DownAfter   time.Duration // Redis: how long a server is silent before Sentinel or the cluster takes it for down
	Failover    time.Duration // Redis: Sentinel's failover-timeout
	Nodes       int           // ZooKeeper: servers of the ensemble
	Leader      int           // ZooKeeper: which of them leads at first
	Tick        time.Duration // ZooKeeper
	SyncLimit   int           // ZooKeeper: in ticks
	KeepAlive   time.Duration // MySQL, PostgreSQL: how long a client may be silent before its connection is ended
	IdleTimeout time.Duration // MySQL, PostgreSQL: how long a connection may be idle
	Pool        int           // PostgreSQL: connections that a pooler in front of it lends to one transaction at a time
	Persistence string        // "none", "rdb", "lazy", "everysec" or "always"
	Disk        string        // "honest", or "lies": it acknowledges what it has not kept
}

const (
	ensemble     = 3 // how many servers a ZooKeeper ensemble has unless it is said
	sentinelNode = "sentinel"
	poolerNode   = "pooler"
)

// Count returns how many servers there are, but for those that only watch others.
func (s Servers) Count() int {
	switch s.Kind {
	case "zookeeper":
		return cmp.Or(s.Nodes, ensemble)
	case "redis":
		return s.Masters * (1 + s.Replicas)
	default:
		return 1
	}
}

// Names returns the names of the servers: those of Redis with the masters first, then the replicas of each in turn, and
// the Sentinels or the pooler last.
func (s Servers) Names() []string {
	names := numbered(s.kind().node, s.Count())
	names = append(names, numbered(sentinelNode, s.Sentinels)...)
	return append(names, numbered(poolerNode, min(s.Pool, 1))...)
}

func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + "-" + strconv.Itoa(i+1)
	}
	return names
}

// keeps reports whether a server keeps the lock's data, rather than to watch over others.
func (s Servers) keeps(name string) bool {
	return slices.Contains(s.Names()[:s.Count()], name)
}

// roles lists the roles in the deployment. Independent servers have no master or leader among them.
func (s Servers) roles() []string {
	if s.peers() && s.kind().role != "" {
		return []string{"holder", s.kind().role}
	}
	return []string{"holder"}
}

// peers reports whether servers have connections to each other.
func (s Servers) peers() bool {
	return s.Replicas > 0 || s.Cluster || s.Pool > 0 || s.Kind == "zookeeper" && s.Count() > 1
}

// elects reports whether it can change who among the servers is master or leader.
func (s Servers) elects() bool { return s.kind().elects || s.kind().role != "" && s.peers() }

var serverFields = mapping[Servers]{
	name: "servers",
	doc:  "The servers that keep the lock: one of [several backends](#the-kinds-of-servers).",
	fields: []field[Servers]{
		bind("kind", wordOf(kindNames()...), func(s *Servers) *string { return &s.Kind }, "The backend.").or("redis"),
		bind("masters", integer(1, maxServers), func(s *Servers) *int { return &s.Masters },
			"The number of servers that do not replicate each other: `redis-1`, `redis-2`, …").or("1").of("redis"),
		bind("replicas", integer(0, maxServers), func(s *Servers) *int { return &s.Replicas },
			"The number of replicas of each master.").or("0").of("redis"),
		bind("sentinels", integer(0, maxServers), func(s *Servers) *int { return &s.Sentinels },
			"The number of Sentinels, which monitor the master and promote a replica if it is down.").or("0").of("redis"),
		bind("cluster", truth(), func(s *Servers) *bool { return &s.Cluster },
			"Whether the masters form a Redis Cluster; `redis-1` serves the hash slot of the lock's key.").otherwise("no").of("redis"),
		bind("min-replicas", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.MinReplicas },
			"How many connected replicas a master needs to accept writes (min-replicas-to-write).").
			otherwise("none").of("redis"),
		bind("max-lag", omitted(atLeast(time.Second)), func(s *Servers) *time.Duration { return &s.MaxLag },
			"How long ago such a replica may have reported last (min-replicas-max-lag).").
			otherwise("`10s`").with("min-replicas").of("redis"),
		bind("full-sync", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.FullSync },
			"How long a full synchronization takes, for a replica that cannot continue where it was. Meanwhile the replica keeps its "+
				"old data and acknowledges nothing. The default is that of a diskless synchronization, which first waits for more "+
				"replicas (repl-diskless-sync-delay); with repl-diskless-sync off it takes about `100ms`.").
			otherwise("`5s`").with("replicas").of("redis"),
		bind("down-after", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.DownAfter },
			"How long a server must be silent before the others consider it down (Sentinel's down-after-milliseconds, the cluster's "+
				"cluster-node-timeout).").
			otherwise("`30s` for Sentinel, `15s` in a cluster").with("sentinels", "cluster").of("redis"),
		bind("failover-timeout", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.Failover },
			"Sentinel's failover-timeout.").otherwise("`3m`").with("sentinels").of("redis"),
		bind("nodes", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.Nodes },
			"The number of servers of the ensemble, which must be odd: `zk-1`, `zk-2`, …").otherwise("3").of("zookeeper"),
		bind("leader", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.Leader },
			"The number of the first leader.").otherwise("the last").of("zookeeper"),
		bind("tick", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.Tick },
			"The tickTime; sessions expire at multiples of it.").otherwise("`2s`").of("zookeeper"),
		bind("sync-limit", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.SyncLimit },
			"How many ticks of silence the leader and the followers tolerate (syncLimit).").otherwise("5").of("zookeeper"),
		bind("keep-alive", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.KeepAlive },
			"How long a client's machine may be silent before the server drops its connection.").
			otherwise("forever").of("mysql", "postgres"),
		bind("idle-timeout", omitted(atLeast(time.Millisecond)), func(s *Servers) *time.Duration { return &s.IdleTimeout },
			"How long a connection may be idle before the server closes it (MySQL's wait_timeout; PostgreSQL's "+
				"idle_session_timeout, which does not close a connection that is in a transaction).").
			otherwise("`8h` for MySQL, else forever").of("mysql", "postgres"),
		bind("pool", omitted(integer(1, maxServers)), func(s *Servers) *int { return &s.Pool },
			"The number of server connections of a pooler, which assigns them to one transaction at a time, like PgBouncer with "+
				"pool_mode transaction. Clients connect to the pooler: `pooler-1`.").otherwise("no pooler").of("postgres"),
		bind("persistence", omitted(wordOf("none", "rdb", "lazy", "everysec", "always")),
			func(s *Servers) *string { return &s.Persistence },
			"When a write reaches the disk. Redis: `none` never, `rdb` with a snapshot, `lazy` when the operating system flushes, "+
				"`everysec` once a second, `always` before it is acknowledged (RDB, or appendonly and appendfsync). ZooKeeper: "+
				"`lazy` or `always` (forceSync).").
			otherwise("`none` for Redis, `always` for ZooKeeper").of("redis", "zookeeper"),
		bind("disk", wordOf("honest", "lies"), func(s *Servers) *string { return &s.Disk },
			"Whether the disk keeps what it has acknowledged: an `honest` disk does, one that `lies` may lose it. Only with "+
				"`persistence` everysec or always.").or("honest").of("redis"),
	},
}
