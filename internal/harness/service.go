package harness

import (
	"fmt"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/database"
	"github.com/locksim/locksim/sim/lease"
)

// service is a deployment of the lock's servers in one world. There is one file for each kind of servers: it builds
// them, gives the processes their clients, and tells the truth about what they grant.
type service interface {
	// servers returns the nodes that serve the lock, in the order of their numbers.
	servers() []*sim.Node
	// clients makes a task's clients of the servers. State that the tasks of a process share is in
	// shared.clients.
	clients(p *process) locks.Services
	// role finds the node that plays a role of servers; "" if none does.
	role(name string) string
	// command carries out an action that only this kind of servers understands.
	command(n *sim.Node, a *sim.Action) bool
	// errorReply answers a request with an error.
	errorReply(request sim.Payload, text string) sim.Payload
}

// newService builds the servers that the scenario names.
func newService(w *world, r *Runner) service {
	switch kind := w.plan.Case.Scenario.Servers.Kind; kind {
	case "redis", "":
		return newRedisService(w, r)
	case "zookeeper":
		return newZooKeeperService(w)
	case "etcd":
		return newLeaseService(w, lease.Etcd(), newEtcdClient)
	case "consul":
		return newLeaseService(w, lease.Consul(), newConsulClient)
	case "chubby":
		return newLeaseService(w, lease.Chubby(), newChubbyClient)
	case "memcached":
		return newMemcachedService(w)
	case "mysql":
		return newDatabaseService(w, database.MySQL)
	case "postgres":
		return newDatabaseService(w, database.PostgreSQL)
	default:
		panic("harness: there are no servers of the kind " + kind)
	}
}

// plain is what services have in common that are one server.
type plain struct{ node *sim.Node }

func (s plain) servers() []*sim.Node { return []*sim.Node{s.node} }
func (plain) role(string) string     { return "" }

// none is the clients that a process has none of. A service's own embed it.
type none struct{ kind string }

func (n none) missing(client string) string {
	return fmt.Sprintf("the lock asks for a client of %s, but its servers are of the kind %s", client, n.kind)
}

// Redis panics: there is no Redis server.
func (n none) Redis(int) locks.Redis { panic(n.missing("Redis")) }

// RedisNodes returns 0.
func (none) RedisNodes() int { return 0 }

// ZooKeeper panics: there is no ensemble.
func (n none) ZooKeeper() locks.ZooKeeper { panic(n.missing("ZooKeeper")) }

// Etcd panics: there is no cluster.
func (n none) Etcd() locks.Etcd { panic(n.missing("etcd")) }

// Consul panics: there is no cluster.
func (n none) Consul() locks.Consul { panic(n.missing("Consul")) }

// Chubby panics: there is no cell.
func (n none) Chubby() locks.Chubby { panic(n.missing("Chubby")) }

// Memcached panics: there is no server.
func (n none) Memcached() locks.Memcached { panic(n.missing("memcached")) }

// SQL panics: there is no database.
func (n none) SQL() locks.SQL { panic(n.missing("a database")) }
