package wire_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

// bench is a simulated Consul or etcd, and what clients do there.
type bench struct {
	*sim.Engine
	t      *testing.T
	server *lease.Server
}

func newBench(t *testing.T, d lease.Dialect) *bench {
	e := sim.New(sim.Config{Seed: 1, Until: 3600 * 1_000_000_000, Latency: sim.Constant(time.Millisecond)}, nil)
	return &bench{Engine: e, t: t, server: lease.New(e, lease.Config{Dialect: d})}
}

// browser is a client with one connection, on which it speaks HTTP.
type browser struct {
	*bench
	task *sim.Task
	conn *sim.Conn
	talk wire.Conversation
	news sim.Signal
	got  []byte
}

func (b *browser) Deliver(p sim.Payload) {
	b.got = b.talk.Append(b.got, p)
	b.news.Fire()
}

func (*browser) Closed() {}

// client adds a client, which has a connection.
func (d *bench) client(name string, main func(*browser)) {
	d.AddClient(name, func(task *sim.Task) {
		b := &browser{bench: d, task: task, talk: wire.Consul()}
		conn, err := task.Dial(d.server.Node(), b, time.Second)
		require.NoError(d.t, err)
		b.conn = conn
		main(b)
	})
}

func (d *bench) play() {
	d.t.Helper()
	if ending := d.Run(); ending.Panic != nil {
		d.t.Fatalf("%v\n%s", ending.Panic, ending.Panic.Stack)
	}
}

func (b *browser) until(moment time.Duration) { b.task.Sleep(moment - time.Duration(b.Now())) }

// answer is what a client was told, and when.
type answer struct {
	*http.Response
	body string
	at   time.Duration
}

// ask sends a request, and waits for its answer.
func (b *browser) ask(method, path, body string) answer {
	b.got, b.news = nil, sim.Signal{}
	send := func(p sim.Payload) error { return b.conn.Send(b.task, p) }
	if !b.talk.Receive([]byte(asked(method, "/v1/"+path, body)), send) {
		b.got = b.talk.Farewell()
		b.talk = wire.Consul()
	} else {
		b.task.Wait(time.Hour, &b.news)
	}
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(b.got)), nil)
	require.NoError(b.t, err, "%s %s", method, path)
	text, err := io.ReadAll(r.Body)
	require.NoError(b.t, err)
	require.NoError(b.t, r.Body.Close())
	return answer{r, string(text), time.Duration(b.Now())}
}

// must is a request that is answered as expected.
func (b *browser) must(status int, says, method, path, body string) answer {
	b.t.Helper()
	a := b.ask(method, path, body)
	require.Equal(b.t, status, a.StatusCode, "%s %s: %s", method, path, a.body)
	require.Equal(b.t, says, a.body, "%s %s", method, path)
	return a
}

// session makes a session, and returns its identifier.
func (b *browser) session(more string) string {
	b.t.Helper()
	a := b.ask("PUT", "session/create", `{"Name":"Consul API Lock","TTL":"10s"`+more+`}`)
	require.Equal(b.t, http.StatusOK, a.StatusCode, a.body)
	require.Regexp(b.t, `^{"ID":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"}$`, a.body)
	return strings.Split(a.body, `"`)[3]
}

// TestConsulAnswersAsAnAgentDoes is a conversation. The answers are those of agent/kvs_endpoint.go and agent/session_endpoint.go of
// Consul's source, and what its state store does (agent/consul/state/kvs.go): the flags and the value of a key are those of its last
// acquisition or release, LockIndex counts the changes of holder, and a write that changes nothing has no new index.
func TestConsulAnswersAsAnAgentDoes(t *testing.T) {
	d := newBench(t, lease.Consul())
	pair := func(lockIndex int, flags, value, session string, modified int) string {
		if session != "" {
			session = `"Session":"` + session + `",`
		}
		return fmt.Sprintf(`[{"LockIndex":%d,"Key":"jobs/lock","Flags":%s,"Value":%s,%s"CreateIndex":1,"ModifyIndex":%d}]`,
			lockIndex, flags, value, session, modified)
	}
	const flags = "3304740253564472344" // api.LockFlagValue
	d.client("a", func(b *browser) {
		empty := b.must(404, "", "GET", "kv/jobs/lock", "")
		require.Equal(t, "1", empty.Header.Get("X-Consul-Index"))
		require.Equal(t, "true", empty.Header.Get("X-Consul-KnownLeader"))
		require.Equal(t, "0", empty.Header.Get("X-Consul-LastContact"))
		mine, other := b.session(""), b.session(`,"Behavior":"release"`)
		b.must(200, "true", "PUT", "kv/jobs/lock?acquire="+mine+"&flags="+flags, "")
		held := b.must(200, pair(1, flags, "null", mine, 1), "GET", "kv/jobs/lock?consistent=", "")
		require.Equal(t, "1", held.Header.Get("X-Consul-Index"))
		require.Equal(t, "application/json", held.Header.Get("Content-Type"))
		b.must(200, "false", "PUT", "kv/jobs/lock?acquire="+other+"&flags=1", "theirs")
		b.must(200, "true", "PUT", "kv/jobs/lock?acquire="+mine+"&flags="+flags, "")
		b.must(200, pair(1, flags, "null", mine, 1), "GET", "kv/jobs/lock", "")
		b.must(200, "true", "PUT", "kv/jobs/lock?acquire="+mine+"&flags="+flags, "me")
		b.must(200, pair(1, flags, `"bWU="`, mine, 2), "GET", "kv/jobs/lock", "")
		b.must(200, "false", "PUT", "kv/jobs/lock?release="+other, "")
		b.must(200, "true", "PUT", "kv/jobs/lock?release="+mine+"&flags=7", "left")
		b.must(200, pair(1, "7", `"bGVmdA=="`, "", 3), "GET", "kv/jobs/lock", "")
		b.must(200, "false", "PUT", "kv/jobs/lock?release="+mine, "")
		b.must(200, "true", "PUT", "kv/jobs/lock?acquire="+other, "")
		b.must(200, pair(2, "0", "null", other, 4), "GET", "kv/jobs/lock", "")
		b.must(200, `[{"ID":"`+mine+`","TTL":"10s"}]`, "PUT", "session/renew/"+mine, "")
		b.must(200, "true", "PUT", "session/destroy/"+mine, "")
		b.must(200, "true", "PUT", "session/destroy/"+mine, "")
		b.must(404, "Session id '"+mine+"' not found", "PUT", "session/renew/"+mine, "")
		b.must(500, `raft apply failed: invalid session "`+mine+`"`, "PUT", "kv/jobs/other?acquire="+mine, "")
	})
	d.play()
}

// TestBlockingQueriesAreHeldUntilTheKeyHasChanged: they are answered at the change, or when their time is over, which is up to a
// sixteenth longer than they ask for; five minutes if they do not say.
func TestBlockingQueriesAreHeldUntilTheKeyHasChanged(t *testing.T) {
	const second = time.Second
	d := newBench(t, lease.Consul())
	d.client("a", func(b *browser) {
		mine := b.session("")
		b.must(200, "true", "PUT", "kv/lock?acquire="+mine, "")
		b.until(5 * second)
		b.must(200, "true", "PUT", "kv/lock?release="+mine, "")
	})
	d.client("b", func(b *browser) {
		b.until(1 * second)
		before := b.ask("GET", "kv/lock?wait=15s&index=0", "")
		require.Less(t, before.at, 2*second, "without an index it does not wait")
		index := before.Header.Get("X-Consul-Index")
		after := b.ask("GET", "kv/lock?wait=15s&index="+index, "")
		require.Contains(t, before.body, `"Session"`)
		require.NotContains(t, after.body, `"Session"`)
		require.InDelta(t, 5*second, after.at, float64(second/10))
		index = after.Header.Get("X-Consul-Index")
		waited := b.ask("GET", "kv/lock?wait=16s&index="+index, "")
		require.GreaterOrEqual(t, waited.at-after.at, 16*second)
		require.Less(t, waited.at-after.at, 17*second+second/10)
		require.Equal(t, index, waited.Header.Get("X-Consul-Index"))
		long := b.ask("GET", "kv/lock?index="+index, "")
		require.GreaterOrEqual(t, long.at-waited.at, 5*time.Minute)
	})
	d.play()
}

// TestTheLockDelayIsWhatTheSessionAsksFor by the end of a session; 15 s unless it says so.
func TestTheLockDelayIsWhatTheSessionAsksFor(t *testing.T) {
	for asks, want := range map[string]time.Duration{
		"": 15 * time.Second, `,"LockDelay":"1ms"`: time.Millisecond, `,"LockDelay":"40000ms"`: 40 * time.Second, `,"LockDelay":7`: 7 * time.Second,
		`,"LockDelay":"0s"`: 0, `,"LockDelay":3000000000`: 3 * time.Second, `,"LockDelay":"2h"`: time.Minute,
	} {
		d := newBench(t, lease.Consul())
		d.client("a", func(b *browser) {
			mine := b.session(asks)
			b.must(200, "true", "PUT", "kv/lock?acquire="+mine, "")
			over := b.must(200, "true", "PUT", "session/destroy/"+mine, "").at
			if want > time.Second { // the session that is over is not looked at before
				b.must(200, "false", "PUT", "kv/lock?acquire="+mine, "")
			}
			other := b.session("")
			for b.ask("PUT", "kv/lock?acquire="+other, "").body == "false" {
				b.task.Sleep(100 * time.Millisecond)
				b.ask("PUT", "session/renew/"+other, "")
			}
			require.InDelta(t, want, time.Duration(b.Now())-over, float64(150*time.Millisecond), asks)
		})
		d.play()
	}
}

// TestRequestsThatConsulRefuses, or that the simulation does not have.
func TestRequestsThatConsulRefuses(t *testing.T) {
	const unknown = "11111111-2222-3333-4444-555555555555"
	d := newBench(t, lease.Consul())
	d.client("a", func(b *browser) {
		for _, c := range []struct {
			status       int
			says         string
			method, path string
			body         string
		}{
			{404, "Invalid URL path: not a recognized HTTP API endpoint", "GET", "agent/self", ""},
			{404, "Invalid URL path: not a recognized HTTP API endpoint", "GET", "session/list", ""},
			{405, "method POST not allowed", "POST", "kv/lock", ""},
			{405, "method GET not allowed", "GET", "session/create", ""},
			{400, "Missing key name", "GET", "kv/", ""},
			{400, "Invalid index", "GET", "kv/lock?index=-1", ""},
			{400, "Invalid wait time", "GET", "kv/lock?wait=soon", ""},
			{400, "Missing session", "PUT", "session/renew/", ""},
			{400, "Conflicting flags: acquire=" + unknown + "&cas=0\n", "PUT", "kv/lock?cas=0&acquire=" + unknown, ""},
			{400, "Conflicting flags: acquire=x&release=y\n", "PUT", "kv/lock?acquire=x&release=y", ""},
			{400, "Request decode failed: invalid character 'T' looking for beginning of value", "PUT", "session/create", "TTL"},
			{400, "Request decode failed: time: invalid duration \"soon\"", "PUT", "session/create", `{"TTL":"10s","LockDelay":"soon"}`},
			{500, "Invalid Session TTL '1000000000', must be between [10s=24h0m0s]", "PUT", "session/create", `{"TTL":"1s"}`},
			{500, "Session TTL 'soon' invalid: time: invalid duration \"soon\"", "PUT", "session/create", `{"TTL":"soon"}`},
			{500, "Invalid Behavior setting 'keep'", "PUT", "session/create", `{"TTL":"10s","Behavior":"keep"}`},
			{500, `strconv.ParseUint: parsing "x": invalid syntax`, "PUT", "kv/lock?acquire=5e551011-0000-4000-8000-000000000001&flags=x", ""},
			{500, "raft apply failed: missing session", "PUT", "kv/lock?acquire=", ""},
			{500, "raft apply failed: missing session", "PUT", "kv/lock?release=", ""},
			{500, `raft apply failed: invalid session "` + unknown + `"`, "PUT", "kv/lock?acquire=" + unknown, ""},
			{404, "Session id '" + unknown + "' not found", "PUT", "session/renew/" + unknown, ""},
			{200, "true", "PUT", "session/destroy/" + unknown, ""},
			{200, "false", "PUT", "kv/lock?release=" + unknown, ""},
			{501, "the simulated Consul has no writes without a session", "PUT", "kv/lock?cas=0", ""},
			{501, "the simulated Consul has no deletions", "DELETE", "kv/lock", ""},
			{501, "the simulated Consul has no reads with recurse", "GET", "kv/lock?recurse=", ""},
			{501, "the simulated Consul has no sessions without a TTL", "PUT", "session/create", ""},
		} {
			b.must(c.status, c.says, c.method, c.path, c.body)
		}
	})
	d.play()
}

// TestErrorsThatFaultsInjectAreConsulsOwn: its client knows them by their status.
func TestErrorsThatFaultsInjectAreConsulsOwn(t *testing.T) {
	talk := wire.Consul()
	var sent sim.Payload
	require.True(t, talk.Receive([]byte(asked("GET", "/v1/kv/lock", "")), func(p sim.Payload) error {
		sent = p
		return nil
	}))
	text := string(talk.Append(nil, lease.ErrorResponse(sent, "No cluster leader")))
	require.Regexp(t, "(?s)^HTTP/1.1 500 Internal Server Error\r\n.*\r\n\r\nNo cluster leader$", text)
}
