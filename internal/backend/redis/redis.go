// Package redis says what there is to know of Redis before a server runs.
package redis

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// Kind is Redis: independent masters, masters with replicas, the same with Sentinels, or a cluster.
var Kind backend.Kind = &kind{backend.One{Is: backend.Facts{
	Name: "redis", Title: "Redis", Node: "redis", Beside: []string{"sentinel"}, Entry: "key", Role: "master",
	Doc: "Independent servers, a master and its replicas, the same with Sentinels (`sentinel-1`, …), or " +
		"a Redis Cluster. The masters come first, then the replicas of each in turn.",
	Place: "one Redis server", Token: "a counter beside the key (INCR)",
	Fields: []backend.Field{
		backend.Masters, backend.Replicas, "servers.sentinels", "servers.cluster", "servers.version", "servers.min-replicas", "servers.max-lag",
		"servers.full-sync", "servers.down-after", "servers.failover-timeout", backend.Persistence, "servers.disk", "lock.acks",
		backend.Promote, backend.Redirect, "fault.demote", backend.Evict, backend.Snapshot,
	},
	Scripts: true, Serves: true, Hangs: true, Patience: 125,
	TTLs:  []time.Duration{10 * time.Second, time.Second},
	Among: []string{trace.ToAcquire, "", "ACK", trace.ToRelease, "PSYNC", "REPLCONF"},
	Refuses: []string{
		"LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica.",
	},
}}}

type kind struct{ backend.One }

// Shape counts masters and replicas. Servers of which some copy others are one voter.
func (*kind) Shape(s *backend.Servers) backend.Shape {
	d := backend.Shape{
		Keepers: s.Masters * (1 + s.Replicas), Beside: []int{s.Sentinels}, Voters: s.Masters, Masters: s.Masters,
		Replicates: s.Replicas > 0 || s.Cluster, Watched: s.Sentinels > 0 || s.Cluster,
		Volatile: s.Persistence == "" || s.Persistence == "none", Snapshots: s.Persistence == "rdb",
	}
	if d.Peers = d.Replicates; d.Peers {
		d.Voters = 1
	}
	return d
}

// replicaTimeout is for how long a replica and its master bear each other's silence (repl-timeout).
const replicaTimeout = time.Minute

// Check refuses disks that lie about nothing, and replicas, Sentinels and clusters that do not go together.
func (*kind) Check(s *backend.Servers, acks int, report backend.Report) {
	if s.Disk == "lies" && !written(s) {
		report("servers.disk", "persistence everysec or always", "without persistence nothing is written to the disk")
	}
	if s.Replicas > 0 && s.Masters > 1 && !s.Cluster {
		report("servers.replicas", "one master, or a cluster", "locks on %d masters do not use replicas", s.Masters)
	}
	switch {
	case s.Sentinels == 0:
	case s.Cluster:
		report("servers.sentinels", "either", "the masters of a cluster watch each other, without Sentinels")
	case s.Masters > 1:
		report("servers.sentinels", "one master", "the Sentinels watch one master, not %d", s.Masters)
	case s.Replicas == 0:
		report("servers.sentinels", "replicas", "there is no replica that could take the master's place")
	}
	if s.Cluster && s.Masters < 3 {
		report("servers.cluster", "3 masters or more", "the majority of %d masters does not outlive one of them", s.Masters)
	}
	if s.MinReplicas > s.Replicas {
		report("servers.min-replicas", "at most as many as there are replicas", "a master has %s", replicas(s.Replicas))
	}
	if acks > s.Replicas {
		report("lock.acks", "at most as many as there are replicas", "a master has %s", replicas(s.Replicas))
	}
	if s.FullSync >= replicaTimeout {
		report("servers.full-sync", "less than 1m", "a replica gives up a master that is silent for so long")
	}
	if s.DownAfter > 0 && s.Sentinels == 0 && !s.Cluster {
		report("servers.down-after", "Sentinels or a cluster", "nothing monitors the servers")
	}
}

// written reports whether servers write to their disk what they acknowledge.
func written(s *backend.Servers) bool {
	return s.Persistence == "everysec" || s.Persistence == "always"
}

// replicas says how many replicas each master has.
func replicas(n int) string {
	switch n {
	case 0:
		return "no replicas"
	case 1:
		return "one replica"
	}
	return fmt.Sprintf("%d replicas", n)
}

// Refuses refuses deployments that a lock cannot make sense of, and acknowledgements that it does not ask for.
func (*kind) Refuses(s *backend.Servers, by locks.Authority, lock string, acks int) (field, problem string) {
	switch {
	case by == locks.Replicated && s.Replicas == 0:
		return "servers.replicas", fmt.Sprintf("the lock %s waits for replicas, and there are none: want 1 or more", lock)
	case by != locks.Replicated && acks > 0:
		return "lock.acks", fmt.Sprintf("the lock %s asks no replicas; want it left away, or a lock that waits for replicas", lock)
	case by == locks.Majority && s.Cluster:
		return "servers.cluster", fmt.Sprintf("the lock %s asks servers that know nothing of each other, of which a cluster is one: "+
			"want masters alone, or %s", lock, oneClient)
	case by == locks.Majority && s.Replicas > 0:
		return "servers.replicas", fmt.Sprintf("the lock %s asks servers that know nothing of each other, of which a master with its "+
			"replicas is one: want masters alone, or %s", lock, oneClient)
	}
	return "", ""
}

// oneClient is what can be used of a deployment that is one server to its clients.
const oneClient = "a lock that has one client for all of them, such as set-nx-lua or the library redsync"

// Usual is five masters for a majority, and a master with a replica that acknowledges.
func (k *kind) Usual(by locks.Authority) backend.Servers {
	s := k.One.Usual(by)
	switch by {
	case locks.Majority:
		s.Masters = 5
	case locks.Replicated:
		s.Replicas = 1
	default:
	}
	return s
}

// Tidy resets what means something only beside replicas, Sentinels or a disk that is written.
func (*kind) Tidy(s *backend.Servers) {
	s.MinReplicas = min(s.MinReplicas, s.Replicas)
	if s.MinReplicas == 0 {
		s.MaxLag = 0
	}
	if s.Replicas == 0 {
		s.FullSync, s.Sentinels = 0, 0
	}
	if s.Sentinels == 0 {
		s.Failover = 0
		if !s.Cluster {
			s.DownAfter = 0
		}
	}
	if !written(s) {
		s.Disk = "honest" // nothing is written that it could lie about
	}
}

// Lost needs the only master, that of the lock's slot, or a majority of independent ones. A replica that cannot be promoted
// does not count as a server; one that Sentinels or a cluster could promote does, whether they promote it or not.
func (k *kind) Lost(s *backend.Servers, left backend.Remains) string {
	shape, up := k.Shape(s), 0
	names := k.Is.Names(shape)
	for m := range shape.Voters {
		stands := left.Reaches(names[m])
		for r := 0; r < s.Replicas && (left.Promotes() || shape.Watched); r++ {
			stands = stands || left.Reaches(names[s.Masters+m*s.Replicas+r])
		}
		if stands {
			up++
		}
	}
	switch {
	case up > shape.Voters/2:
		return ""
	case shape.Voters > 1:
		return "it cannot reach a majority of the servers any more"
	default:
		return "it cannot reach the only master any more"
	}
}

// Words says how masters, replicas and Sentinels belong together.
func (*kind) Words(s *backend.Servers) string {
	switch {
	case s.Cluster:
		return fmt.Sprintf("a Redis Cluster of %s with %s each", counted(s.Masters, "master"), counted(s.Replicas, "replica"))
	case s.Masters > 1 && s.Replicas == 0:
		return fmt.Sprintf("%d Redis servers that know nothing of each other", s.Masters)
	}
	text := "1 Redis server"
	if s.Replicas > 0 {
		text = fmt.Sprintf("Redis, %s with %s", counted(s.Masters, "master"), counted(s.Replicas, "replica"))
	}
	if s.Sentinels > 0 {
		text += " and " + counted(s.Sentinels, "Sentinel")
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
