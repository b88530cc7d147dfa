// Package all lists the backends. To add one is to add a line here, and its own fields of a scenario elsewhere if it has any:
// see docs/backends.md.
package all

import (
	"slices"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/backend/database"
	"github.com/locksim/locksim/internal/backend/lease"
	"github.com/locksim/locksim/internal/backend/memcached"
	"github.com/locksim/locksim/internal/backend/object"
	"github.com/locksim/locksim/internal/backend/redis"
	"github.com/locksim/locksim/internal/backend/zookeeper"
)

// kinds are in the order of the documentation. The first is that of a scenario which names none.
var kinds = []backend.Kind{
	redis.Kind,
	zookeeper.Kind,
	lease.Etcd,
	lease.Consul,
	lease.Chubby,
	lease.Hazelcast,
	lease.HazelcastUnsafe,
	memcached.Kind,
	database.MySQL,
	database.Postgres,
	object.Kind,
	object.MongoDB,
}

// Kinds returns the backends, in the order of the documentation.
func Kinds() []backend.Kind { return slices.Clone(kinds) }

// Find returns the backend of that name; the first if none has it.
func Find(name string) backend.Kind {
	named := func(k backend.Kind) bool { return k.Facts().Name == name }
	return kinds[max(slices.IndexFunc(kinds, named), 0)]
}
