package live

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/locks"
)

// zooKeeper is the ensemble as a process knows it.
type zooKeeper struct{ *machine }

// Open returns the process's handle. It is go-zookeeper's connection for every library; differences of the others are
// simulated here: "java" opens no new session after one has expired, and "curator" considers the session lost when it
// has been disconnected for the session's time-out.
func (z zooKeeper) Open(library string, timeout time.Duration) locks.ZKHandle {
	if z.handle == nil || z.handle.died() {
		z.handle = openHandle(z.machine, library, timeout)
	}
	return z.handle
}

// zkHandle is go-zookeeper's connection with the signals that locks know.
type zkHandle struct {
	*machine
	conn    *zk.Conn
	socket  lastSocket
	library string
	timeout time.Duration

	// go-zookeeper changes the fields below itself, regardless of which task has the turn: when an answer arrives in a
	// session, the session must be known already, or its own node would look like another client's.
	mu        sync.Mutex
	id        int64
	lost      *signal
	suspended *signal
	cut       *time.Timer // Curator's own count since the connection was lost
	dead      bool
}

// silence keeps go-zookeeper from writing to the standard error: what failed is told by the errors.
type silence struct{}

// Printf writes nothing; it implements go-zookeeper's logger.
func (silence) Printf(string, ...any) {}

func openHandle(m *machine, library string, timeout time.Duration) *zkHandle {
	h := &zkHandle{machine: m, library: library, timeout: timeout, lost: newSignal(), suspended: newSignal()}
	h.mu.Lock() // the first events come before the connection is returned
	defer h.mu.Unlock()
	var hosts zk.HostProvider = &zk.DNSHostProvider{}
	if m.config.InOrder {
		hosts = &inOrder{}
	}
	conn, events, err := zk.Connect(m.config.ZooKeeper, timeout, zk.WithLogger(silence{}), zk.WithHostProvider(hosts),
		zk.WithDialer(h.socket.dial), zk.WithEventCallback(h.changed))
	if err != nil {
		panic("live: " + err.Error()) // addresses are checked where they are named
	}
	h.conn = conn
	m.alive.Go(func() {
		for e := range events {
			if e.Type == zk.EventSession && m.config.Tell != nil {
				m.turn.Lock()
				m.config.Tell("zookeeper: " + e.State.String())
				m.turn.Unlock()
			}
		}
	})
	return h
}

// changed follows the states of the session. It must not wait for go-zookeeper, which waits for it.
func (h *zkHandle) changed(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e.State {
	case zk.StateHasSession:
		if h.cut != nil {
			h.cut.Stop()
		}
		if id := h.conn.SessionID(); id != h.id {
			if h.lost.Fired() {
				h.lost = newSignal()
			}
			h.id = id
		}
		if h.suspended.Fired() {
			h.suspended = newSignal()
		}
	case zk.StateDisconnected:
		if h.suspended.Fired() {
			return
		}
		h.suspended.Fire()
		if h.library == "curator" && h.id != 0 {
			lost := h.lost
			h.cut = time.AfterFunc(h.timeout, lost.Fire)
		}
	case zk.StateExpired:
		h.lost.Fire()
		h.suspended.Fire()
		if h.library == "java" {
			h.dead = true
			h.alive.Go(h.conn.Close)
		}
	default:
	}
}

// died reports whether the session is over, and the library makes no other.
func (h *zkHandle) died() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dead
}

// close ends the session, if the server answers, and the connection in any case: go-zookeeper would wait for the answer to
// its first frame for seven times the session's time-out.
func (h *zkHandle) close() {
	h.conn.Close()
	h.socket.close()
}

// lastSocket is the connection that go-zookeeper has.
type lastSocket struct {
	mu   sync.Mutex
	conn net.Conn
	over bool
}

func (s *lastSocket) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn = conn; s.over {
		_ = conn.Close()
	}
	return conn, nil
}

func (s *lastSocket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over = true; s.conn != nil {
		_ = s.conn.Close()
	}
}

// Session returns the library's view of its session.
func (h *zkHandle) Session() locks.ZKSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	return locks.ZKSession{ID: uint64(h.id), Lost: h.lost, Suspended: h.suspended}
}

var everybody = zk.WorldACL(zk.PermAll)

// Create makes a node. The answer has no zxid, so an ephemeral node, which makes a holder, is read in addition.
func (h *zkHandle) Create(at, data string, kind locks.ZKKind) (locks.ZKNode, error) {
	node := locks.ZKNode{Path: at, Data: data}
	err := h.ask(func() (err error) {
		switch kind {
		case locks.ZKContainer:
			node.Path, err = h.conn.CreateContainer(at, []byte(data), zk.FlagContainer, everybody)
		case locks.ZKEphemeral:
			node.Path, err = h.conn.Create(at, []byte(data), zk.FlagEphemeral, everybody)
		case locks.ZKEphemeralSequential:
			node.Path, err = h.conn.Create(at, []byte(data), zk.FlagEphemeralSequential, everybody)
		case locks.ZKPersistent:
			node.Path, err = h.conn.Create(at, []byte(data), 0, everybody)
		}
		return err
	})
	if err != nil || kind == locks.ZKContainer || kind == locks.ZKPersistent {
		return node, err
	}
	got, err := h.Get(node.Path)
	if err != nil && !errors.Is(err, locks.ErrSessionExpired) { // it was made, even if the read failed
		return node, fmt.Errorf("%w: created, but not read: %s", locks.ErrUnknown, err.Error())
	}
	return got, err
}

// Delete removes a node.
func (h *zkHandle) Delete(at string) error {
	return h.ask(func() error { return h.conn.Delete(at, -1) })
}

// Get reads a node.
func (h *zkHandle) Get(at string) (node locks.ZKNode, err error) {
	err = h.ask(func() error {
		data, stat, err := h.conn.Get(at)
		if err == nil {
			node = locks.ZKNode{Path: at, Data: string(data), Czxid: uint64(stat.Czxid), Owner: uint64(stat.EphemeralOwner)}
		}
		return err
	})
	return node, err
}

// Watch reads a node and watches it.
func (h *zkHandle) Watch(at string) (node locks.ZKNode, over locks.Signal, err error) {
	fires := newSignal()
	err = h.ask(func() error {
		data, stat, events, err := h.conn.GetW(at)
		if err != nil {
			return err
		}
		node = locks.ZKNode{Path: at, Data: string(data), Czxid: uint64(stat.Czxid), Owner: uint64(stat.EphemeralOwner)}
		h.alive.Go(func() {
			<-events // also when the session ends, or the connection is closed
			fires.Fire()
		})
		return nil
	})
	return node, fires, err
}

// Children lists a node's children.
func (h *zkHandle) Children(at string) (names []string, err error) {
	err = h.ask(func() (err error) {
		names, _, err = h.conn.Children(at)
		return err
	})
	return names, err
}

// Sync makes the server catch up.
func (h *zkHandle) Sync(at string) error {
	return h.ask(func() error {
		_, err := h.conn.Sync(at)
		return err
	})
}

// Multi carries out operations in one transaction.
func (h *zkHandle) Multi(ops ...locks.ZKOp) (failed int, err error) {
	var requests []any
	for _, op := range ops {
		switch op.Kind {
		case locks.ZKCheck:
			requests = append(requests, &zk.CheckVersionRequest{Path: op.Path, Version: -1})
		case locks.ZKCreate:
			requests = append(requests, &zk.CreateRequest{Path: op.Path, Data: []byte(op.Data), Acl: everybody})
		case locks.ZKSet:
			requests = append(requests, &zk.SetDataRequest{Path: op.Path, Data: []byte(op.Data), Version: -1})
		}
	}
	var results []zk.MultiResponse
	err = h.ask(func() (err error) {
		results, err = h.conn.Multi(requests...)
		return err
	})
	for i := range results {
		if results[i].Error != nil {
			return i, outcome(results[i].Error)
		}
	}
	return 0, err
}

// ask waits for a request without the turn.
func (h *zkHandle) ask(request func() error) error {
	if h.died() {
		return fmt.Errorf("%w: %w", locks.ErrNotDone, locks.ErrSessionExpired)
	}
	var err error
	h.blocking(func() { err = request() })
	return outcome(err)
}

// outcome tells an error of go-zookeeper's in the words of the locks. The library says that its connection was closed
// where a request may have been sent; what it says before it has a server was certainly not done.
func outcome(err error) error {
	var broken net.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode):
		return locks.ErrNoNode
	case errors.Is(err, zk.ErrNodeExists):
		return locks.ErrNodeExists
	case errors.Is(err, zk.ErrSessionExpired):
		return fmt.Errorf("%w: %w", locks.ErrNotDone, locks.ErrSessionExpired)
	case errors.Is(err, zk.ErrConnectionClosed), errors.Is(err, zk.ErrClosing), errors.As(err, &broken):
		return fmt.Errorf("%w: %w", locks.ErrUnknown, err) // net's errors come from writing: some of it may have arrived
	case errors.Is(err, zk.ErrNoServer):
		return fmt.Errorf("%w: %w", locks.ErrNotDone, err)
	default:
		return fmt.Errorf("zookeeper: %w", err)
	}
}
