package simulated

import (
	"fmt"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// One is what services have in common that are one server.
type One struct {
	Node *sim.Node
	Port int // at which programs find it; 0 if they cannot talk to it
}

// Servers returns the one server.
func (s One) Servers() []*sim.Node { return []*sim.Node{s.Node} }

// Entrance is the address of the server.
func (s One) Entrance(*locks.Algorithm) Entrance { return Numbered(s.Servers(), s.Port) }

// Told is empty: the server tells clients of no addresses.
func (One) Told() Entrance { return Entrance{} }

// Role returns "": one server plays no role.
func (One) Role(string) string { return "" }

// None is the clients that a process has none of. Those of a service embed it.
type None struct{ Process Process }

func (n None) missing(client string) string {
	return fmt.Sprintf("the lock asks for a client of %s, but its servers are of the kind %s", client, n.Process.World().Scenario().Servers.Kind)
}

// Redis panics: there is no Redis server.
func (n None) Redis(int) locks.Redis { panic(n.missing("Redis")) }

// RedisNodes returns 0.
func (None) RedisNodes() int { return 0 }

// ZooKeeper panics: there is no ensemble.
func (n None) ZooKeeper() locks.ZooKeeper { panic(n.missing("ZooKeeper")) }

// Etcd panics: there is no cluster.
func (n None) Etcd() locks.Etcd { panic(n.missing("etcd")) }

// Consul panics: there is no cluster.
func (n None) Consul() locks.Consul { panic(n.missing("Consul")) }

// Chubby panics: there is no cell.
func (n None) Chubby() locks.Chubby { panic(n.missing("Chubby")) }

// Memcached panics: there is no server.
func (n None) Memcached() locks.Memcached { panic(n.missing("memcached")) }

// SQL panics: there is no database.
func (n None) SQL() locks.SQL { panic(n.missing("a database")) }

// Other panics: there is no server of the kind.
func (n None) Other(kind string) any { panic(n.missing(kind)) }
