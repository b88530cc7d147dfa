package sentinel_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/redis/sentinel"
	"github.com/locksim/locksim/sim"
)

// questions are what clients of libraries ask Sentinels, and what they may ask by mistake, each on a new connection. A line
// that begins with 3 is asked in RESP3.
var questions = []string{
	"PING", "3 PING", "PING a", "HELLO 2", "HELLO 3", "HELLO 4", "3 HELLO 3 SETNAME me",
	"CLIENT SETINFO LIB-NAME x", "CLIENT SETNAME x", "CLIENT GETNAME", "CLIENT TRACKING ON", "CLIENT NO-EVICT on", "AUTH x",
	"SENTINEL get-master-addr-by-name mymaster", "3 SENTINEL get-master-addr-by-name mymaster",
	"SENTINEL get-master-addr-by-name other", "3 SENTINEL get-master-addr-by-name other", "SENTINEL get-master-addr-by-name",
	"sentinel GET-MASTER-ADDR-BY-NAME mymaster",
	"SENTINEL sentinels mymaster", "3 SENTINEL sentinels mymaster", "SENTINEL sentinels other",
	"SENTINEL replicas mymaster", "3 SENTINEL replicas mymaster", "SENTINEL slaves mymaster", "SENTINEL replicas other",
	"SENTINEL master mymaster", "3 SENTINEL master mymaster", "SENTINEL master other", "SENTINEL masters", "3 SENTINEL masters",
	"SENTINEL ckquorum mymaster", "SENTINEL ckquorum other", "SENTINEL foo", "SENTINEL", "SENTINEL masters x",
	"ROLE", "INFO sentinel", "GET x", "SET x y", "CLUSTER SLOTS", "MULTI", "SELECT 0", "RESET", "QUIT", "TIME",
	"PUBLISH channel text", "PUBLISH __sentinel__:hello text", "PUBLISH channel",
	"SUBSCRIBE +switch-master", "3 SUBSCRIBE +switch-master", "SUBSCRIBE +sentinel +slave -sdown +sdown +switch-master +reboot",
	"3 SUBSCRIBE +sentinel +slave -sdown +sdown +switch-master +reboot", "3 UNSUBSCRIBE +slave -sdown", "UNSUBSCRIBE", "SUBSCRIBE",
	"PSUBSCRIBE *",
}

// TestSentinelsAnswerAsRealOnesDo asks a simulated and a real Sentinel the same.
func TestSentinelsAnswerAsRealOnesDo(t *testing.T) {
	t.Parallel()
	d := startRealDeployment(t)
	theirs := d.answers(t)
	ours := simulatedAnswers(t)
	for i, line := range questions {
		require.Equal(t, theirs[i], ours[i], line)
	}
}

// TestTheComparisonWithARealSentinelSeesWhatIsWrong spoils answers of the simulated Sentinel.
func TestTheComparisonWithARealSentinelSeesWhatIsWrong(t *testing.T) {
	ours := simulatedAnswers(t)
	for name, c := range map[string]struct{ line, right, wrong string }{
		"another flag":        {"SENTINEL replicas mymaster", `"slave"`, `"replica"`},
		"a field too few":     {"SENTINEL sentinels mymaster", `"voted-leader-epoch", "0"`, ``},
		"an array, not a map": {"3 SENTINEL master mymaster", "map", "array"},
		"no role in HELLO":    {"HELLO 3", `"sentinel"`, `"sentinel", "role", "master"`},
		"one reply for two":   {"3 UNSUBSCRIBE +slave -sdown", " | push", ","},
		"another error":       {"RESET", "ERR unknown command 'RESET'", "RESET"},
	} {
		said := ours[slices.Index(questions, c.line)]
		require.Contains(t, said, c.right, name)
		require.NotEqual(t, said, strings.Replace(said, c.right, c.wrong, 1), name)
	}
}

// realDeployment is a master and a replica, which two Sentinels watch.
type realDeployment struct {
	master, replica *realRedis
	sentinels       []*realRedis
}

func startRealDeployment(t *testing.T) *realDeployment {
	t.Helper()
	d := &realDeployment{master: startReal(t, "", "save \"\"\nrepl-diskless-sync-delay 0")}
	d.replica = startReal(t, "", fmt.Sprintf("save \"\"\nreplicaof 127.0.0.1 %d", d.master.port))
	require.Eventually(t, func() bool { return d.master.ask("WAIT 1 100") == ":1" }, 5*time.Second, 10*time.Millisecond)
	for range 2 {
		d.sentinels = append(d.sentinels, startReal(t, "--sentinel", fmt.Sprintf("sentinel monitor mymaster 127.0.0.1 %d 2\n"+
			"sentinel down-after-milliseconds mymaster 2000\nsentinel failover-timeout mymaster 6000", d.master.port)))
	}
	require.Eventually(t, func() bool {
		return strings.HasPrefix(d.sentinels[0].ask("SENTINEL ckquorum mymaster"), "OK 2") && d.settled()
	}, 20*time.Second, 50*time.Millisecond, "the Sentinels do not find each other")
	return d
}

// settled reports whether the first Sentinel has found the replica and the other Sentinel, and is connected to both.
func (d *realDeployment) settled() bool {
	for question, sign := range map[string]string{
		"SENTINEL replicas mymaster": "master-link-status\r\n$2\r\nok", "SENTINEL sentinels mymaster": "voted-leader",
	} {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", d.sentinels[0].port))
		if err != nil {
			return false
		}
		text, err := exchange(conn, question, 1)
		_ = conn.Close()
		if err != nil || !strings.Contains(string(text), sign) || strings.Contains(string(text), "disconnected") {
			return false
		}
	}
	return true
}

// plain gives both sides' addresses the same names.
func (d *realDeployment) plain(text string) string {
	var pairs []string
	for i, r := range []*realRedis{d.master, d.replica} {
		pairs = append(pairs, fmt.Sprintf("127.0.0.1 %d", r.port), fmt.Sprintf("redis-%d 6379", i+1))
		pairs = append(pairs, fmt.Sprintf("127.0.0.1:%d", r.port), fmt.Sprintf("redis-%d:6379", i+1))
		pairs = append(pairs, fmt.Sprintf("\"127.0.0.1\", \"%d\"", r.port), fmt.Sprintf("\"redis-%d\", \"6379\"", i+1))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func (d *realDeployment) answers(t *testing.T) (all []string) {
	t.Helper()
	for _, line := range questions {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", d.sentinels[0].port))
		require.NoError(t, err)
		words, three := strings.CutPrefix(line, "3 ")
		if three {
			_, err = exchange(conn, "HELLO 3", 1)
			require.NoError(t, err)
		}
		raw, err := exchange(conn, words, replies(words))
		require.NoError(t, err, "%s\n%q", line, raw)
		require.NoError(t, conn.Close())
		all = append(all, d.plain(comparable(t, raw)))
	}
	return all
}

// replies is how many replies a command has.
func replies(line string) int {
	if words := strings.Fields(line); strings.HasSuffix(words[0], "SUBSCRIBE") {
		return max(len(words)-1, 1)
	}
	return 1
}

// exchange sends a line and reads that many replies.
func exchange(conn net.Conn, line string, n int) (raw []byte, err error) {
	if _, err = fmt.Fprintf(conn, "%s\r\n", line); err != nil {
		return nil, err
	}
	if err = conn.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return nil, err
	}
	for len(split(raw)) < n {
		var some [4096]byte
		got, err := conn.Read(some[:])
		if raw = append(raw, some[:got]...); err != nil {
			return raw, errors.Join(err, errors.New("no whole answer"))
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

// comparable is what there is to compare of replies: all but times, numbers and names that each side has of its own.
func comparable(t *testing.T, raw []byte) string {
	t.Helper()
	var texts []string
	for _, r := range split(raw) {
		texts = append(texts, leveled(r))
	}
	return strings.Join(texts, " | ")
}

// own are the fields whose values each side has of its own.
var own = map[string]bool{
	"id": true, "runid": true, "link-pending-commands": true, "last-ping-sent": true, "last-ok-ping-reply": true,
	"ip": true, "port": true, "master-host": true, "master-port": true,
	"last-ping-reply": true, "info-refresh": true, "role-reported-time": true, "slave-repl-offset": true, "last-hello-message": true,
}

func leveled(r redis.Reply) string {
	types := map[redis.ReplyType]string{
		redis.ReplyArray: "array", redis.ReplyMap: "map", redis.ReplyPush: "push", redis.ReplyNil: "nil", redis.ReplyNilArray: "no array",
		redis.ReplyStatus: "status", redis.ReplyBulk: "bulk", redis.ReplyVerbatim: "verbatim",
	}
	if r.Elems == nil {
		return strings.TrimSpace(types[r.Type] + " " + r.String())
	}
	var elems []string
	sentinel := slices.ContainsFunc(r.Elems, func(e redis.Reply) bool { return e.Text == "voted-leader" })
	for i, e := range r.Elems {
		switch {
		case i%2 == 1 && (own[r.Elems[i-1].Text] || sentinel && r.Elems[i-1].Text == "name"):
			elems = append(elems, "*")
		case len(e.Elems) > 0:
			elems = append(elems, leveled(e))
		default:
			elems = append(elems, e.String())
		}
	}
	return types[r.Type] + " [" + strings.Join(elems, ", ") + "]"
}

func simulatedAnswers(t *testing.T) []string {
	t.Helper()
	all := make([]string, len(questions))
	d := deploy(t, 1, 1, 40*s, sentinel.Config{Sentinels: 2, Quorum: 2})
	for i, line := range questions {
		d.AddClient(fmt.Sprintf("client-%d", i), func(task *sim.Task) {
			task.Sleep(20 * s) // of whose INFOs all have come
			words, three := strings.CutPrefix(line, "3 ")
			c := &bytesOf{}
			conn, err := task.Dial(d.sentinels[0].Node(), c, s)
			require.NoError(t, err)
			if three {
				require.NoError(t, conn.Send(task, redis.NewRequest([]string{"HELLO", "3"}, "")))
				task.Sleep(s)
				c.raw = nil
			}
			require.NoError(t, conn.Send(task, redis.NewRequest(strings.Fields(words), "")))
			task.Sleep(s)
			all[i] = comparable(t, c.raw)
		})
	}
	d.play()
	return all
}

// bytesOf is what a client reads.
type bytesOf struct{ raw []byte }

func (c *bytesOf) Deliver(p sim.Payload) {
	switch p := p.(type) {
	case *redis.Response:
		c.raw = p.Append(c.raw)
	case *redis.Message:
		c.raw = p.Append(c.raw)
	}
}

func (c *bytesOf) Closed() {}

// TestSentinelsTellOfAFailoverAsRealOnesDo subscribes to what the clients of libraries do, and stops the master.
func TestSentinelsTellOfAFailoverAsRealOnesDo(t *testing.T) {
	long.Only(t)
	const listen = "SUBSCRIBE +sentinel +slave -sdown +sdown +switch-master +reboot"
	real := startRealDeployment(t)
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", real.sentinels[0].port))
	require.NoError(t, err)
	defer conn.Close()
	raw, err := exchange(conn, listen, 6)
	require.NoError(t, err)
	require.NoError(t, real.master.process.Kill())
	for len(split(raw)) < 6+4 {
		var some [4096]byte
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		n, err := conn.Read(some[:])
		require.NoError(t, err, "%q", raw)
		raw = append(raw, some[:n]...)
	}

	d := deploy(t, 1, 1, 30*s, sentinel.Config{Sentinels: 2, Quorum: 2})
	d.at(5*s, sim.Action{Kind: sim.Crash, Node: "redis-1"})
	c := &bytesOf{}
	d.AddClient("client", func(task *sim.Task) {
		conn, err := task.Dial(d.sentinels[0].Node(), c, s)
		require.NoError(t, err)
		require.NoError(t, conn.Send(task, redis.NewRequest(strings.Fields(listen), "")))
		task.Sleep(29 * s)
	})
	d.play()
	require.Equal(t, real.plain(comparable(t, raw)), comparable(t, c.raw))
}
