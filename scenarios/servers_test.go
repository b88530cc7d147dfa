package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
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

func TestFieldsOfKindsNameKindsThatThereAre(t *testing.T) {
	check := func(name string, kinds []string) {
		for _, kind := range kinds {
			require.Contains(t, kindNames(), kind, name)
		}
	}
	for _, f := range serverFields.fields {
		check(f.name, f.kinds)
	}
	for _, f := range lockFields.fields {
		check(f.name, f.kinds)
	}
	for _, f := range clientFields.fields {
		check(f.name, f.kinds)
	}
	for _, f := range faultFields.fields {
		check(f.name, f.kinds)
	}
}
