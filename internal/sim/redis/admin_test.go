package redis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

func TestInfoIsReadBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.Int64Range(0, 1000)
		span := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(offset.Draw(t, "seconds")) * time.Second })
		i := redis.Info{
			RunID: "redis-1@0", Role: redis.Role(rapid.IntRange(0, 1).Draw(t, "role")),
			History: "redis-1#2", Offset: offset.Draw(t, "offset"), FormerOffset: -1,
		}
		if rapid.Bool().Draw(t, "former") {
			i.Former, i.FormerOffset = "redis-2#1", offset.Draw(t, "former offset")
		}
		for range rapid.IntRange(0, 3).Draw(t, "replicas") {
			i.Replicas = append(i.Replicas, redis.ReplicaInfo{
				Node: "redis-3", Online: rapid.Bool().Draw(t, "online"), Offset: offset.Draw(t, "acked"), Lag: span.Draw(t, "lag"),
			})
		}
		if i.Role == redis.Replica {
			i.Master, i.LinkUp = "redis-4", rapid.Bool().Draw(t, "up")
			if !i.LinkUp {
				i.LinkDown = span.Draw(t, "down")
			}
		}
		read, err := redis.ParseInfo(i.String())
		require.NoError(t, err)
		require.Equal(t, i, read)
	})
	_, err := redis.ParseInfo("master_repl_offset:x\r\n")
	require.Error(t, err)
}

func TestServersTellTheirRoles(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.client("a", func(c *caller) {
		c.do(1, "SET k v")
		c.sleepUntil(3 * s)
		c.expect(`["master", (integer) 1, [["redis-2", "6379", "1"]]]`, 1, "ROLE")
		c.expect(`["slave", "redis-1", (integer) 6379, "connected", (integer) 1]`, 2, "ROLE")
		info := d.servers[1].Info()
		require.Equal(t, redis.Info{
			RunID: "redis-2@0", Role: redis.Replica, History: "redis-1#1", Offset: 1, FormerOffset: -1,
			Master: "redis-1", LinkUp: true,
		}, info)
		require.Contains(t, c.do(1, "INFO replication"), `slave0:ip=redis-2,port=6379,state=online,offset=1,lag=`)
		require.Contains(t, c.do(1, "REPLICAOF nowhere 6379"), "(error) ERR there is no node named nowhere")
		require.Contains(t, c.do(1, "CONFIG NOSUCH x"), "(error) ERR unknown subcommand")
	})
	d.play()
}

// TestSentinelCommandsAreOneTransaction is sentinelSendSlaveOf of sentinel.c.
func TestSentinelCommandsAreOneTransaction(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.client("b", func(c *caller) {
		c.expect("OK", 2, "SCRIPT FLUSH")
		require.Equal(t, "closed", c.next(2, 10*s))
	})
	d.client("listener", func(c *caller) {
		c.do(2, "SUBSCRIBE c")
		require.Equal(t, "closed", c.next(2, 10*s))
	})
	d.client("sentinel", func(c *caller) {
		c.sleepUntil(1 * s)
		for _, line := range []string{
			"MULTI", "SLAVEOF NO ONE", "CONFIG REWRITE", "CLIENT KILL TYPE normal", "CLIENT KILL TYPE pubsub",
		} {
			c.do(2, line)
		}
		c.expect("[OK, OK, (integer) 1, (integer) 1]", 2, "EXEC")
		require.Equal(t, redis.Master, d.servers[1].Role())
		require.Contains(t, c.do(2, "CLIENT KILL TYPE nonsense"), "(error) ERR Unknown client type")
		c.expect("(integer) 0", 1, "CLIENT KILL TYPE replica")
	})
	d.play()
}

func TestReplicaWhoseConnectionIsKilledComesBackAtOnce(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.client("a", func(c *caller) {
		c.expect("(integer) 1", 1, "CLIENT KILL TYPE slave")
		c.expect("OK", 1, "SET k v")
		c.Sleep(10 * ms)
		require.True(t, d.has(2, "k"))
	})
	d.play()
}

func TestGateAnswersInTheServersStead(t *testing.T) {
	gated := redis.Config{Gate: func(r *redis.Request, c *sim.Conn) (redis.Reply, bool) {
		if c.Client().Name == "a" && len(r.Args) > 1 && r.Args[1] == "elsewhere" {
			return redis.Reply{Type: redis.ReplyError, Text: "MOVED 7 redis-2:6379"}, true
		}
		return redis.Reply{}, false
	}}
	d := deploy(t, 0, gated)
	d.client("a", func(c *caller) {
		c.expect("(error) MOVED 7 redis-2:6379", 1, "SET elsewhere a")
		c.expect("OK", 1, "SET here a")
		c.do(1, "MULTI")
		c.do(1, "SET here b")
		c.do(1, "GET elsewhere")
		c.expect("(error) EXECABORT Transaction discarded because of previous errors.", 1, "EXEC")
		c.expect(`"a"`, 1, "GET here")
	})
	d.play()
}

func TestStoreThatStandsAloneHasNoServersCommands(t *testing.T) {
	store := redis.NewStore()
	peer := store.NewPeer()
	for line, want := range map[string]string{
		"ROLE": "(error) ERR this needs a server", "INFO": "(error) ERR this needs a server",
		"REPLICAOF NO ONE": "(error) ERR this needs a server", "CONFIG REWRITE": "(error) ERR this needs a server",
		"WAIT 1 0": "(integer) 0", "PUBLISH c m": "(integer) 0",
	} {
		reply, err := redis.ParseReply(store.Execute(1, peer, strings.Fields(line)))
		require.NoError(t, err)
		require.Equal(t, want, reply.String())
	}
}
