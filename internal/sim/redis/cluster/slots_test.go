package cluster_test

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/redis/cluster"
	"github.com/locksim/locksim/sim"
)

// The slots are those of redis-cli's CLUSTER KEYSLOT, with Redis 7.0.15.
func TestSlotsOfKeys(t *testing.T) {
	for key, slot := range map[string]int{
		"lock": 8718, "{}lock": 6348, "a{b}c{d}": 3300, "b": 3300, "{b": 6215, "": 0, "a{}b{c}": 7353, "{b}}": 3300, "a": 15495,
	} {
		require.Equal(t, slot, cluster.Slot(key), "%q", key)
	}
}

// questions are what clients ask the first of three nodes, and what they may ask by mistake. "lock" is a key of the second
// node, "b" of the first. Lines that are joined are sent on one connection.
var questions = []string{
	"PING", "HELLO 3", "GET lock", "GET b", "SET lock x NX PX 1000", "SET b x", "MGET a b", "MGET {b}1 {b}2", "DEL lock b",
	"EVAL return(1) 0", "EVAL return(1) 1 lock", "EVAL return(1) 1 b", "EVAL return(1) 2 lock b", "EVALSHA abc 1 lock", "EVALSHA abc 1 b",
	"SCRIPT EXISTS abc", "SUBSCRIBE channel", "PUBLISH lock text", "CLIENT GETNAME", "WAIT 0 1", "TIME",
	"CLUSTER SLOTS", "CLUSTER SLOTS x", "CLUSTER KEYSLOT lock", "CLUSTER KEYSLOT", "CLUSTER FOO", "CLUSTER",
	"MULTI; SET b y; EXEC", "MULTI; SET lock y; EXEC", "MULTI; SET b y; SET lock y; EXEC", "MULTI; EXEC", "MULTI; SET lock y; DISCARD",
	"WATCH lock", "WATCH b; UNWATCH", "SET", "SET lock", "FOO lock", "BLPOP lock 1",
}

// TestNodesAnswerAsRealOnesDo asks a simulated and a real node the same.
func TestNodesAnswerAsRealOnesDo(t *testing.T) {
	t.Parallel()
	nodes := startRealCluster(t)
	ours := simulatedAnswers(t)
	for i, line := range questions {
		require.Equal(t, askReal(t, nodes, line), ours[i], line)
	}
}

// TestTheFirstShardIsThatOfTheKey puts a key of the second part of the slots on the first node.
func TestTheFirstShardIsThatOfTheKey(t *testing.T) {
	w := deployWith(t, 1, cluster.Config{NodeTimeout: 5 * s, Key: "lock"})
	var slots, here, there string
	w.client("a", 1, func(c *client) {
		slots, here, there = c.do("CLUSTER", "SLOTS"), c.do("SET", "lock", "x"), c.do("SET", "b", "x")
	})
	w.play()
	require.Equal(t, "OK", here)
	require.Equal(t, "(error) MOVED 3300 redis-3:6379", there)
	require.Regexp(t, `^\[\[\(integer\) 0, \(integer\) 5460, \["redis-3", .* 5461, \(integer\) 10921, \["redis-1", .* 10922, .* \["redis-2",`, slots)
}

func TestTheComparisonWithARealClusterSeesWhatIsWrong(t *testing.T) {
	ours := simulatedAnswers(t)
	for _, c := range []struct{ line, right, wrong string }{
		{"GET lock", "MOVED 8718 redis-2:6379", "MOVED 0 redis-2:6379"},
		{"MGET a b", "CROSSSLOT", "MOVED"},
		{"MULTI; SET lock y; EXEC", "EXECABORT", "MOVED"},
		{"CLUSTER SLOTS", ", array []", ""},
		{"HELLO 3", `"cluster"`, `"standalone"`},
	} {
		said := ours[slices.Index(questions, c.line)]
		require.Contains(t, said, c.right, c.line)
		require.NotEqual(t, said, strings.Replace(said, c.right, c.wrong, 1), c.line)
	}
}

// startRealCluster starts three masters, which have the parts of the slots that the simulated ones have.
func startRealCluster(t *testing.T) []*real.Redis {
	t.Helper()
	host, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { _ = host.Close() })
	var nodes []*real.Redis
	bounds := [][2]string{{"0", "5460"}, {"5461", "10921"}, {"10922", "16383"}}
	for i, part := range bounds {
		n, err := host.Redis(real.RedisConfig{Name: fmt.Sprintf("node-%d", i+1), Options: []string{
			"--cluster-enabled", "yes", "--cluster-config-file", fmt.Sprintf("nodes-%d.conf", i+1), "--cluster-node-timeout", "5000",
		}})
		if missing := (*real.Missing)(nil); errors.As(err, &missing) {
			t.Skip(err)
		}
		require.NoError(t, err)
		ask(t, n, "CLUSTER", "ADDSLOTSRANGE", part[0], part[1])
		ask(t, n, "CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1))
		nodes = append(nodes, n)
	}
	for _, n := range nodes[1:] {
		address, port, err := net.SplitHostPort(n.Address)
		require.NoError(t, err)
		ask(t, nodes[0], "CLUSTER", "MEET", address, port)
	}
	for _, n := range nodes {
		require.NoError(t, n.Await(func() bool {
			text, err := exchange(n.Address, "CLUSTER INFO")
			return err == nil && strings.Contains(string(text), "cluster_state:ok") && strings.Contains(string(text), "cluster_size:3")
		}))
	}
	return nodes
}

func ask(t *testing.T, n *real.Redis, command ...string) {
	t.Helper()
	_, err := n.Ask(command...)
	require.NoError(t, err)
}

// askReal asks the first node, and gives the nodes the names that the simulated ones have.
func askReal(t *testing.T, nodes []*real.Redis, line string) string {
	t.Helper()
	raw, err := exchange(nodes[0].Address, line)
	require.NoError(t, err, "%s\n%q", line, raw)
	var pairs []string
	for i, n := range nodes {
		address, port, err := net.SplitHostPort(n.Address)
		require.NoError(t, err)
		pairs = append(pairs, n.Address, fmt.Sprintf("redis-%d:6379", i+1))
		pairs = append(pairs, fmt.Sprintf("%q, (integer) %s", address, port), fmt.Sprintf("\"redis-%d\", (integer) 6379", i+1))
	}
	return comparable(strings.NewReplacer(pairs...).Replace(typed(raw)))
}

// exchange sends commands on a connection of their own and reads a reply to each.
func exchange(address, line string) (raw []byte, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	commands := strings.Split(line, "; ")
	if _, err = fmt.Fprintf(conn, "%s\r\n", strings.Join(commands, "\r\n")); err != nil {
		return nil, err
	}
	if err = conn.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return nil, err
	}
	for len(split(raw)) < len(commands) {
		var some [4096]byte
		n, err := conn.Read(some[:])
		if raw = append(raw, some[:n]...); err != nil {
			return raw, err
		}
	}
	return raw, nil
}

// split cuts bytes into whole replies.
func split(raw []byte) (all []redis.Reply) {
	for from, to := 0, 1; to <= len(raw); to++ {
		if r, err := redis.ParseReply(raw[from:to]); err == nil {
			all, from = append(all, r), to
		}
	}
	return all
}

// typed is replies as text, with the types of those that consist of others.
func typed(raw []byte) string {
	var texts []string
	for _, r := range split(raw) {
		texts = append(texts, typedReply(r))
	}
	return strings.Join(texts, " | ")
}

func typedReply(r redis.Reply) string {
	if !slices.Contains([]redis.ReplyType{redis.ReplyArray, redis.ReplyMap, redis.ReplyPush}, r.Type) {
		return r.String()
	}
	var elems []string
	for _, e := range r.Elems {
		elems = append(elems, typedReply(e))
	}
	kind := map[redis.ReplyType]string{redis.ReplyArray: "array", redis.ReplyMap: "map", redis.ReplyPush: "push"}[r.Type]
	return kind + " [" + strings.Join(elems, ", ") + "]"
}

// Each side has its own ids of nodes and connections, and its own time.
var (
	ids    = regexp.MustCompile(`"[0-9a-f]{40}"|\(integer\) 6379, "redis-\d"`)
	number = regexp.MustCompile(`"id", \(integer\) \d+|^array \["\d+", "\d+"\]$`)
)

// comparable leaves out what each side has of its own.
func comparable(text string) string {
	text = ids.ReplaceAllStringFunc(text, func(id string) string {
		if strings.HasPrefix(id, "(") {
			return "(integer) 6379, id"
		}
		return "id"
	})
	return number.ReplaceAllString(text, "*")
}

func simulatedAnswers(t *testing.T) []string {
	t.Helper()
	all := make([]string, len(questions))
	w := deployWith(t, 1, cluster.Config{NodeTimeout: 5 * s, Key: "b"})
	for i, line := range questions {
		w.AddClient(fmt.Sprintf("client-%d", i), func(task *sim.Task) {
			task.Sleep(time.Duration(i) * 100 * ms)
			c := &bytesOf{}
			conn, err := task.Dial(w.nodes[0].Server.Node(), c, s)
			require.NoError(t, err)
			for _, command := range strings.Split(line, "; ") {
				require.NoError(t, conn.Send(task, redis.NewRequest(strings.Fields(command), "")))
			}
			task.Sleep(s)
			all[i] = comparable(typed(c.raw))
		})
	}
	w.play()
	return all
}

// bytesOf is what a client reads.
type bytesOf struct{ raw []byte }

func (c *bytesOf) Deliver(p sim.Payload) { c.raw = p.(*redis.Response).Append(c.raw) }
func (c *bytesOf) Closed()               {}

// TestNodesTellWhatIsKnownOfTheCluster reads what client libraries read besides the slots.
func TestNodesTellWhatIsKnownOfTheCluster(t *testing.T) {
	w := deploy(t, 1, 1, 20*s, 5*s)
	var before, state, after, info string
	w.at(2*s, pause("redis-2"))
	w.client("a", 1, func(c *client) {
		before, state, info = c.do("CLUSTER", "NODES"), c.do("CLUSTER", "INFO"), c.do("INFO")
		c.task.Sleep(15 * s)
		after = c.do("CLUSTER", "NODES")
	})
	w.play()
	require.Contains(t, before, "redis-1 redis-1:6379@16379 myself,master - 0 0 1 connected 0-5460")
	require.Contains(t, before, "redis-5 redis-5:6379@16379 slave redis-2 0 0 2 connected")
	require.Contains(t, state, "cluster_state:ok")
	require.Contains(t, info, "cluster_enabled:1")
	require.Contains(t, after, "redis-2 redis-2:6379@16379 master,fail - ")
	require.Regexp(t, `redis-5 redis-5:6379@16379 master - 0 0 \d+ connected 5461-10921`, after)
}
