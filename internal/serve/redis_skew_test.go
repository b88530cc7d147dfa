package serve_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// What a client does to a master, and then asks its replica, before the replica's promotion and after.
var (
	toMaster   = []string{"SET lock a PX 8000", "SET kept a PX 60000", "SET free a", "SET short a PX 4", "PEXPIRE free 9000"}
	askReplica = []string{"GET lock", "PTTL lock", "PEXPIRETIME lock", "PTTL kept", "GET free", "PTTL free"}
)

// tellSkewed plays it with a master, 0, and a replica, 1.
func tellSkewed(ask func(server int, line string) string) (log []string) {
	note := func(server int, lines ...string) {
		for _, line := range lines {
			log = append(log, line+" -> "+ask(server, line))
		}
	}
	note(0, toMaster...)
	for ask(1, "DBSIZE") != likened(":4\r\n", false) || ask(1, "PEXPIRETIME free") == likened(":-1\r\n", false) {
	} // until the replica has everything
	note(1, askReplica...)
	note(1, "SET lock b NX PX 8000", "REPLICAOF NO ONE", "SET lock b NX PX 8000")
	note(1, askReplica...)
	return log
}

// TestDeadlinesReachReplicasAsDates holds what a replica with a clock of its own makes of its master's locks against a real one:
// a deadline is sent as a date, so that a lock which a replica acknowledged may have ended for it, or last longer.
func TestDeadlinesReachReplicasAsDates(t *testing.T) {
	for name, skew := range map[string]time.Duration{"ahead": 10 * time.Second, "right": 0, "behind": -10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // real servers take their time to find each other
			require.Equal(t, realSkewed(t, skew), simulatedSkewed(t, skew))
		})
	}
}

func realSkewed(t *testing.T, skew time.Duration) []string {
	master := startRealRedis(t, real.RedisConfig{})
	master.setClock(t, noon)
	replica := startRealRedis(t, real.RedisConfig{ReplicaOf: master.server.Address})
	require.NoError(t, replica.server.FreezeClock(noon.Add(skew+time.Millisecond/2)))
	sides := []*realRedis{master, replica}
	for _, s := range sides {
		s.redial(t, 1)
	}
	return tellSkewed(func(server int, line string) string {
		sides[server].send(t, 0, line+"\r\n")
		return likened(sides[server].heard(t)[0], false)
	})
}

func simulatedSkewed(t *testing.T, skew time.Duration) []string {
	e := sim.New(sim.Config{Seed: 1, Until: trace.Never, Latency: sim.Constant(0)}, nil)
	gateway := e.AddServer("clients", idle{})
	var servers []*redis.Server
	var clients []*simulatedClient
	for i, by := range []time.Duration{0, skew} {
		c := redis.Config{}
		if i > 0 {
			c.ReplicaOf = servers[0]
		}
		s := redis.NewServer(redis.NewStore(), c)
		n := e.AddServer([]string{"master", "replica"}[i], s)
		n.Adjust(time.Duration(noon.UnixNano()-n.Wall())+by, 0, sim.WallOnly)
		s.Attach(n)
		servers = append(servers, s)
		client := &simulatedClient{Conversation: wire.Redis(nil)}
		client.conn = gateway.Connect(n, client)
		clients = append(clients, client)
	}
	advance := func() {
		_, err := e.Advance(0)
		require.NoError(t, err)
	}
	advance()
	return tellSkewed(func(server int, line string) string {
		c := clients[server]
		c.got = nil
		require.True(t, c.Receive([]byte(line+"\r\n"), c.conn.Push))
		advance()
		return likened(string(c.got), false)
	})
}
