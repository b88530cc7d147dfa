// Package memcached says what there is to know of memcached before a server runs.
package memcached

import (
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/trace"
)

// Kind is a memcached server, which counts times to live in seconds of a clock of its own (doc/protocol.txt, "Expiration times").
var Kind backend.Kind = &kind{backend.One{Is: backend.Facts{
	Name: "memcached", Title: "memcached", Node: "memcached", Entry: "key", Doc: "One server.",
	Place:    "one memcached server",
	Fields:   []backend.Field{backend.Evict},
	Serves:   true,
	Patience: 125, Early: time.Second,
	TTLs:    []time.Duration{10 * time.Second, 2 * time.Second},
	Says:    []string{trace.ToLook},
	Refuses: []string{"SERVER_ERROR out of memory storing object"},
}}}

type kind struct{ backend.One }

// Shape is that of one server, which keeps nothing on disk.
func (k *kind) Shape(s *backend.Servers) backend.Shape {
	d := k.One.Shape(s)
	d.Volatile = true
	return d
}
