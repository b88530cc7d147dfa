package lease_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// world is an engine with one service, constant delays of one millisecond, and clients.
type world struct {
	*sim.Engine
	t      testing.TB
	server *lease.Server
	saw    []string // by the observer, with the true time
	open   []string
}

func (w *world) note(format string, args ...any) {
	w.saw = append(w.saw, fmt.Sprintf("%v ", w.Now())+fmt.Sprintf(format, args...))
}

func (w *world) noteAll(changes []lease.Change) {
	names := [...]string{"created", "written", "deleted", "acquired", "released"}
	for _, c := range changes {
		w.note("%s %v", names[c.Kind], &c.Key)
	}
}

func (w *world) Executed(_ *lease.Server, _ *lease.Request, _ *lease.Response, changes []lease.Change) {
	w.noteAll(changes)
}

func (w *world) Waits(*lease.Server, *lease.Request) {}
func (w *world) Renewed(_ *lease.Server, id lease.SessionID) {
	deadline, ok := w.server.Life(id)
	require.True(w.t, ok)
	require.Greater(w.t, deadline, w.server.Node().Monotonic())
}

func (w *world) Ended(_ *lease.Server, id lease.SessionID, why lease.Reason, changes []lease.Change) {
	w.note("%s %v", [...]string{"expired", "killed", "mistaken"}[why], id)
	w.noteAll(changes)
}

func (w *world) Wiped(_ *lease.Server, changes []lease.Change) {
	w.note("wiped")
	w.noteAll(changes)
}

func (w *world) Promoted(s *lease.Server, owners []*lease.Request) {
	w.note("%s promoted, %d owners", s.Node().Name, len(owners))
}

func newWorld(t testing.TB, seed uint64, d lease.Dialect, stuck ...time.Duration) *world {
	w := &world{t: t, Engine: sim.New(sim.Config{
		Seed: seed, Keep: true, Until: trace.Instant(10 * time.Minute), Latency: sim.Constant(ms),
	}, nil)}
	c := lease.Config{Dialect: d, Observer: w}
	if len(stuck) > 0 {
		c.Stuck = stuck[0]
	}
	w.server = lease.New(w.Engine, c)
	w.Command = func(_ *sim.Node, a *sim.Action) bool {
		switch a.Kind {
		case sim.Promote:
			return w.server.Promote()
		case sim.Snapshot:
			w.server.Snapshot()
			return true
		default:
			return w.server.EndSessions(a.Node)
		}
	}
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
func (w *world) client(name string, main func(c *client)) {
	w.open = append(w.open, name)
	w.AddClient(name, func(t *sim.Task) {
		main(&client{w: w, task: t})
		w.open = slices.DeleteFunc(w.open, func(other string) bool { return other == name })
	})
}

// at has the service, or a client's sessions, suffer something.
func (w *world) at(moment time.Duration, a sim.Action, lasts ...time.Duration) {
	if a.Node == "" {
		a.Node = w.server.Node().Name
	}
	f := sim.Fault{Trigger: sim.Trigger{When: sim.At, At: moment}, Action: a}
	if len(lasts) > 0 {
		f.For = lasts[0]
	}
	w.Inject(f)
}

// client does only what it is told: nobody renews its sessions.
type client struct {
	w       *world
	task    *sim.Task
	conn    *sim.Conn
	session lease.SessionID
	epoch   int
	answers []*lease.Response
	closed  bool
	news    sim.Signal
}

func (c *client) Deliver(p sim.Payload) {
	c.answers = append(c.answers, p.(*lease.Response))
	c.news.Fire()
}

func (c *client) Closed() {
	c.closed, c.conn = true, nil
	c.news.Fire()
}

func (c *client) now() time.Duration { return time.Duration(c.w.Now()) }

func (c *client) until(moment time.Duration) { c.task.Sleep(moment - c.now()) }

// send sends a request of the client's session, on a new connection if there is none.
func (c *client) send(r lease.Request) *lease.Request {
	if c.conn == nil {
		conn, err := c.task.Dial(c.w.server.Node(), c, s)
		require.NoError(c.w.t, err)
		c.conn, c.closed = conn, false
	}
	if r.Session == 0 && r.Op != lease.Put {
		r.Session = c.session
	}
	r.Epoch = c.epoch
	require.NoError(c.w.t, c.conn.Send(c.task, &r))
	return &r
}

// await waits for the answer to a request; nil if the connection ends first, or nothing comes for long.
func (c *client) await(r *lease.Request) *lease.Response {
	for {
		for i, a := range c.answers {
			if a.Request == r {
				c.answers = slices.Delete(c.answers, i, i+1)
				c.epoch = max(c.epoch, a.Epoch)
				return a
			}
		}
		c.news = sim.Signal{}
		if c.closed || c.task.Wait(2*time.Minute, &c.news) < 0 {
			return nil
		}
	}
}

func (c *client) call(r lease.Request) *lease.Response { return c.await(c.send(r)) }

// must is a call that must not fail.
func (c *client) must(r lease.Request) *lease.Response {
	a := c.call(r)
	require.NotNil(c.w.t, a, "%v was not answered", &r)
	require.Empty(c.w.t, a.Err, "%v", &r)
	return a
}

// begin opens a session.
func (c *client) begin(r lease.Request) *lease.Response {
	a := c.must(r)
	c.session = a.Session
	return a
}
