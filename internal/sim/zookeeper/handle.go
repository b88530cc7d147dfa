package zookeeper

import (
	"errors"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
)

// The errors of requests that no server has answered.
var (
	// ErrConnectionLoss says that the connection was lost: the request may have been executed, or may yet be.
	ErrConnectionLoss = errors.New("connection loss")
	// ErrNoServer says that no server could be reached: the request was certainly not sent.
	ErrNoServer = errors.New("no server")
	// ErrSessionExpired says that the session has expired: the request was certainly not sent.
	ErrSessionExpired = errors.New("session expired")
	// ErrHandleClosed says that the handle was closed before: the request was certainly not sent.
	ErrHandleClosed = errors.New("handle closed")
)

// HandleConfig configures a handle.
type HandleConfig struct {
	Flavour Flavour
	Timeout time.Duration // of the session, which the server limits to between 2 and 20 ticks
	Servers []int         // ids of those to connect to, in the order in which they are tried; all, shuffled, if empty
	Rand    *sim.Rand     // for the shuffle and the pauses between attempts
	Woken   func()        // called for every event of a watch that arrives; may be nil
	Tell    func(string)  // called with every change of connection and session, as text; may be nil
	_       struct{}
}

// Handle is a client library's state in a process: a session, the connection that keeps it alive, and the pending
// requests. Any task of the process may use it. It lives until [Handle.Close]; if a process ends without closing it,
// its session expires.
//
// Invariant: pending is empty unless there is a connection.
type Handle struct {
	config  HandleConfig
	node    *sim.Node
	servers rotation
	session *Session
	dead    bool     // it is over, and the handle with it
	seen    Zxid     // the last that an answer has shown
	heard   int64    // when a server was last heard, on the monotonic clock
	sent    int64    // when something was last sent
	wire    *wire    // nil while there is no connection
	again   bool     // it has had one
	unsent  []*call  // wait for one
	pending []*call  // sent, in order
	watches []*Watch // in the order of their setting
	renewed bool     // the session is not the first
	closed  bool
}

// call is a request on its way.
type call struct {
	request *Request
	watch   *Watch // to be set with it, or nil
	answer  *Response
	err     error
	over    sim.Signal
}

// settle ends the call, unless it has ended.
func (c *call) settle(answer *Response, err error) {
	if !c.over.Fired() {
		c.answer, c.err = answer, err
		c.over.Fire()
	}
}

// NewHandle makes a handle for the task's process, and starts to connect. Requests wait until it is connected.
func NewHandle(t *sim.Task, z *Ensemble, c HandleConfig) *Handle {
	h := &Handle{config: c, node: t.Node(), heard: t.Node().Monotonic()}
	h.servers.init(z, c.Servers, c.Rand)
	h.session = h.newSession()
	t.Go(h.keep)
	return h
}

// Session returns the session that the handle has or is about to open, or the last one of a dead handle.
func (h *Handle) Session() *Session { return h.session }

// Dead reports whether the session has expired and the handle with it: the application must make another.
func (h *Handle) Dead() bool { return h.dead }

// Do sends a request and waits for its answer without a time limit: the loss of the connection ends the wait. The
// watch, which may be nil, is set together with it. The errors are those of the handle; the server's answer, errors
// included, is in the response.
func (h *Handle) Do(t *sim.Task, r *Request, w *Watch) (*Response, error) {
	switch {
	case h.closed:
		return nil, ErrHandleClosed
	case h.dead:
		return nil, ErrSessionExpired
	}
	return h.ask(t, r, w)
}

func (h *Handle) ask(t *sim.Task, r *Request, w *Watch) (*Response, error) {
	r.Watch = w != nil
	c := &call{request: r, watch: w}
	if h.wire != nil {
		h.post(t, c)
	} else {
		h.unsent = append(h.unsent, c)
	}
	t.Wait(sim.Forever, &c.over)
	return c.answer, c.err
}

// post sends a call on the connection. It is noted before: its answer may be read before the task goes on.
func (h *Handle) post(t *sim.Task, c *call) {
	h.pending = append(h.pending, c)
	if err := h.wire.send(t, c.request); err != nil {
		c.settle(nil, ErrConnectionLoss)
	}
}

// Close ends the session, with all its ephemerals, and the handle.
func (h *Handle) Close(t *sim.Task) {
	if h.closed {
		return
	}
	h.closed = true
	if h.wire != nil {
		_, _ = h.ask(t, &Request{Op: CloseSession}, nil)
	}
	if w := h.wire; w != nil {
		w.conn.Close()
		h.disconnected(w)
	}
	h.fail(&h.unsent, ErrHandleClosed)
}

// answered passes the answer to the task that waits for it, and sets its watch.
func (h *Handle) answered(r *Response) {
	if r.Request.Op != Ping {
		h.seen = max(h.seen, r.Zxid)
	}
	i := slices.IndexFunc(h.pending, func(c *call) bool { return c.request == r.Request })
	if i < 0 {
		return // a ping, or watches that were set again
	}
	c := h.pending[i]
	h.pending = slices.Delete(h.pending, i, i+1)
	if c.watch != nil {
		h.register(c.watch, r)
	}
	c.settle(r, nil)
}

// disconnected says that a connection is over: what was sent on it and has no answer will never have one.
func (h *Handle) disconnected(w *wire) {
	w.over.Fire()
	if h.wire != w {
		return
	}
	h.wire = nil
	h.fail(&h.pending, ErrConnectionLoss)
	if !h.config.Flavour.Keeps {
		h.fail(&h.unsent, ErrConnectionLoss)
	}
	if !h.closed {
		h.tell("loses its connection to " + w.conn.Server().Name)
		h.session.suspend()
	}
}

func (h *Handle) tell(news string) {
	if h.config.Tell != nil {
		h.config.Tell(news)
	}
}

// expired ends the session, by the word of a server or by the library's own.
func (h *Handle) expired(news string) {
	h.tell(news)
	over := h.session
	over.end()
	h.seen, h.heard = 0, h.node.Monotonic()
	if h.dead = h.config.Flavour.Expired == Dies; !h.dead {
		h.session, h.renewed = h.newSession(), true
	}
	if h.config.Flavour.Expired != Renewed {
		h.fail(&h.unsent, ErrSessionExpired)
	}
	if h.config.Flavour.Expired == Replaced {
		h.servers.restart()
		h.again = false
	}
	watches := h.watches
	h.watches = nil
	over.Lost.Fire()
	for _, w := range watches {
		w.Over.Fire()
	}
}

// fail ends all calls of a list.
func (h *Handle) fail(calls *[]*call, err error) {
	failed := *calls
	*calls = nil
	for _, c := range failed {
		c.settle(nil, err)
	}
}
