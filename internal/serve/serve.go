// Package serve makes simulated servers listen on real sockets, in real time, so that external clients and tests can be
// run against them.
//
// Call [Redis], [ZooKeeper] or one of [Memcached], [Consul], [Etcd] and [Objects] with the addresses to listen on, and [World.Serve].
package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// World is a deployment of simulated servers with a socket for each. Its virtual time follows the wall clock; simulated
// links have no latency, since the real ones have.
type World struct {
	engine    *sim.Engine
	gateway   *sim.Node // whose code stands between sockets and servers
	listeners []net.Listener
	fronts    []front // of each listener

	// MaxUnread is how many bytes of replies a client may leave unread if its server has no limit for it, as Redis has none for
	// normal clients; a client that leaves more is disconnected. It may be changed before Serve is called.
	MaxUnread int
	// Log receives a line for every client that was disconnected, with the reason.
	Log io.Writer

	acts  chan func()    // what sockets have brought, to be done at the present moment
	down  map[int]func() // what heals servers that were crashed or paused by hand; belongs to the loop
	conns sync.WaitGroup
	open  map[net.Conn]bool // belongs to the loop
}

// front is how the clients of one server are spoken to.
type front struct {
	server *sim.Node
	speak  func(client string) wire.Conversation // with one at that address
	limit  func(*sim.Conn) redis.OutputLimit     // for what a client leaves unread; nil: none
}

// nobody is the code of the gateway as a server: it is never asked for anything.
type nobody struct{}

// Execute is never called.
func (nobody) Execute(*sim.Conn, sim.Payload) sim.Payload { return nil }

// Crash is never called.
func (nobody) Crash(bool, string) {}

// Restart is never called.
func (nobody) Restart() {}

// newWorld makes an engine without servers. The seed decides what the servers draw.
func newWorld(seed uint64) *World {
	w := &World{MaxUnread: 256 << 20, Log: os.Stderr, acts: make(chan func()), open: map[net.Conn]bool{}, down: map[int]func(){}}
	w.engine = sim.New(sim.Config{Seed: seed, Until: trace.Never, Latency: sim.Constant(0)}, nil)
	w.gateway = w.engine.AddServer("gateway", nobody{})
	return w
}

// addServer adds a server whose wall clock shows this machine's time.
func (w *World) addServer(name string, s sim.Server) *sim.Node {
	n := w.engine.AddServer(name, s)
	w.setClock(n)
	return n
}

// setClock has a node's wall clock show this machine's time.
func (w *World) setClock(n *sim.Node) {
	n.Adjust(time.Duration(time.Now().UnixNano()-sim.Epoch), 0, sim.WallOnly)
}

// listen opens a socket for a server.
func (w *World) listen(address string, f front) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return errors.Join(err, w.closeListeners())
	}
	w.listeners, w.fronts = append(w.listeners, l), append(w.fronts, f)
	return nil
}

func (w *World) closeListeners() error {
	var errs []error
	for _, l := range w.listeners {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) { // a server that has crashed has none
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Addresses returns the addresses on which the servers listen, in their order.
func (w *World) Addresses() []string {
	var list []string
	for _, l := range w.listeners {
		list = append(list, l.Addr().String())
	}
	return list
}

// resolve finds the server that listens at an address; nil if none does. A server that listens everywhere is found by its port.
func (w *World) resolve(host, port string) *sim.Node {
	for i, l := range w.listeners {
		at, ok := l.Addr().(*net.TCPAddr)
		if !ok || strconv.Itoa(at.Port) != port {
			continue
		}
		ip := net.ParseIP(host)
		if host == "localhost" && at.IP.IsLoopback() || at.IP.IsUnspecified() || ip != nil && ip.Equal(at.IP) {
			return w.fronts[i].server
		}
	}
	return nil
}

// Serve serves clients until the context is done, and returns when all connections are closed. The error says that a server's
// code has failed.
func (w *World) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i := range w.listeners {
		w.conns.Go(func() { w.accept(ctx, w.listeners[i], w.fronts[i]) })
	}
	err := w.loop(ctx)
	stop()
	err = errors.Join(err, w.closeListeners())
	for c := range w.open {
		_ = c.Close()
	}
	ended := make(chan struct{})
	go func() {
		w.conns.Wait()
		close(ended)
	}()
	for {
		select {
		case <-w.acts: // nobody cares any more
		case <-ended:
			return err
		}
	}
}

// loop lets virtual time follow the wall clock, and does what sockets bring.
func (w *World) loop(ctx context.Context) error {
	began := time.Now()
	now := func() trace.Instant { return trace.Instant(time.Since(began)) }
	const longest = time.Minute // that the loop sleeps when nothing is going to happen
	timer := time.NewTimer(longest)
	defer timer.Stop()
	for {
		next, err := w.engine.Advance(now())
		if err != nil {
			return err
		}
		wait := longest
		if next != trace.Never {
			wait = min(max(next.Sub(now()), 0), longest)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return nil
		case act := <-w.acts:
			if _, err := w.engine.Advance(now()); err != nil {
				return err
			}
			act()
		case <-timer.C:
		}
	}
}

func (w *World) accept(ctx context.Context, l net.Listener, f front) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // the listener was closed
		}
		w.conns.Go(func() { w.attend(ctx, c, f) })
	}
}

// attend reads what a client sends.
func (w *World) attend(ctx context.Context, c net.Conn, f front) {
	out := newOutbox(c)
	written := make(chan struct{})
	w.conns.Go(func() {
		out.write()
		close(written)
	})
	var talk *conversation
	if !w.act(ctx, func() {
		w.open[c] = true
		talk = w.converse(f, c.RemoteAddr().String(), out)
	}) {
		_ = c.Close() // it may have come too late for Serve to know of it
		out.end()
		return
	}
	for b, ok := make([]byte, 64*1024), true; ok; {
		n, err := c.Read(b)
		if err != nil {
			break
		}
		ok = w.act(ctx, func() { ok = talk.receive(b[:n]) }) && ok
	}
	w.act(ctx, talk.over)
	out.end()
	<-written // while a client does not read, Serve must know of it
	w.act(ctx, func() { delete(w.open, c) })
}

// act has the loop do something, and waits until it is done. It is false if the loop has ended.
func (w *World) act(ctx context.Context, f func()) bool {
	done := make(chan struct{})
	select {
	case w.acts <- func() { f(); close(done) }:
	case <-ctx.Done():
		return false
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
