// Package servers lists the simulated servers of the backends. To add one is to add a line here.
package servers

import (
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/backend/database"
	mysqlpostgres "github.com/locksim/locksim/internal/backend/database/servers"
	"github.com/locksim/locksim/internal/backend/lease"
	leases "github.com/locksim/locksim/internal/backend/lease/servers"
	"github.com/locksim/locksim/internal/backend/memcached"
	memcacheds "github.com/locksim/locksim/internal/backend/memcached/servers"
	"github.com/locksim/locksim/internal/backend/redis"
	redises "github.com/locksim/locksim/internal/backend/redis/servers"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/backend/zookeeper"
	ensembles "github.com/locksim/locksim/internal/backend/zookeeper/servers"
)

var list = []struct {
	kind    backend.Kind
	servers simulated.Backend
}{
	{redis.Kind, redises.Servers{}},
	{zookeeper.Kind, ensembles.Servers{}},
	{lease.Etcd, leases.Etcd()},
	{lease.Consul, leases.Consul()},
	{lease.Chubby, leases.Chubby()},
	{memcached.Kind, memcacheds.Servers{}},
	{database.MySQL, mysqlpostgres.MySQL()},
	{database.Postgres, mysqlpostgres.Postgres()},
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
