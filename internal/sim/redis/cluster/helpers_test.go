package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/redis/cluster"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// world is a cluster of three masters, redis-1 to redis-3, with replicas. It notes when servers change their roles.
type world struct {
	*sim.Engine
	t        testing.TB
	nodes    []*cluster.Node
	promoted []change
	demoted  []change
	refusals []change // what redis-1 began to answer an everlasting client with
}

// change is a change of a server's role, or of an answer.
type change struct {
	what string
	at   time.Duration
}

const masters = 3

func deploy(t testing.TB, seed uint64, replicas int, until, nodeTimeout time.Duration) *world {
	return deployOn(t, sim.Config{Seed: seed, Until: trace.Instant(until)}, masters, replicas, nodeTimeout)
}

func deployOn(t testing.TB, c sim.Config, masters, replicas int, nodeTimeout time.Duration) *world {
	return deployAs(t, c, masters, replicas, cluster.Config{NodeTimeout: nodeTimeout})
}

// deployWith has three masters without replicas.
func deployWith(t testing.TB, seed uint64, c cluster.Config) *world {
	return deployAs(t, sim.Config{Seed: seed, Until: trace.Instant(20 * s)}, masters, 0, c)
}

func deployAs(t testing.TB, c sim.Config, masters, replicas int, configured cluster.Config) *world {
	w := &world{t: t, Engine: sim.New(c, nil)}
	for i := range masters * (1 + replicas) {
		config := redis.Config{Observer: w}
		if i >= masters {
			config.ReplicaOf = w.nodes[(i-masters)/replicas].Server
		}
		n := cluster.New(redis.NewStore(), config, configured)
		n.Server.Attach(w.AddServer(fmt.Sprintf("redis-%d", i+1), n))
		w.nodes = append(w.nodes, n)
	}
	cluster.Meet(w.nodes)
	w.AddClient("idle", func(task *sim.Task) { task.Sleep(sim.Forever - 1) }) // the run goes on until its end
	return w
}

func (w *world) Executed(*redis.Server, *redis.Request, redis.Reply, []redis.Change) {}
func (w *world) Expired(*redis.Server, []redis.Change)                               {}
func (w *world) Crashed(*redis.Server)                                               {}
func (w *world) Restarted(*redis.Server)                                             {}
func (w *world) Applied(*redis.Server, []redis.Change)                               {}
func (w *world) Replaced(*redis.Server, []redis.Record)                              {}

func (w *world) Promoted(server *redis.Server) {
	w.promoted = append(w.promoted, change{server.Node().Name, time.Duration(w.Now())})
}

func (w *world) Demoted(server *redis.Server) {
	w.demoted = append(w.demoted, change{server.Node().Name, time.Duration(w.Now())})
}

// play runs the world to its end.
func (w *world) play() {
	w.t.Helper()
	ending := w.Run()
	require.Nil(w.t, ending.Panic)
	require.Empty(w.t, ending.Bound)
}

func (w *world) at(moment time.Duration, a sim.Action, lasts ...time.Duration) {
	f := sim.Fault{Trigger: sim.Trigger{When: sim.At, At: moment}, Action: a}
	if len(lasts) > 0 {
		f.For = lasts[0]
	}
	w.Inject(f)
}

func cut(from, to []string) sim.Action {
	return sim.Action{Kind: sim.Cut, Link: sim.Link{From: from, To: to}}
}

func pause(node string) sim.Action { return sim.Action{Kind: sim.Pause, Node: node} }

// client sends commands to a node and collects its answers.
type client struct {
	task  *sim.Task
	conn  *sim.Conn
	reply *redis.Response
	ready sim.Signal
}

func (c *client) Deliver(p sim.Payload) {
	c.reply, _ = p.(*redis.Response)
	c.ready.Fire()
}
func (c *client) Closed() { c.ready.Fire() }

func (w *world) client(name string, at int, main func(c *client)) {
	w.AddClient(name, func(task *sim.Task) {
		c := &client{task: task}
		conn, err := task.Dial(w.nodes[at-1].Server.Node(), c, s)
		require.NoError(w.t, err)
		c.conn = conn
		main(c)
	})
}

func (c *client) do(args ...string) string {
	c.reply, c.ready = nil, sim.Signal{}
	if err := c.conn.Send(c.task, redis.NewRequest(args, "")); err != nil {
		return err.Error()
	}
	c.task.Wait(sim.Forever, &c.ready)
	if c.reply == nil {
		return "closed"
	}
	return c.reply.Reply.String()
}

// requireOneVote requires that no node has voted twice in an epoch, and counts the votes.
func (w *world) requireOneVote() (votes int) {
	w.t.Helper()
	seen := make(map[string]string) // by what says who votes, in which epoch
	for _, e := range w.Trace.Events() {
		if e.Does == trace.Send && e.What == "auth-ack" {
			votes++
			require.Empty(w.t, seen[e.Detail], e.Detail)
			seen[e.Detail] = e.Peer
		}
	}
	return votes
}

// probe has a client on redis-1's side write every 10 ms, and notes how the answers change.
func (w *world) probe() {
	w.client("probe", 1, func(c *client) {
		for ; ; c.task.Sleep(10 * ms) {
			answer := c.do("SET", "lock", "probe")
			if n := len(w.refusals); n == 0 || w.refusals[n-1].what != answer {
				w.refusals = append(w.refusals, change{answer, time.Duration(w.Now())})
			}
		}
	})
}
