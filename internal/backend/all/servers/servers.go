// Package servers lists the simulated servers of the backends. To add one is to add a line here.
package servers

import (
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/backend/database"
	databaseservers "github.com/locksim/locksim/internal/backend/database/servers"
	"github.com/locksim/locksim/internal/backend/lease"
	leaseservers "github.com/locksim/locksim/internal/backend/lease/servers"
	"github.com/locksim/locksim/internal/backend/memcached"
	memcachedservers "github.com/locksim/locksim/internal/backend/memcached/servers"
	"github.com/locksim/locksim/internal/backend/object"
	objectservers "github.com/locksim/locksim/internal/backend/object/servers"
	"github.com/locksim/locksim/internal/backend/redis"
	redisservers "github.com/locksim/locksim/internal/backend/redis/servers"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/backend/zookeeper"
	zookeeperservers "github.com/locksim/locksim/internal/backend/zookeeper/servers"
)

var list = []struct {
	kind  backend.Kind
	build func(simulated.World) simulated.Service
}{
	{redis.Kind, redisservers.Build},
	{zookeeper.Kind, zookeeperservers.Build},
	{lease.Etcd, leaseservers.Etcd},
	{lease.Consul, leaseservers.Consul},
	{lease.Chubby, leaseservers.Chubby},
	{lease.Hazelcast, leaseservers.Hazelcast},
	{lease.HazelcastUnsafe, leaseservers.HazelcastUnsafe},
	{memcached.Kind, memcachedservers.Build},
	{database.MySQL, databaseservers.MySQL},
	{database.Postgres, databaseservers.Postgres},
	{object.Kind, objectservers.Build},
	{object.MongoDB, objectservers.MongoDB},
}

// Build builds the simulated servers of a kind in a run. It panics if there are none.
func Build(kind backend.Kind, w simulated.World) simulated.Service {
	for _, each := range list {
		if each.kind == kind {
			return each.build(w)
		}
	}
	panic("servers: nothing simulates " + kind.Facts().Title)
}
