package serve

import (
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/internal/sim/memcached"
	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

// Single makes a world of one server, which is all that clients see of its kind. A port of 0 stands for any free port.
type Single func(seed uint64, address string) (*World, error)

// The kinds of which there is one server.
var (
	Memcached = single("memcached", wire.Memcached, func(w *World, name string) *sim.Node {
		s := memcached.New(nil)
		n := w.addServer(name, s)
		s.Attach(n, w.engine.Rand("began", name))
		return n
	})
	// Consul is a datacenter, behind the HTTP API of an agent.
	Consul = single("consul", wire.Consul, func(w *World, name string) *sim.Node {
		return lease.New(w.engine, lease.Config{Dialect: lease.Consul(), Name: name}).Node()
	})
	// Etcd is a cluster, behind the gateway of one member.
	Etcd = single("etcd", wire.Etcd, func(w *World, name string) *sim.Node {
		return lease.New(w.engine, lease.Config{Dialect: lease.Etcd(), Name: name}).Node()
	})
	// Objects has the APIs of S3, of DynamoDB, and of Kubernetes for leases, whichever a connection speaks first.
	Objects = single("object", wire.ObjectStore, func(w *World, name string) *sim.Node {
		s := object.New(nil)
		n := w.addServer(name, s)
		s.Attach(n)
		return n
	})
)

func single(name string, speak func() wire.Conversation, add func(*World, string) *sim.Node) Single {
	return func(seed uint64, address string) (*World, error) {
		w := newWorld(seed)
		return w, w.listen(address, front{server: add(w, name+"-1"), speak: func(string) wire.Conversation { return speak() }})
	}
}
