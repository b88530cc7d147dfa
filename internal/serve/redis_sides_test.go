package serve_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// redisSide is one of the two that are compared: a server, and clients of it that send bytes and read bytes. Its clock stands
// still but for what the test does to it, so that every answer is determined to the millisecond.
type redisSide interface {
	// open closes the connections that there are and opens others, to a server that is as if new.
	open(t require.TestingT, clients int)
	// send has a client send bytes.
	send(t require.TestingT, client int, bytes string)
	// heard is what each client has been sent since it was last asked for; "closed" stands at the end of a connection.
	heard(t require.TestingT) []string
	// setClock has the server's clock show a moment.
	setClock(t require.TestingT, at time.Time)
	// restart kills the server's process and starts it again, with clients that have just connected.
	restart(t require.TestingT)
	// save has the server write a snapshot.
	save(t require.TestingT)
}

// realRedis is a redis-server behind libfaketime.
type realRedis struct {
	server  *real.Redis
	control net.Conn
	clients []net.Conn
	asked   int // the client that has sent something, and may be answered; -1 for none
}

// startRealRedis starts one, or skips the test.
func startRealRedis(t *testing.T, c real.RedisConfig) *realRedis {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	c.Name, c.WrongClock = "redis", true
	server, err := h.Redis(c)
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	r := &realRedis{server: server}
	r.control = r.dial(t)
	return r
}

func (r *realRedis) dial(t require.TestingT) net.Conn {
	c, err := net.Dial("tcp", r.server.Address)
	require.NoError(t, err)
	return c
}

func (r *realRedis) open(t require.TestingT, clients int) {
	r.redial(t, clients)
	r.ask(t, "CLIENT KILL TYPE pubsub\r\nFLUSHALL\r\nSCRIPT FLUSH\r\n", 3)
}

func (r *realRedis) redial(t require.TestingT, clients int) {
	for _, c := range r.clients {
		require.NoError(t, c.Close())
	}
	r.clients = nil
	for range clients {
		r.clients = append(r.clients, r.dial(t))
	}
}

func (r *realRedis) restart(t require.TestingT) {
	require.NoError(t, r.server.Kill())
	require.NoError(t, r.server.Restart())
	r.control = r.dial(t)
	r.redial(t, len(r.clients))
}

func (r *realRedis) save(t require.TestingT) { r.ask(t, "SAVE\r\n", 1) }

// ask has the control connection send commands whose replies are a line each.
func (r *realRedis) ask(t require.TestingT, bytes string, replies int) {
	_, err := io.WriteString(r.control, bytes)
	require.NoError(t, err)
	for b := make([]byte, 1); replies > 0; {
		_, err := io.ReadFull(r.control, b)
		require.NoError(t, err)
		if b[0] == '\n' {
			replies--
		}
	}
}

func (r *realRedis) send(_ require.TestingT, client int, bytes string) {
	r.asked = client
	_, _ = io.WriteString(r.clients[client], bytes) // the server may have closed it, which will be heard
}

// heard reads what is there when the control connection has been answered twice: the first answer was written in the turn of the
// server's event loop that executed what was sent before, the second in the next. On a machine under load what was sent before may
// still be on its way, which the control connection waits for a little longer if nobody has been answered.
func (r *realRedis) heard(t require.TestingT) []string {
	texts := make([]string, len(r.clients))
	for patience := 20; patience > 0; patience-- {
		for range 2 {
			r.ask(t, "PING\r\n", 1)
		}
		for i, c := range r.clients {
			if text := readAll(t, c); !strings.HasSuffix(texts[i], "closed") {
				texts[i] += text
			}
		}
		if r.asked < 0 || texts[r.asked] != "" {
			break
		}
	}
	r.asked = -1
	return texts
}

// setClock sets it to the middle of a millisecond: faketime reads fractions of a second as floats. What has ended by either
// reading of the clock is gone for good: as it is when the server looks for it, ten times a second.
func (r *realRedis) setClock(t require.TestingT, at time.Time) {
	r.look(t)
	require.NoError(t, r.server.FreezeClock(at.Add(time.Millisecond/2)))
	r.look(t)
	r.asked = -1
}

// look touches every key of the databases that stories use, the first of them last.
func (r *realRedis) look(t require.TestingT) {
	for database := drawnDatabases - 1; database >= 0; database-- {
		keys := "a b c d e f g h i j k l m n o p q r s t u v w x y z " + strings.Join(drawnKeys, " ")
		r.ask(t, fmt.Sprintf("SELECT %d\r\nEXISTS %s\r\n", database, keys), 2)
	}
}

// simulatedRedis is a server in an engine in which no time passes.
type simulatedRedis struct {
	engine  *sim.Engine
	gateway *sim.Node
	server  *redis.Server
	clients []*simulatedClient
	now     trace.Instant // stands still but for restarts
	clock   time.Time
	moves   time.Duration // how often the clock has been set
	hasty   bool          // keys end a millisecond early: a comparison that is wrong on purpose
}

type simulatedClient struct {
	wire.Conversation
	conn *sim.Conn
	got  []byte
	over bool
}

func (c *simulatedClient) Deliver(p sim.Payload) { c.got = c.Append(c.got, p) }

func (c *simulatedClient) Closed() { c.over = true }

// idle is the code of the node that the clients are on.
type idle struct{}

func (idle) Execute(*sim.Conn, sim.Payload) sim.Payload { return nil }
func (idle) Crash(bool, string)                         {}
func (idle) Restart()                                   {}

func newSimulatedRedis(c redis.Config) *simulatedRedis {
	s := &simulatedRedis{}
	s.engine = sim.New(sim.Config{Seed: 1, Until: trace.Never, Latency: sim.Constant(0)}, nil)
	s.gateway = s.engine.AddServer("clients", idle{})
	s.server = redis.NewServer(redis.NewStore(), c)
	s.server.Attach(s.engine.AddServer("redis", s.server))
	return s
}

// advance lets happen what is to happen now.
func (s *simulatedRedis) advance(t require.TestingT) {
	_, err := s.engine.Advance(s.now)
	require.NoError(t, err)
}

func (s *simulatedRedis) open(t require.TestingT, clients int) {
	s.redial(t, clients)
	s.send(t, 0, "FLUSHALL\r\nSCRIPT FLUSH\r\n")
	for i := range s.clients { // a connection gets its number with its first command
		s.send(t, i, "PING\r\n")
	}
	s.heard(t)
}

func (s *simulatedRedis) redial(t require.TestingT, clients int) {
	for _, c := range s.clients {
		c.conn.Close()
	}
	s.clients = nil
	s.advance(t)
	for range clients {
		c := &simulatedClient{Conversation: wire.Redis(nil)}
		c.conn = s.gateway.Connect(s.server.Node(), c)
		s.clients = append(s.clients, c)
	}
}

func (s *simulatedRedis) restart(t require.TestingT) {
	const takes = time.Millisecond
	s.engine.Inject(sim.Fault{
		Trigger: sim.Trigger{When: sim.At, At: time.Duration(s.now) + takes},
		Action:  sim.Action{Kind: sim.Crash, Node: "redis", Restart: takes},
	})
	s.now = s.now.Add(2 * takes)
	s.advance(t)
	s.setClock(t, s.clock)
	s.redial(t, len(s.clients))
}

func (s *simulatedRedis) save(t require.TestingT) { require.True(t, s.server.Snapshot()) }

func (s *simulatedRedis) send(t require.TestingT, client int, bytes string) {
	c := s.clients[client]
	s.advance(t)
	goesOn := c.Receive([]byte(bytes), c.conn.Push)
	s.advance(t)
	if !goesOn && !c.over {
		c.got = append(c.got, c.Farewell()...)
		c.conn.Close()
		c.over = true
	}
}

func (s *simulatedRedis) heard(t require.TestingT) (texts []string) {
	s.advance(t)
	for _, c := range s.clients {
		text := string(c.got)
		if c.over {
			text += "closed"
		}
		texts = append(texts, text)
		c.got = nil
	}
	return texts
}

// setClock sets the clock to the given moment, and some nanoseconds more: fewer each time. Redis counts in milliseconds and ends a
// key when one more than its life is over; we count in nanoseconds and end it when its life is over, and not before, so that in
// the millisecond in which it ends it is here or gone as the clock's last digits were when it was made.
func (s *simulatedRedis) setClock(t require.TestingT, at time.Time) {
	const most = time.Millisecond - 1
	s.advance(t)
	s.moves++
	require.Less(t, s.moves, most)
	s.clock = at
	more := most - s.moves
	if s.hasty {
		more = s.moves
	}
	n := s.server.Node()
	n.Adjust(time.Duration(at.UnixNano()-n.Wall())+more, 0, sim.WallOnly)
	s.advance(t)
}
