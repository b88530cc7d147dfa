// Package lease says what there is to know of services of leases and sessions before a server runs: etcd, Consul, Chubby, Hazelcast.
package lease

import (
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/trace"
)

// Etcd is an etcd cluster. Its client library renews leases, and gives one up after five seconds of silence unless an answer has
// said that it lives for longer (client/v3/lease.go, defaultTTL).
var Etcd backend.Kind = &backend.One{Is: backend.Facts{
	Name: "etcd", Title: "etcd", Node: "etcd", Entry: "key", Holds: backend.ByLease, Elects: true,
	Doc:   "One node, which stands for a whole cluster.",
	Place: "an etcd cluster", Token: "the key's create revision",
	Fields:    []backend.Field{backend.Promote, backend.EndSession},
	Monotonic: true, Patience: 125, Serves: true, Silence: 5 * time.Second,
	TTLs:    []time.Duration{10 * time.Second, 2 * time.Second},
	Says:    []string{trace.ToLook, "LeaseKeepAlive", "LeaseGrant", "Watch", "LeaseRevoke"},
	Refuses: []string{"etcdserver: request timed out"},
}}

// Consul is the servers of a Consul datacenter. They end a session up to twice its life after it was last heard of, and
// then keep the lock from others for a while; so they do when its client ends it (Consul's documentation, "Sessions").
var Consul backend.Kind = &backend.One{Is: backend.Facts{
	Name: "consul", Title: "Consul", Node: "consul", Entry: "key", Holds: backend.BySession, Elects: true,
	Doc:   "One node, which stands for all servers of a datacenter.",
	Place: "a Consul cluster", Token: "the key's LockIndex",
	Fields:    []backend.Field{backend.LockDelay, backend.Promote, backend.Snapshot, backend.EndSession},
	Monotonic: true, Patience: 400, Delays: true, Serves: true, MinTTL: 10 * time.Second, MaxTTL: 24 * time.Hour,
	TTLs:    []time.Duration{10 * time.Second},
	Says:    []string{trace.ToLook, "Session.Renew", "Session.Create", "KV.Get", "Session.Destroy"},
	Refuses: []string{"No cluster leader"},
}}

// Chubby is a Chubby cell. Its clients wait for a new master, and a lost lock is kept from others for a while. A client whose
// lease on its session may have ended is in jeopardy (Burrows, The Chubby lock service, 2.8).
var Chubby backend.Kind = &backend.One{Is: backend.Facts{
	Name: "chubby", Title: "Chubby", Node: "chubby", Entry: "lock", Holds: backend.BySession, Elects: true,
	Doc:   "One node, which stands for a whole cell.",
	Place: "a Chubby cell", Token: "the lock's generation, in a sequencer",
	Fields:    []backend.Field{backend.LockDelay, backend.Promote, backend.EndSession},
	Monotonic: true, Patience: 400, Answers: true, Jeopardy: true,
	TTLs:    []time.Duration{12 * time.Second},
	Says:    []string{trace.ToLook, "KeepAlive", "CreateSession", "CheckSequencer", "EndSession"},
	Refuses: []string{"the master has changed"},
}}

// Hazelcast is a CP group of Hazelcast members. Its clients keep one session each, which the members count on their wall clocks; a
// holder is not told that its session is over.
var Hazelcast backend.Kind = &backend.One{Is: backend.Facts{
	Name: "hazelcast", Title: "Hazelcast", Node: "hazelcast", Entry: "lock", Holds: backend.BySession, Elects: true,
	Doc:   "One node, which stands for the three members of a CP group.",
	Place: "a Hazelcast CP group", Token: "the fence, the place of the request in the group's log",
	Fields:   []backend.Field{backend.Promote, backend.EndSession},
	Patience: 200, Answers: true, Counts: true,
	TTLs:    []time.Duration{10 * time.Second, 2 * time.Second},
	Says:    []string{trace.ToLook, "heartbeatSession", "createSession"},
	Refuses: []string{"the CP group has no leader"},
}}

// HazelcastUnsafe is two members of a Hazelcast cluster without a CP Subsystem: the owner of the lock's partition, and its backup, which
// takes its place.
var HazelcastUnsafe backend.Kind = &partition{backend.One{Is: backend.Facts{
	Name: "hazelcast-unsafe", Title: "Hazelcast in unsafe mode", Node: "hazelcast", Entry: "lock", Holds: backend.BySession, Role: "master",
	Doc:   "The owner of a partition, which is the master and at first `hazelcast-1`, and its backup.",
	Place: "a member of a Hazelcast cluster", Token: "the fence, as the owner of the partition counts requests",
	Fields:   []backend.Field{backend.EndSession},
	Patience: 200, Answers: true, Counts: true,
	TTLs:    []time.Duration{10 * time.Second, 2 * time.Second},
	Says:    []string{trace.ToLook, "heartbeatSession", "createSession"},
	Among:   []string{"backup", trace.ToAcquire, trace.ToRelease, "ack", "heartbeat"},
	Refuses: []string{"the member is not owner of the partition"},
}}}

type partition struct{ backend.One }

// Shape is that of two members which keep everything in memory, and watch each other.
func (*partition) Shape(*backend.Servers) backend.Shape {
	return backend.Shape{Keepers: 2, Voters: 1, Masters: 1, Peers: true, Replicates: true, Watched: true, Volatile: true}
}

// Lost needs a member that can be reached.
func (k *partition) Lost(s *backend.Servers, left backend.Remains) string {
	for _, name := range k.Is.Names(k.Shape(s)) {
		if left.Reaches(name) {
			return ""
		}
	}
	return "it cannot reach a member any more"
}
