package redis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// deployment is a master, redis-1, with replicas, on an engine with constant delays of one millisecond. It observes them
// and notes what they do beside executing requests.
type deployment struct {
	*sim.Engine
	t       testing.TB
	servers []*redis.Server
	notes   []string
	open    int // clients that have not come to their end
}

func deploy(t testing.TB, replicas int, c redis.Config) *deployment {
	return deployLike(t, 1, replicas, func(int) redis.Config { return c })
}

// deployLike gives each server its own configuration.
func deployLike(t testing.TB, seed uint64, replicas int, config func(i int) redis.Config) *deployment {
	d := &deployment{t: t, Engine: sim.New(sim.Config{
		Seed: seed, Keep: true, Until: trace.Instant(10 * time.Minute), Latency: sim.Constant(ms),
	}, nil)}
	for i := range replicas + 1 {
		c := config(i)
		c.Observer = d
		if i > 0 {
			c.ReplicaOf = d.servers[0]
		}
		d.add(c)
	}
	d.Command = d.command
	return d
}

func (d *deployment) add(c redis.Config) *redis.Server {
	server := redis.NewServer(redis.NewStore(), c)
	server.Attach(d.AddServer(fmt.Sprintf("redis-%d", len(d.servers)+1), server))
	d.servers = append(d.servers, server)
	return server
}

// command is what faults ask of a server.
func (d *deployment) command(n *sim.Node, a *sim.Action) bool {
	i := slices.IndexFunc(d.servers, func(server *redis.Server) bool { return server.Node() == n })
	switch server := d.servers[i]; a.Kind {
	case sim.Promote:
		return server.Promote()
	case sim.Evict:
		return server.Evict(a.Key)
	default:
		return server.Snapshot()
	}
}

func (d *deployment) note(server *redis.Server, format string, args ...any) {
	d.notes = append(d.notes, server.Node().Name+" "+fmt.Sprintf(format, args...))
}

func (d *deployment) Executed(server *redis.Server, r *redis.Request, reply redis.Reply, _ []redis.Change) {
}

func (d *deployment) Expired(server *redis.Server, changes []redis.Change) {
	for _, c := range changes {
		d.note(server, "%s %s", c.Op, c.Key)
	}
}

func (d *deployment) Crashed(server *redis.Server)   { d.note(server, "crashed") }
func (d *deployment) Restarted(server *redis.Server) { d.note(server, "restarted") }
func (d *deployment) Promoted(server *redis.Server)  { d.note(server, "promoted") }
func (d *deployment) Demoted(server *redis.Server)   { d.note(server, "demoted") }

func (d *deployment) Applied(server *redis.Server, changes []redis.Change) {
	for _, c := range changes {
		d.note(server, "applied %s %s of %s", c.Op, c.Key, whose(c.Request))
	}
}

func (d *deployment) Replaced(server *redis.Server, keys []redis.Record) {
	var all []string
	for _, r := range keys {
		all = append(all, r.Key+" of "+whose(r.Request))
	}
	d.note(server, "replaced by [%s]", strings.Join(all, ", "))
}

func whose(r *redis.Request) string {
	if r == nil {
		return "nobody"
	}
	return r.Client
}

// has looks into a server's dataset from outside.
func (d *deployment) has(i int, key string) bool {
	_, _, ok := d.servers[i-1].Store.Get(key)
	return ok
}

// play runs the world; all clients must come to their end.
func (d *deployment) play() {
	d.t.Helper()
	ending := d.Run()
	if ending.Panic != nil {
		d.t.Fatalf("%v\n%s", ending.Panic, ending.Panic.Stack)
	}
	require.Zero(d.t, d.open, "clients that did not come to their end")
	require.Empty(d.t, ending.Bound)
}

// steps are the steps of the trace that one node takes towards another, one a line.
func (d *deployment) steps(node string, does trace.Does, peer string) (lines []string) {
	for _, e := range d.Trace.Events() {
		if e.Node == node && e.Does == does && e.Peer == peer && e.What != "REPLCONF" && e.What != "PING" {
			lines = append(lines, e.Detail)
		}
	}
	return lines
}

// client adds a client that runs code.
func (d *deployment) client(name string, main func(c *caller)) {
	d.open++
	d.AddClient(name, func(t *sim.Task) {
		main(&caller{d: d, Task: t, lines: map[int]*line{}})
		d.open--
	})
}

func (d *deployment) fault(when sim.Trigger, a sim.Action, lasts time.Duration) {
	d.ErrorReply = redis.ErrorResponse
	d.Inject(sim.Fault{Trigger: when, Action: a, For: lasts})
}

func at(moment time.Duration) sim.Trigger { return sim.Trigger{When: sim.At, At: moment} }

func before(node string, does trace.Does, what, peer string) sim.Trigger {
	return sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: node, Does: does, What: what, Peer: peer}}
}

func link(kind sim.ActionKind, from, to string) sim.Action {
	return sim.Action{Kind: kind, Link: sim.Link{From: []string{from}, To: []string{to}}}
}

func crash(node string, host bool, restart time.Duration) sim.Action {
	return sim.Action{Kind: sim.Crash, Node: node, Host: host, Restart: restart}
}

// caller is a client with one connection to each server that it speaks to.
type caller struct {
	*sim.Task
	d     *deployment
	lines map[int]*line
}

// line is the client's end of a connection.
type line struct {
	conn    *sim.Conn
	arrived []string
	closed  bool
	change  sim.Signal
}

func (l *line) Deliver(p sim.Payload) {
	l.arrived = append(l.arrived, p.String())
	l.change.Fire()
}

func (l *line) Closed() {
	l.closed = true
	l.change.Fire()
}

// line is the connection to a server, by its number, or another one by its number plus ten.
func (c *caller) line(i int) *line {
	if l := c.lines[i]; l != nil {
		return l
	}
	l := &line{}
	conn, err := c.Dial(c.d.servers[(i-1)%10].Node(), l, s)
	require.NoError(c.d.t, err)
	l.conn = conn
	c.lines[i] = l
	return l
}

// send sends a command line and does not wait.
func (c *caller) send(i int, words ...string) {
	r := redis.NewRequest(words, "")
	r.Client = c.Node().Name
	require.NoError(c.d.t, c.line(i).conn.Send(c.Task, r))
}

// next waits for the next message from a server.
func (c *caller) next(i int, patience time.Duration) string {
	l := c.line(i)
	for deadline := c.d.Now().Add(patience); len(l.arrived) == 0 && !l.closed; {
		left := deadline.Sub(c.d.Now())
		if left <= 0 {
			return "silence"
		}
		l.change = sim.Signal{}
		c.Wait(left, &l.change)
	}
	if len(l.arrived) == 0 {
		return "closed"
	}
	first := l.arrived[0]
	l.arrived = l.arrived[1:]
	return first
}

// words sends a command line and waits for its answer.
func (c *caller) words(i int, words ...string) string {
	c.send(i, words...)
	return c.next(i, 100*s)
}

// do sends a line of words between blanks.
func (c *caller) do(i int, line string) string { return c.words(i, strings.Fields(line)...) }

// expect is do, whose answer is known.
func (c *caller) expect(want string, i int, line string) {
	c.d.t.Helper()
	require.Equal(c.d.t, want, c.do(i, line), "redis-%d: %s at %v", i, line, c.d.Now())
}

func (c *caller) sleepUntil(moment time.Duration) { c.Sleep(moment - time.Duration(c.d.Now())) }
