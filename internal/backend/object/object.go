// Package object says what there is to know of an object store before a server runs.
package object

import (
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/trace"
)

// Kind is a store of versioned objects with conditional writes, such as S3, Google Cloud Storage, Azure Blob Storage, DynamoDB,
// MongoDB, or the Kubernetes API. But for Azure's the service never ends a lease: clients read in an object how long they must leave it alone, and count
// by clocks of their own.
var Kind backend.Kind = &backend.One{Is: backend.Facts{
	Name: "object", Title: "an object store", Node: "store", Entry: "object",
	Doc:   "Versioned objects with conditional writes: S3, Google Cloud Storage, Azure Blob Storage, DynamoDB, MongoDB, the Kubernetes API. One node stands for the service.",
	Place: "one object store", Token: "a number that each holder writes one higher",
	Fields:    []backend.Field{"servers.staleness"},
	Monotonic: true, Serves: true, Patience: 125,
	TTLs: []time.Duration{15 * time.Second, 3 * time.Second},
	Says: []string{trace.ToLook, trace.ToRenew},
	Refuses: []string{
		"503 Slow Down", "500 Internal Error", "409 Conflict", // of S3, of any, of S3 and Kubernetes
	},
}}

// MongoDB is a replica set of MongoDB with three members, one of which is the primary.
var MongoDB backend.Kind = &replicaSet{backend.One{Is: backend.Facts{
	Name: "mongodb", Title: "MongoDB", Node: "mongod", Entry: "document", Role: "master", Leads: "primary", Stands: true,
	Doc:   "The three members of a replica set. The primary is who plays the role `master`, and at first `mongod-1`. The collection has a TTL index.",
	Place: "the primary of a replica set of MongoDB", Fields: []backend.Field{backend.Promote},
	Patience: 700, // a minute, of the shortest lease that is usual
	TTLs:     []time.Duration{time.Minute, 10 * time.Second},
	Says:     []string{trace.ToLook},
	Among:    []string{"oplog", "ack", "replSetRequestVotes", "vote"},
	Refuses:  []string{"NotWritablePrimary"},
}}}

type replicaSet struct{ backend.One }

// Shape is that of three members which watch each other.
func (*replicaSet) Shape(*backend.Servers) backend.Shape {
	return backend.Shape{Keepers: 3, Voters: 1, Masters: 1, Peers: true, Replicates: true, Watched: true}
}

// Words says how many members there are.
func (*replicaSet) Words(*backend.Servers) string { return "MongoDB, a replica set of 3 members" }

// Lost needs two members that can be reached.
func (k *replicaSet) Lost(s *backend.Servers, left backend.Remains) string {
	up := 0
	for _, name := range k.Is.Names(k.Shape(s)) {
		if left.Reaches(name) {
			up++
		}
	}
	if up > 1 {
		return ""
	}
	return "it cannot reach a majority of the members any more"
}
