package sentinel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/redis/sentinel"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// deployment is a master, redis-1, with replicas and Sentinels. It notes when servers change their roles.
type deployment struct {
	*sim.Engine
	t         testing.TB
	servers   []*redis.Server
	sentinels []*sentinel.Sentinel
	promoted  []change
	demoted   []change
}

// change is a change of a server's role.
type change struct {
	server string
	at     time.Duration
}

// deploy takes the Sentinels' time-outs from c: down-after 2 s and failover-timeout 6 s if it has none.
func deploy(t testing.TB, seed uint64, replicas int, until time.Duration, c sentinel.Config) *deployment {
	d := &deployment{t: t, Engine: sim.New(sim.Config{Seed: seed, Until: trace.Instant(until)}, nil)}
	for i := range replicas + 1 {
		config := redis.Config{Observer: d}
		if i > 0 {
			config.ReplicaOf = d.servers[0]
		}
		server := redis.NewServer(redis.NewStore(), config)
		server.Attach(d.AddServer(fmt.Sprintf("redis-%d", i+1), server))
		d.servers = append(d.servers, server)
	}
	c.Master = d.servers[0].Node()
	for _, r := range d.servers[1:] {
		c.Replicas = append(c.Replicas, r.Node())
	}
	if c.DownAfter == 0 {
		c.DownAfter = 2 * s
	}
	if c.FailoverTimeout == 0 {
		c.FailoverTimeout = 6 * s
	}
	d.sentinels = sentinel.Deploy(d.Engine, c)
	d.AddClient("idle", func(task *sim.Task) { task.Sleep(sim.Forever - 1) }) // the run goes on until its end
	return d
}

func (d *deployment) Executed(*redis.Server, *redis.Request, redis.Reply, []redis.Change) {}
func (d *deployment) Expired(*redis.Server, []redis.Change)                               {}
func (d *deployment) Crashed(*redis.Server)                                               {}
func (d *deployment) Restarted(*redis.Server)                                             {}
func (d *deployment) Applied(*redis.Server, []redis.Change)                               {}
func (d *deployment) Replaced(*redis.Server, []redis.Record)                              {}

func (d *deployment) Promoted(server *redis.Server) {
	d.promoted = append(d.promoted, change{server.Node().Name, time.Duration(d.Now())})
}

func (d *deployment) Demoted(server *redis.Server) {
	d.demoted = append(d.demoted, change{server.Node().Name, time.Duration(d.Now())})
}

// play runs the world to its end.
func (d *deployment) play() {
	d.t.Helper()
	ending := d.Run()
	require.Nil(d.t, ending.Panic)
	require.Empty(d.t, ending.Bound)
}

func (d *deployment) at(moment time.Duration, a sim.Action, lasts ...time.Duration) {
	f := sim.Fault{Trigger: sim.Trigger{When: sim.At, At: moment}, Action: a}
	if len(lasts) > 0 {
		f.For = lasts[0]
	}
	d.Inject(f)
}

func pause(node string) sim.Action { return sim.Action{Kind: sim.Pause, Node: node} }

func crash(node string, restart time.Duration) sim.Action {
	return sim.Action{Kind: sim.Crash, Node: node, Restart: restart}
}

func cut(from, to []string) sim.Action {
	return sim.Action{Kind: sim.Cut, Link: sim.Link{From: from, To: to}}
}

// masters returns whom each Sentinel takes for the master.
func (d *deployment) masters() (names []string) {
	for _, s := range d.sentinels {
		names = append(names, s.Master().Name)
	}
	return names
}

// switched returns when the first Sentinel told of another master than redis-1, looking every 10 ms; 0 if none did.
func (d *deployment) switched() *time.Duration {
	var at time.Duration
	var look func()
	look = func() {
		for _, s := range d.sentinels {
			if s.Master() != d.servers[0].Node() {
				at = time.Duration(d.Now())
				return
			}
		}
		d.After(10*ms, look)
	}
	d.After(0, look)
	return &at
}

// votes returns for whom Sentinels have voted, by the voter and the epoch.
func (d *deployment) votes() map[string][]string {
	votes := make(map[string][]string)
	for _, e := range d.Trace.Events() {
		vote := strings.Split(e.Detail, ", ") // [is it down, for whom, in which epoch]
		if e.Does != trace.Reply || e.Alt != "vote" || vote[1] == `"*"` {
			continue
		}
		if key := e.Node + " " + vote[2]; !slices.Contains(votes[key], vote[1]) {
			votes[key] = append(votes[key], vote[1])
		}
	}
	return votes
}

// client talks to a Sentinel.
type client struct {
	heard  []string // what it answered and published
	answer sim.Signal
}

func (c *client) Deliver(p sim.Payload) {
	c.heard = append(c.heard, p.String())
	c.answer.Fire()
}
func (c *client) Closed() { c.heard = append(c.heard, "closed") }

// client runs code on a connection to the first Sentinel.
func (d *deployment) client(main func(task *sim.Task, do func(args ...string))) *client {
	c := &client{}
	d.AddClient("client", func(task *sim.Task) {
		conn, err := task.Dial(d.sentinels[0].Node(), c, s)
		require.NoError(d.t, err)
		main(task, func(args ...string) {
			c.answer = sim.Signal{}
			require.NoError(d.t, conn.Send(task, redis.NewRequest(args, "")))
			task.Wait(sim.Forever, &c.answer)
		})
	})
	return c
}
