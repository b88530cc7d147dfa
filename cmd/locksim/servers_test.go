package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServersAreAskedForAndNamedInFull(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"serve", "serve: want one of consul, etcd, memcached, object, redis, zookeeper"},
		{"serve consul --servers 3", "serve: --servers and --replicas are for Redis, --servers and --tick for ZooKeeper"},
		{"serve redi", `serve: there is no server "redi"; did you mean "redis"?`},
		{"serve redis --tick 1s", "serve: --tick is for ZooKeeper only"},
		{"serve zookeeper --replicas", "serve: --replicas is for Redis only"},
		{"serve zookeeper --servers 4", "serve: --servers 4: an ensemble has an odd number of servers"},
		{"serve zookeeper --tick 0s", `serve: invalid value "0s" for --tick: not a duration such as 30s, 10m or 8h`},
		{"serve zookeeper --tick 1us", "serve: --tick 1µs: want at least 1ms"},
		{"serve redis --listen nowhere", `serve: --listen "nowhere" is not of the form host:port, with ports for 1 server`},

		{"live", "live: want acquire LOCK"},
		{"live acquire", "live: no lock given"},
		{"live acquire redlok", `live: there is no lock "redlok"; did you mean "redlock"?`},
		{"live acquire set-nx-lua", "live: the lock set-nx-lua needs Redis: name the servers with --redis"},
		{"live acquire set-nx-lua --redis localhost", `live: --redis "localhost": "localhost" is not of the form host:port`},
		{"live acquire set-nx-lua --redis localhost:1 --etcd http://localhost:2", "live: the lock set-nx-lua needs Redis, and does not use --etcd"},
		{"live acquire etcd --etcd localhost:2", `live: --etcd "localhost:2" is not an address such as http://127.0.0.1:2379`},
		{"live acquire chubby", "live: the lock chubby needs Chubby, which live does not support"},
		{"live acquire set-nx-lua --redis localhost:1 --ttl 0s", "live: --ttl and --timeout must be at least 1ms"},
	} {
		code, out, stderr := locksim(t.Context(), strings.Fields(c.args)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Empty(t, out, c.args)
		require.True(t, strings.HasPrefix(stderr, "locksim: "+c.want), "%s: %s", c.args, stderr)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "%s: %s", c.args, stderr)
	}
}

func TestServersAreServedUntilAnInterrupt(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for args, count := range map[string]int{"serve redis": 1, "serve redis --servers 2": 2, "serve zookeeper --tick 100ms": 3} {
		code, out, stderr := locksim(over, strings.Fields(args)...)
		require.Equal(t, exitOK, code, stderr)
		require.Len(t, strings.Fields(out), count, args)
	}
}
