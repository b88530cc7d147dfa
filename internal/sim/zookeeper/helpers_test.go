package zookeeper_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// world is an engine with an ensemble, constant delays of one millisecond, and clients.
type world struct {
	*sim.Engine
	t         testing.TB
	zk        *zookeeper.Ensemble
	committed []*zookeeper.Txn
	expired   []string // with the true time
	open      []string
	elected   func() // is called when a server has become the leader; may be nil
}

func (w *world) Committed(_ *zookeeper.Server, txn *zookeeper.Txn) {
	w.committed = append(w.committed, txn)
}
func (w *world) Expired(_ *zookeeper.Server, id zookeeper.SessionID) {
	w.expired = append(w.expired, fmt.Sprintf("%v %v", w.Now(), id))
}
func (w *world) Elected(*zookeeper.Server) {
	if w.elected != nil {
		w.elected()
	}
}
func (w *world) Answered(*zookeeper.Server, *zookeeper.Response) {}

func newWorld(t testing.TB, seed uint64, c zookeeper.Config) *world {
	w := &world{t: t, Engine: sim.New(sim.Config{
		Seed: seed, Keep: true, Until: trace.Instant(10 * time.Minute), Latency: sim.Constant(ms),
	}, nil)}
	c.Observer = w
	w.zk = zookeeper.New(w.Engine, c)
	return w
}

// play runs the world; all clients must come to their end.
func (w *world) play() {
	w.t.Helper()
	ending := w.Run()
	if ending.Panic != nil {
		w.t.Fatalf("%v\n%s", ending.Panic, ending.Panic.Stack)
	}
	require.Empty(w.t, w.open, "clients that did not come to their end")
	require.Empty(w.t, ending.Bound)
}

// client adds a client that runs code on a connection of its own.
func (w *world) client(name string, main func(k *keeper)) {
	w.open = append(w.open, name)
	w.AddClient(name, func(t *sim.Task) {
		main(&keeper{w: w, task: t})
		w.open = slices.DeleteFunc(w.open, func(other string) bool { return other == name })
	})
}

func (w *world) at(moment time.Duration, a sim.Action, lasts ...time.Duration) {
	f := sim.Fault{Trigger: sim.Trigger{When: sim.At, At: moment}, Action: a}
	if len(lasts) > 0 {
		f.For = lasts[0]
	}
	w.Inject(f)
}

func cut(from string, to ...string) sim.Action {
	return sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{from}, To: to}}
}

func crash(node string, host bool, restart time.Duration) sim.Action {
	return sim.Action{Kind: sim.Crash, Node: node, Host: host, Restart: restart}
}

func (w *world) sleepUntil(t *sim.Task, at time.Duration) { t.Sleep(at - time.Duration(w.Now())) }

// keeper is a client of the ensemble that does only what it is told.
type keeper struct {
	w       *world
	task    *sim.Task
	conn    *sim.Conn
	ear     *ear
	session zookeeper.SessionID
	timeout time.Duration
	seen    zookeeper.Zxid
	stream  []string // what arrived, in order
	answers []*zookeeper.Response
	events  []string
	closed  bool
	ended   time.Duration // when it was closed
	change  sim.Signal
}

// ear is the client's end of one of its connections; the keeper listens to the latest.
type ear struct{ k *keeper }

func (e *ear) Deliver(p sim.Payload) {
	if e.k.ear == e {
		e.k.deliver(p)
	}
}

func (e *ear) Closed() {
	if e.k.ear == e {
		e.k.over()
	}
}

func (k *keeper) deliver(p sim.Payload) {
	switch p := p.(type) {
	case *zookeeper.Response:
		k.answers = append(k.answers, p)
		k.seen = max(k.seen, p.Zxid)
	case *zookeeper.WatchEvent:
		k.events = append(k.events, p.String())
	}
	if k.w.Trace.Keep {
		k.stream = append(k.stream, p.String())
	}
	k.change.Fire()
}

func (k *keeper) over() {
	k.closed, k.ended = true, time.Duration(k.w.Now())
	k.change.Fire()
}

// dial opens a connection to a server and asks for a session, or for its own.
func (k *keeper) dial(server int, timeout time.Duration) *zookeeper.Response {
	if k.conn != nil {
		k.conn.Close()
	}
	k.ear = &ear{k}
	conn, err := k.task.Dial(k.w.zk.Servers[server-1].Node(), k.ear, s)
	if err != nil {
		return nil
	}
	k.conn, k.closed, k.answers = conn, false, nil
	r := k.call(&zookeeper.Request{Op: zookeeper.Connect, Session: k.session, Timeout: timeout, Seen: k.seen})
	if r != nil {
		k.session, k.timeout = r.Session, r.Timeout
	}
	return r
}

// open is a dial that must succeed.
func (k *keeper) open(server int, timeout time.Duration) {
	r := k.dial(server, timeout)
	require.NotNil(k.w.t, r, "server %d does not answer", server)
	require.NotZero(k.w.t, r.Session)
}

func (k *keeper) send(r *zookeeper.Request) { _ = k.conn.Send(k.task, r) }

// next waits for the next answer; nil if the connection ends first, or is silent for very long.
func (k *keeper) next() *zookeeper.Response {
	for len(k.answers) == 0 && !k.closed {
		k.change = sim.Signal{}
		if k.task.Wait(30*s, &k.change) < 0 {
			k.conn.Close()
			k.over()
		}
	}
	if len(k.answers) == 0 {
		return nil
	}
	first := k.answers[0]
	k.answers = k.answers[1:]
	return first
}

func (k *keeper) call(r *zookeeper.Request) *zookeeper.Response {
	k.send(r)
	return k.next()
}

// must is a call that must succeed.
func (k *keeper) must(r *zookeeper.Request) *zookeeper.Response {
	a := k.call(r)
	require.NotNil(k.w.t, a, "%v was not answered", r)
	require.Equal(k.w.t, zookeeper.OK, a.Err, "%v", r)
	return a
}

// pingUntil keeps the session alive, as go-zookeeper does: a ping every third of the timeout. It returns when the
// connection is over or the moment has come.
func (k *keeper) pingUntil(end time.Duration) {
	for k.waitUntil(min(end, time.Duration(k.w.Now())+k.timeout/3)) && time.Duration(k.w.Now()) < end {
		k.send(&zookeeper.Request{Op: zookeeper.Ping})
	}
	k.answers = nil
}

// waitUntil waits for a moment; false if the connection ends first.
func (k *keeper) waitUntil(moment time.Duration) bool {
	for !k.closed && time.Duration(k.w.Now()) < moment {
		k.change = sim.Signal{}
		k.task.Wait(moment-time.Duration(k.w.Now()), &k.change)
	}
	return !k.closed
}

func create(path string, flags ...string) *zookeeper.Request {
	return &zookeeper.Request{
		Op: zookeeper.Create, Path: path,
		Ephemeral: slices.Contains(flags, "ephemeral"), Sequential: slices.Contains(flags, "sequential"),
	}
}

func del(path string, version int32) *zookeeper.Request {
	return &zookeeper.Request{Op: zookeeper.Delete, Path: path, Version: version}
}

func set(path, data string, version int32) *zookeeper.Request {
	return &zookeeper.Request{Op: zookeeper.SetData, Path: path, Data: data, Version: version}
}

func ask(op zookeeper.Op, path string, watch ...bool) *zookeeper.Request {
	return &zookeeper.Request{Op: op, Path: path, Watch: len(watch) > 0}
}

func multi(ops ...*zookeeper.Request) *zookeeper.Request {
	r := &zookeeper.Request{Op: zookeeper.Multi}
	for _, op := range ops {
		r.Ops = append(r.Ops, *op)
	}
	return r
}
