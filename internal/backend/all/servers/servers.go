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
	"github.com/locksim/locksim/internal/backend/redis"
	redisservers "github.com/locksim/locksim/internal/backend/redis/servers"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/backend/zookeeper"
	zookeeperservers "github.com/locksim/locksim/internal/backend/zookeeper/servers"
)

var list = []struct {
	kind    backend.Kind
	servers simulated.Backend
}{
	{redis.Kind, redisservers.Servers{}},
	{zookeeper.Kind, zookeeperservers.Servers{}},
	{lease.Etcd, leaseservers.Etcd()},
	{lease.Consul, leaseservers.Consul()},
	{lease.Chubby, leaseservers.Chubby()},
	{memcached.Kind, memcachedservers.Servers{}},
	{database.MySQL, databaseservers.MySQL()},
	{database.Postgres, databaseservers.Postgres()},
}

// Of returns the simulated servers of a kind. It panics if there are none.
func Of(kind backend.Kind) simulated.Backend {
	for _, each := range list {
		if each.kind == kind {
			return each.servers
		}
	}
	panic("servers: nothing simulates " + kind.Facts().Title)
}
