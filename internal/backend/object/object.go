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
	Monotonic: true, Serves: true, Patience: 125,
	TTLs: []time.Duration{15 * time.Second, 3 * time.Second},
	Says: []string{trace.ToLook, trace.ToRenew},
	Refuses: []string{
		"503 Slow Down", "500 Internal Error", "409 Conflict", // of S3, of any, of S3 and Kubernetes
	},
}}
