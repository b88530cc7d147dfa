package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// wireServer is a miniredis behind its own TCP server, with a clock that the test moves.
type wireServer struct {
	mini  *miniredis.Miniredis
	conns []*Wire
	now   int64
}

func startWireServer(t *testing.T, conns int) *wireServer {
	t.Helper()
	w := &wireServer{mini: miniredis.RunT(t)}
	for range conns {
		w.conns = append(w.conns, Dial(t, w.mini.Addr()))
	}
	return w
}

// at brings the clock to a reading.
func (w *wireServer) at(now int64) {
	w.mini.SetTime(time.Unix(0, now))
	w.mini.FastForward(time.Duration(now - w.now))
	w.now = now
}

// begin empties the server.
func (w *wireServer) begin(t require.TestingT, now int64) {
	w.now = now
	w.mini.SetTime(time.Unix(0, now))
	for _, c := range w.conns {
		c.Do(t, "DISCARD")
		c.Do(t, "UNWATCH")
	}
	w.conns[0].Do(t, "FLUSHALL")
}

// wireLines are what random sequences consist of beside the commands and scripts of locks.
var wireLines = []string{
	"MULTI", "MULTI", "EXEC", "EXEC", "EXEC", "DISCARD",
	"SET a 1 PX 10", "SET b 2 NX PX 20", "SET a 1 XX GET", "SETNX a 2", "PEXPIRE a 15", "PEXPIRE c 5", "PEXPIREAT b 1000000000040",
	"PTTL a", "PTTL c", "PEXPIRETIME a", "PERSIST a", "INCR a", "DEL a b", "GETDEL b", "HINCRBY h me 1", "HINCRBY h me -1",
	"HEXISTS h me", "HGETALL h", "HDEL h me", "HSET h you 1", "PEXPIRE h 30", "DEL h", "ZADD z 1 a 2 b", "ZREM z a",
	"ZRANGE z 0 -1", "RPUSH l a b", "LREM l 0 a", "LRANGE l 0 -1", "PUBLISH c m", "EXISTS a b c h", "TYPE h", "MGET a b c",
	"GETSET c 1", "APPEND c x", "STRLEN c", "RENAME a b", "COPY a c", "DBSIZE", "KEYS *", "TOUCH a", "MSETNX a 1 b 2",
}

// lockScripts are the shapes of what the lock libraries run: a reentrant lock as Redisson's, with its message to the
// waiters, and an acquisition that recognises its own key, as redislock's.
var lockScripts = []string{
	`if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
		redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], 30) return nil
	end return redis.call('pttl', KEYS[1])`,
	`if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
	if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then redis.call('pexpire', KEYS[1], 30) return 0 end
	redis.call('del', KEYS[1]) redis.call('publish', KEYS[2], 'free') return 1`,
	`if redis.call('msetnx', KEYS[1], ARGV[1]) == 1 or redis.call('get', KEYS[1]) == ARGV[1] then
		return redis.call('pexpire', KEYS[1], 20)
	end return redis.call('pttl', KEYS[1])`,
}

// wireStep is a command line on one of two connections.
type wireStep struct {
	i    int
	args []string
}

// drawWireSteps draws one command, or a transaction of the first connection that the second may spoil.
func drawWireSteps(t *rapid.T) (steps []wireStep) {
	if rapid.IntRange(0, 9).Draw(t, "story") == 0 {
		for _, line := range []string{"DISCARD", "UNWATCH", "WATCH a b", "2:", "MULTI", "", "", "EXEC"} {
			line, second := strings.CutPrefix(line, "2:")
			step := wireStep{map[bool]int{true: 1}[second], strings.Fields(line)}
			if line == "" {
				step.args = drawWireCommand(t)
			}
			steps = append(steps, step)
		}
		return steps
	}
	return []wireStep{{rapid.IntRange(0, 1).Draw(t, "connection"), drawWireCommand(t)}}
}

func drawWireCommand(t *rapid.T) []string {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return drawCommand(t, 1)
	case 1:
		key := rapid.SampledFrom([]string{"h", "a"}).Draw(t, "key")
		owner := rapid.SampledFrom([]string{"me", "you"}).Draw(t, "owner")
		return []string{"EVAL", rapid.SampledFrom(lockScripts).Draw(t, "script"), "2", key, "c", owner}
	default:
		return strings.Fields(rapid.SampledFrom(wireLines).Draw(t, "line"))
	}
}

// TestMiniredisOverTheWireAnswersTheSame replays random sequences of commands on two connections against miniredis's own
// TCP server. The replies are equal but for what knownDifferences lists.
func TestMiniredisOverTheWireAnswersTheSame(t *testing.T) {
	w := startWireServer(t, 2)
	s := NewStore()
	var executed, transactions, aborted, scripts, expired int
	count := func(name string, reply Reply, changes []Change) {
		executed++
		switch {
		case name == "EXEC" && reply.Type == ReplyArray:
			transactions++
		case name == "EXEC" && reply.Type == ReplyNilArray:
			aborted++
		case name == "EVAL" && reply.Type != ReplyError:
			scripts++
		}
		for _, c := range changes {
			if c.Op == OpExpired {
				expired++
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		now := start
		w.begin(t, now)
		s.Reset()
		peers := []*Peer{s.NewPeer(), s.NewPeer()}
		for range rapid.IntRange(10, 40).Draw(t, "steps") {
			now += rapid.Int64Range(0, 12).Draw(t, "ms") * ms
			w.at(now)
			for _, step := range drawWireSteps(t) {
				got, err := ParseReply(s.Execute(now, peers[step.i], step.args))
				require.NoError(t, err)
				want := w.conns[step.i].Do(t, step.args...)
				require.Equal(t, wireReply(want), wireReply(got), "%q: miniredis %s, ours %s", step.args, want, got)
				count(step.args[0], got, s.Changes())
			}
		}
	})
	t.Logf("%d commands, %d transactions and %d aborted, %d scripts, %d keys expired", executed, transactions, aborted, scripts, expired)
	for _, count := range []int{transactions, aborted, scripts, expired} {
		require.Positive(t, count)
	}
}

// wireReply is a reply without what miniredis words in its own way: errors, whose codes scripts lose there.
func wireReply(r Reply) string {
	switch r.Type {
	case ReplyError:
		return "(error)"
	case ReplyArray:
		elems := make([]string, len(r.Elems))
		for i := range r.Elems {
			elems[i] = wireReply(r.Elems[i])
		}
		return "[" + strings.Join(elems, ", ") + "]"
	default:
		return r.String()
	}
}

// knownDifferences are lines whose last is answered otherwise by miniredis than by Redis and the Store. A second
// connection runs those that begin with "2:".
var knownDifferences = []struct {
	reason, lines, miniredis, ours string
}{
	{"a command that does not exist does not spoil a transaction", "MULTI; NOSUCH; SET k v; EXEC", "[OK]", "(error) EXECABORT"},
	{"FLUSHALL does not disturb WATCH", "SET k v; WATCH k; 2:FLUSHALL; MULTI; SET k w; EXEC", "[OK]", "(nil)"},
	{"a key that is watched again is as if unchanged", "SET k v; WATCH k; SET k w; WATCH k; MULTI; GET k; EXEC", `["w"]`, "(nil)"},
	{"UNWATCH within a transaction acts at once", "SET k v; WATCH k; SET k w; MULTI; UNWATCH; EXEC", "[OK]", "(nil)"},
	{"TTL is rounded down, not to the nearest second", "SET k v PX 1999; TTL k", "(integer) 1", "(integer) 2"},
	{"NX and XX together are accepted", "SET k v NX XX", "(nil)", "(error) ERR"},
	{"KEEPTTL and a time together are accepted", "SET k v PX 10 KEEPTTL", "OK", "(error) ERR"},
	{"a time that overflows is accepted", "SET k v PX 9223372036854775807", "OK", "(error) ERR"},
	{"a deadline in the past is left behind for the next value", "SET k v PXAT 1; SET k w; PTTL k", "(integer) -999999999", "(integer) -1"},
	{"WAIT within a transaction is not queued", "MULTI; WAIT 0 0", "(integer) 0", "QUEUED"},
	{"an error within a script loses its code", "SET k v; EVAL return_redis.call('hget','k','f') 0", "(error) ERR", "(error) WRONGTYPE"},
}

func TestKnownDifferencesFromMiniredis(t *testing.T) {
	w := startWireServer(t, 2)
	for _, known := range knownDifferences {
		t.Run(known.reason, func(t *testing.T) {
			w.begin(t, start)
			s := NewStore()
			peers := []*Peer{s.NewPeer(), s.NewPeer()}
			var mini, ours Reply
			for _, line := range strings.Split(known.lines, "; ") {
				line, second := strings.CutPrefix(line, "2:")
				i := map[bool]int{true: 1}[second]
				args := strings.Fields(line)
				for a := range args {
					args[a] = strings.ReplaceAll(args[a], "return_", "return ")
				}
				mini = w.conns[i].Do(t, args...)
				var err error
				ours, err = ParseReply(s.Execute(start, peers[i], args))
				require.NoError(t, err)
			}
			require.Equal(t, known.miniredis, comparableReply(mini), "miniredis")
			require.Equal(t, known.ours, comparableReply(ours), "ours")
		})
	}
}
