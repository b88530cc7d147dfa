package memcached_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/memcached"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// world is a server, and one client that does what the test says.
type world struct {
	*sim.Engine
	t      *testing.T
	server *memcached.Server
	seen   []string // by the observer
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, Engine: sim.New(sim.Config{
		Seed: seed, Until: trace.Instant(time.Hour), Latency: sim.Constant(0),
	}, nil)}
	w.server = memcached.New(w)
	w.server.Attach(w.AddServer("memcached", w.server), w.Rand("began", "memcached"))
	return w
}

func (w *world) Executed(_ *memcached.Server, r *memcached.Request, a *memcached.Response, c memcached.Change) {
	if c != memcached.Unchanged {
		w.seen = append(w.seen, fmt.Sprintf("%v -> %v: %s", r, a, changes[c]))
	}
}

func (w *world) Gone(_ *memcached.Server, key string, c memcached.Change) {
	w.seen = append(w.seen, key+" "+changes[c])
}

var changes = []string{"unchanged", "made", "replaced", "prolonged", "removed", "expired", "evicted", "lost"}

// play runs the world with a client.
func (w *world) play(main func(c *client)) {
	w.t.Helper()
	ended := false
	w.AddClient("a", func(t *sim.Task) {
		c := &client{w: w, task: t}
		c.dial()
		main(c)
		ended = true
	})
	ending := w.Run()
	require.Nil(w.t, ending.Panic)
	require.True(w.t, ended, "the client did not come to its end")
}

type client struct {
	w      *world
	task   *sim.Task
	conn   *sim.Conn
	answer *memcached.Response
	change sim.Signal
}

func (c *client) dial() {
	var err error
	c.conn, err = c.task.Dial(c.w.server.Node(), c, 0)
	require.NoError(c.w.t, err)
}

func (c *client) Deliver(p sim.Payload) {
	c.answer = p.(*memcached.Response)
	c.change.Fire()
}

func (c *client) Closed() { c.change.Fire() }

func (c *client) do(r *memcached.Request) *memcached.Response {
	c.change = sim.Signal{}
	require.NoError(c.w.t, c.conn.Send(c.task, r))
	c.task.Wait(sim.Forever, &c.change)
	return c.answer
}

// says writes a request and its answer.
func (c *client) says(r *memcached.Request) string { return fmt.Sprintf("%v -> %v", r, c.do(r)) }

func add(value string, exptime int64) *memcached.Request {
	return &memcached.Request{Op: memcached.Add, Key: "lock", Value: value, Exptime: exptime}
}

func cas(value string, exptime int64, id uint64) *memcached.Request {
	return &memcached.Request{Op: memcached.CAS, Key: "lock", Value: value, Exptime: exptime, CAS: id}
}

func ask(op memcached.Op) *memcached.Request { return &memcached.Request{Op: op, Key: "lock"} }

func TestAnswersAreThoseOfTheProtocol(t *testing.T) {
	var got []string
	newWorld(t, 1).play(func(c *client) {
		for _, r := range []*memcached.Request{
			ask(memcached.Get), ask(memcached.Delete), ask(memcached.Touch), cas("x", 0, 1),
			add("a", 0), add("b", 0), ask(memcached.Get), ask(memcached.Gets),
			cas("b", 0, 7), cas("b", 0, 1), ask(memcached.Gets),
			{Op: memcached.Set, Key: "lock", Value: "c", Exptime: 100}, ask(memcached.Touch), ask(memcached.Gets),
			ask(memcached.Delete), ask(memcached.Gets),
		} {
			got = append(got, c.says(r))
		}
	})
	require.Equal(t, strings.TrimSpace(`
get lock -> END
delete lock -> NOT_FOUND
touch lock 0 -> NOT_FOUND
cas lock x 0 cas 1 -> NOT_FOUND
add lock a 0 -> STORED
add lock b 0 -> NOT_STORED
get lock -> VALUE a
gets lock -> VALUE a cas 1
cas lock b 0 cas 7 -> EXISTS
cas lock b 0 cas 1 -> STORED
gets lock -> VALUE b cas 2
set lock c 100 -> STORED
touch lock 0 -> TOUCHED
gets lock -> VALUE c cas 3
delete lock -> DELETED
gets lock -> END`), strings.Join(got, "\n"))
}

// TestAnItemLivesUpToASecondShorterThanAsked measures lives in true time, over many phases of the server's clock.
func TestAnItemLivesUpToASecondShorterThanAsked(t *testing.T) {
	shortest, longest := time.Hour, time.Duration(0)
	for seed := range uint64(200) {
		w := newWorld(t, seed)
		w.play(func(c *client) {
			c.task.Sleep(300 * ms)
			stored := w.Now()
			c.do(add("a", 5))
			end, ok := w.server.Life("lock")
			require.True(t, ok)
			c.task.Sleep(3900 * ms)
			for c.do(ask(memcached.Get)).Result == memcached.Hit {
				c.task.Sleep(ms)
			}
			require.WithinDuration(t, time.Unix(0, int64(end)), time.Unix(0, int64(w.Now())), ms)
			life := end.Sub(stored)
			shortest, longest = min(shortest, life), max(longest, life)
		})
		require.Equal(t, []string{"add lock a 5 -> STORED: made", "lock expired"}, w.seen)
	}
	require.Greater(t, shortest, 4*s)
	require.Less(t, shortest, 4*s+50*ms)
	require.LessOrEqual(t, longest, 5*s)
	require.Greater(t, longest, 5*s-50*ms)
}

func TestExptimeIsALengthUpToThirtyDaysAndThenADate(t *testing.T) {
	const month = 30 * 24 * 3600
	today := sim.Epoch / int64(s)
	for exptime, stored := range map[int64]bool{
		0: true, 1: true, month: true, month + 1: false, -1: false, today: false, today + 100: true,
	} {
		newWorld(t, 1).play(func(c *client) {
			c.do(add("a", exptime))
			want := memcached.Miss
			if stored {
				want = memcached.Hit
			}
			require.Equal(t, want, c.do(ask(memcached.Get)).Result, "exptime %d", exptime)
		})
	}
}

func TestGetsAndCASWithAnEndInThePastDeleteWhatWasCompared(t *testing.T) {
	w := newWorld(t, 1)
	w.play(func(c *client) {
		c.do(add("a", 100))
		id := c.do(ask(memcached.Gets)).CAS
		require.Equal(t, memcached.Stored, c.do(cas("", -1, id)).Result)
		require.Equal(t, memcached.Miss, c.do(ask(memcached.Get)).Result)
		c.do(add("b", 100))
		require.Equal(t, memcached.Exists, c.do(cas("", -1, id)).Result, "it is another's item by now")
	})
	require.Equal(t, []string{
		"add lock a 100 -> STORED: made", "cas lock  -1 cas 1 -> STORED: removed", "add lock b 100 -> STORED: made",
	}, w.seen)
}

func TestRestartDropsItemsAndResetsCASIDs(t *testing.T) {
	w := newWorld(t, 1)
	w.Inject(sim.Fault{
		Trigger: sim.Trigger{When: sim.At, At: s},
		Action:  sim.Action{Kind: sim.Crash, Node: "memcached", Restart: 500 * ms, Keep: "all"},
	})
	w.play(func(c *client) {
		c.do(add("a", 100))
		c.task.Sleep(1700 * ms)
		c.dial()
		require.Equal(t, memcached.Miss, c.do(ask(memcached.Get)).Result)
		c.do(add("b", 1))
		require.Equal(t, uint64(1), c.do(ask(memcached.Gets)).CAS)
		end, _ := w.server.Life("lock")
		require.Equal(t, trace.Instant(2500*ms), end, "its clock is looked at every second from its beginning")
	})
	require.Equal(t, []string{
		"add lock a 100 -> STORED: made", "lock lost", "add lock b 1 -> STORED: made",
	}, w.seen[:3])
}

func TestEvictionDoesNotAskForAnItemsEnd(t *testing.T) {
	w := newWorld(t, 1)
	w.play(func(c *client) {
		c.do(add("a", 100))
		require.True(t, w.server.Evict("lock"))
		require.False(t, w.server.Evict("lock"))
		require.Equal(t, memcached.Stored, c.do(add("b", 100)).Result)
	})
	require.Equal(t, []string{
		"add lock a 100 -> STORED: made", "lock evicted", "add lock b 100 -> STORED: made",
	}, w.seen)
}

func TestInjectedErrorsAnswerAsTheServerWould(t *testing.T) {
	for _, text := range []string{"SERVER_ERROR out of memory storing object", "NOT_STORED", "END"} {
		answer := memcached.ErrorResponse(add("a", 1), text).(*memcached.Response)
		require.Equal(t, text, answer.String())
	}
}
