package search

import (
	"slices"
	"time"
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
		says:    []string{"look", "ping", "connect", "event"},
		among:   []string{"PROPOSAL", "ACK", "COMMIT", "REQUEST", "PONG", "PING", "REVALIDATE", "NEWLEADER"},
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

// traitOf returns the line of a kind of servers.
func traitOf(kind string) *trait {
	i := slices.IndexFunc(traits, func(t trait) bool { return t.kind == kind })
	if i < 0 {
		panic("search: nothing is known of servers of the kind " + kind)
	}
	return &traits[i]
}

// glob is a pattern of all servers that keep data.
func (t *trait) glob() string { return t.prefix + "-*" }
