package scenarios

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/backend/all"
)

func TestServersAreCalledByTheirKind(t *testing.T) {
	holder := []string{"holder"}
	for _, c := range []struct {
		servers      Servers
		names, roles []string
	}{
		{Servers{Kind: "redis", Masters: 2}, []string{"redis-1", "redis-2"}, holder},
		{
			Servers{Kind: "redis", Masters: 1, Replicas: 2, Sentinels: 1},
			[]string{"redis-1", "redis-2", "redis-3", "sentinel-1"},
			[]string{"holder", "master"},
		},
		{
			Servers{Kind: "redis", Masters: 3, Cluster: true, Replicas: 1},
			[]string{"redis-1", "redis-2", "redis-3", "redis-4", "redis-5", "redis-6"},
			[]string{"holder", "master"},
		},
		{Servers{Kind: "zookeeper"}, []string{"zk-1", "zk-2", "zk-3"}, []string{"holder", "leader"}},
		{Servers{Kind: "zookeeper", Nodes: 1}, []string{"zk-1"}, holder},
		{Servers{Kind: "etcd"}, []string{"etcd-1"}, holder},
		{Servers{Kind: "consul"}, []string{"consul-1"}, holder},
		{Servers{Kind: "chubby"}, []string{"chubby-1"}, holder},
		{Servers{Kind: "hazelcast"}, []string{"hazelcast-1"}, holder},
		{Servers{Kind: "hazelcast-unsafe"}, []string{"hazelcast-1", "hazelcast-2"}, []string{"holder", "master"}},
		{Servers{Kind: "mongodb"}, []string{"mongod-1", "mongod-2", "mongod-3"}, []string{"holder", "master"}},
		{Servers{Kind: "memcached"}, []string{"memcached-1"}, holder},
		{Servers{Kind: "mysql"}, []string{"mysql-1"}, holder},
		{Servers{Kind: "postgres"}, []string{"postgres-1"}, holder},
	} {
		require.Equal(t, c.names, c.servers.Names(), "%+v", c.servers)
		require.Equal(t, c.roles, c.servers.roles(), "%+v", c.servers)
		for _, name := range c.names {
			require.True(t, reserved(name), name)
		}
	}
}

// TestFieldsOfBackendsAreFieldsThatThereAre: a backend that misspells a field would leave it to all kinds.
func TestFieldsOfBackendsAreFieldsThatThereAre(t *testing.T) {
	known := slices.Concat(namesOf(&serverFields), namesOf(&lockFields), namesOf(&clientFields), namesOf(&faultFields))
	for _, k := range all.Kinds() {
		for _, f := range k.Facts().Fields {
			require.Contains(t, known, string(f), k.Facts().Name)
		}
	}
	require.NotContains(t, known, "servers.mastres")
}

func namesOf[T any](m *mapping[T]) (names []string) {
	for _, f := range m.fields {
		names = append(names, m.name+"."+f.name)
	}
	return names
}
