package wire_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

// caller is a client with one connection.
type caller struct {
	etcd *bench
	task *sim.Task
	conn *sim.Conn
	talk wire.Conversation
	told []string // each message, after the moment at which it came
}

func (c *caller) Deliver(p sim.Payload) {
	if text := c.talk.Append(nil, p); len(text) > 0 {
		c.hear(text)
	}
}

func (*caller) Closed() {}

func (c *caller) hear(text []byte) {
	head, body, whole := strings.Cut(string(text), "\r\n\r\n")
	if !whole {
		body = string(text)
	}
	if !whole || strings.Contains(head, "Transfer-Encoding: chunked") {
		length, chunk, _ := strings.Cut(body, "\r\n")
		body = strings.TrimSuffix(chunk, "\r\n")
		require.Equal(c.etcd.t, fmt.Sprintf("%x", len(body)), length)
	}
	body = strings.ReplaceAll(strings.TrimSpace(body), `"cluster_id":"14841639068965178418","member_id":"10276657743932975437",`, "")
	c.told = append(c.told, fmt.Sprintf("%dms %s", time.Duration(c.etcd.Now()).Milliseconds(), body))
}

// caller adds a client of etcd, which begins after a while.
func (d *bench) caller(name string, after time.Duration, main func(*caller)) {
	d.AddClient(name, func(task *sim.Task) {
		task.Sleep(after)
		c := &caller{etcd: d, task: task, talk: wire.Etcd()}
		conn, err := task.Dial(d.server.Node(), c, time.Second)
		require.NoError(d.t, err)
		c.conn = conn
		main(c)
	})
}

// post sends a request.
func (c *caller) post(path, body string) {
	if !c.talk.Receive([]byte(asked("POST", "/v3/"+path, body)), func(p sim.Payload) error { return c.conn.Send(c.task, p) }) {
		c.hear(c.talk.Farewell())
		c.talk = wire.Etcd()
	}
}

// TestAWatchTellsOfEveryEvent is of keys from a on. What is asked for behind it on its connection is not answered, since it has no end.
func TestAWatchTellsOfEveryEvent(t *testing.T) {
	e := newBench(t, lease.Etcd())
	e.caller("a", 0, func(c *caller) {
		c.post("kv/put", `{"key":"YQ=="}`)
		c.task.Sleep(8 * time.Millisecond)
		c.post("watch", `{"create_request":{"key":"YQ==","range_end":"AA==","start_revision":2}}`)
		c.post("kv/range", `{"key":"YQ=="}`)
		c.task.Sleep(time.Second)
		require.Equal(t, []string{
			`4ms {"header":{"revision":"2","raft_term":"2"}}`,
			`12ms {"result":{"header":{"revision":"2","raft_term":"2"},"created":true}}`,
			`12ms {"result":{"header":{"revision":"2","raft_term":"2"},"events":[{"kv":{"key":"YQ==","create_revision":"2","mod_revision":"2","version":"1"}}]}}`,
			`104ms {"result":{"header":{"revision":"3","raft_term":"2"},"events":[{"kv":{"key":"Yg==","create_revision":"3","mod_revision":"3","version":"1"}}]}}`,
			`105ms {"result":{"header":{"revision":"4","raft_term":"2"},"events":[{"type":"DELETE","kv":{"key":"YQ==","mod_revision":"4"}},` +
				`{"type":"DELETE","kv":{"key":"Yg==","mod_revision":"4"}}]}}`,
		}, c.told)
	})
	e.caller("b", 100*time.Millisecond, func(c *caller) {
		c.post("kv/put", `{"key":"Yg=="}`)
		c.task.Sleep(time.Millisecond)
		c.post("kv/deleterange", `{"key":"YQ==","range_end":"AA=="}`)
		c.task.Sleep(time.Second)
	})
	e.play()
}

// TestAClientThatHangsUpLeavesTheQueueForALock has the one behind it be next.
func TestAClientThatHangsUpLeavesTheQueueForALock(t *testing.T) {
	e := newBench(t, lease.Etcd())
	for i, leaves := range []time.Duration{time.Second, 100 * time.Millisecond, 0} {
		e.caller(string("abc"[i]), time.Duration(i)*10*time.Millisecond, func(c *caller) {
			c.post("lease/grant", fmt.Sprintf(`{"ID":%d,"TTL":60}`, i+10))
			c.task.Sleep(2 * time.Millisecond)
			c.post("lock/lock", fmt.Sprintf(`{"name":"bQ==","lease":%d}`, i+10))
			c.task.Sleep(leaves)
			switch i {
			case 0:
				c.post("lock/unlock", `{"key":"bS9h"}`)
				c.task.Sleep(time.Second)
			case 1:
				c.conn.Close()
			default:
				c.task.Sleep(3 * time.Second)
				require.Len(t, c.told, 2)
				require.Regexp(t, `^100[0-9]ms .*"key":"bS9j"`, c.told[1])
			}
		})
	}
	e.play()
}

// TestWhatTheSimulatedEtcdLacksIsRefused says what that is.
func TestWhatTheSimulatedEtcdLacksIsRefused(t *testing.T) {
	for _, x := range []struct{ path, body, lacks string }{
		{"kv/txn", `{"success":[{"request_txn":{}}]}`, "transactions in transactions"},
		{"lease/keepalive", `{"ID":5}{"ID":6}`, "streams of several requests"},
		{"watch", `{"cancel_request":{}}`, "requests for watches but their creation"},
		{"watch", `{"create_request":{"key":"YQ==","progress_notify":true}}`, "watches with progress"},
		{"kv/range", `{"key":"YQ==","sort_target":9}`, "sort target of that number"},
		{"election/campaign", `{}`, "election/campaign"},
	} {
		talk := wire.Etcd()
		require.False(t, talk.Receive([]byte(asked("POST", "/v3/"+x.path, x.body)), nil), x.body)
		require.Contains(t, string(talk.Farewell()), "501 Not Implemented", x.body)
		require.Contains(t, string(talk.Farewell()), "the simulated etcd has no "+x.lacks, x.body)
	}
}
