// Package zookeeper says what there is to know of ZooKeeper before a server runs.
package zookeeper

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// Kind is a ZooKeeper ensemble.
var Kind backend.Kind = &kind{backend.One{Is: backend.Facts{
	Name: "zookeeper", Title: "ZooKeeper", Node: "zk", Entry: "znode", Holds: backend.BySession, Role: "leader",
	Doc:   "The servers of an ensemble.",
	Place: "a ZooKeeper ensemble", Token: "the transaction that made the node (czxid)",
	Fields: []backend.Field{
		"servers.nodes", backend.Leader, backend.Tick, "servers.sync-limit", backend.Persistence, backend.Library, backend.Home,
		backend.Promote, backend.EndSession,
	},
	Monotonic: true, Serves: true, Patience: 125,
	TTLs:    []time.Duration{10 * time.Second, 4 * time.Second},
	Reads:   []string{"getData", "exists", "getChildren", "getChildren2", "sync", "ping"},
	Says:    []string{trace.ToLook, "ping", "connect", "event"},
	Among:   []string{"PROPOSAL", "ACK", "COMMIT", "REQUEST", "PONG", "PING", "REVALIDATE", "NEWLEADER"},
	Refuses: []string{"throttledOp"},
	Errors: []string{
		"throttledOp", "runtimeInconsistency", "marshallingError", "unimplemented", "badArguments", "noNode", "noAuth", "badVersion",
		"noChildrenForEphemerals", "nodeExists", "notEmpty", "sessionExpired", "invalidACL", "authFailed", "noWatcher", "reconfigDisabled",
	},
}}}

type kind struct{ backend.One }

// ensemble is how many servers there are unless it is said.
const ensemble = 3

// Shape counts the servers, which elect one of them.
func (*kind) Shape(s *backend.Servers) backend.Shape {
	nodes := cmp.Or(s.Nodes, ensemble)
	return backend.Shape{Keepers: nodes, Voters: 1, Peers: nodes > 1}
}

// Check refuses even numbers, leaders that are not there, and persistence of other servers.
func (k *kind) Check(s *backend.Servers, _ int, report backend.Report) {
	if s.Persistence != "" && s.Persistence != "lazy" && s.Persistence != "always" {
		report("servers.persistence", "lazy or always", "ZooKeeper has no persistence %q", s.Persistence)
	}
	if s.Nodes > 0 && s.Nodes%2 == 0 {
		report("servers.nodes", "an odd number", "%d servers bear no more failures than %d", s.Nodes, s.Nodes-1)
	}
	if n := k.Shape(s).Keepers; s.Leader > n {
		report("servers.leader", fmt.Sprintf("a number from 1 to %d", n), "there is no server zk-%d", s.Leader)
	}
}

// Usual is an ensemble of three, led by the last as it is after a first election.
func (k *kind) Usual(by locks.Authority) backend.Servers {
	s := k.One.Usual(by)
	s.Nodes, s.Leader = ensemble, ensemble
	return s
}

// Tidy leaves the leader to the election if its number is none.
func (k *kind) Tidy(s *backend.Servers) {
	if s.Leader > k.Shape(s).Keepers {
		s.Leader = 0
	}
}

// Lost needs a majority of servers that live, and one of them that the client reaches.
func (k *kind) Lost(s *backend.Servers, left backend.Remains) string {
	names := k.Is.Names(k.Shape(s))
	live := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !left.Lives(name) })
	mine := left.Mine()
	if len(mine) == 0 {
		mine = names
	}
	switch {
	case len(live) <= len(names)/2:
		return "a majority of the servers is gone"
	case !slices.ContainsFunc(mine, left.Reaches):
		return "it cannot reach any of its servers"
	default:
		return ""
	}
}

// Words counts the servers.
func (k *kind) Words(s *backend.Servers) string {
	return fmt.Sprintf("an ensemble of %d ZooKeeper servers", k.Shape(s).Keepers)
}
