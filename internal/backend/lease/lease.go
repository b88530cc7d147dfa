// Package lease says what there is to know of services of leases and sessions before a server runs: etcd, Consul, Chubby.
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
