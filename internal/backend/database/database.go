// Package database says what there is to know of databases, whose locks are bound to connections, before a server runs.
package database

import (
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/trace"
)

// MySQL is one MySQL or MariaDB server. GET_LOCK returns when its turn comes.
var MySQL backend.Kind = &kind{backend.One{Is: backend.Facts{
	Name: "mysql", Title: "MySQL", Node: "mysql", Entry: "lock", Holds: backend.ByConnection, Doc: "One server.",
	Place: "one MySQL server", Token: "the row's number (AUTO_INCREMENT)",
	Fields:   []backend.Field{backend.KeepAlive, backend.IdleTimeout, backend.EndSession},
	Patience: 125, Answers: true, Counts: true,
	TTLs:    []time.Duration{10 * time.Second},
	Says:    []string{trace.ToLook},
	Refuses: []string{"Lock wait timeout exceeded; try restarting transaction"},
}}}

// Postgres is one PostgreSQL server. pg_advisory_lock returns when its turn comes.
var Postgres backend.Kind = &kind{backend.One{Is: backend.Facts{
	Name: "postgres", Title: "PostgreSQL", Node: "postgres", Beside: []string{"pooler"}, Entry: "lock", Holds: backend.ByConnection,
	Doc:      "One server, perhaps behind a pooler (`pooler-1`).",
	Place:    "one PostgreSQL server",
	Fields:   []backend.Field{backend.KeepAlive, backend.IdleTimeout, backend.Pool, backend.EndSession},
	Patience: 125, Answers: true, Counts: true,
	TTLs:    []time.Duration{10 * time.Second},
	Says:    []string{trace.ToLook},
	Refuses: []string{"canceling statement due to user request"},
}}}

type kind struct{ backend.One }

// Shape is that of one server, which a pooler may stand in front of.
func (k *kind) Shape(s *backend.Servers) backend.Shape {
	d := k.One.Shape(s)
	if s.Pool > 0 {
		d.Beside, d.Fronted = []int{1}, true
	}
	return d
}

// Lost says that the server is gone, or that the client cannot reach it, or its pooler.
func (k *kind) Lost(s *backend.Servers, left backend.Remains) string {
	lost := k.One.Lost(s, left)
	if s.Pool == 0 || !left.Lives(k.Is.Node+"-1") {
		return lost
	}
	if !left.Reaches(k.Is.Beside[0] + "-1") {
		return "it cannot reach the only server"
	}
	return ""
}
