package real

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Link is a proxy between a client, or a replica, and a server. Messages on it can be held, delayed, inspected and
// dropped, and its connections broken.
type Link struct {
	Address string // the address for the client to connect to

	config   LinkConfig
	listener net.Listener
	there    Gate // from the client to the server
	back     Gate
	wait     sync.WaitGroup

	mu       sync.Mutex
	passages map[*Passage]bool
	refuses  bool
	deserted [2]bool       // the machine of the client, of the server is off: nobody hears that a connection is over
	revived  chan struct{} // closed when that of the server is on
	over     bool
}

// LinkConfig configures a link.
type LinkConfig struct {
	Server string // the address of the server
	// Which returns the address of the server that the next connection leads to, in place of Server. It may be nil.
	Which func() string
	// Tap makes the filters of a connection through the link. It may be nil.
	Tap func(*Passage) (requests, replies Filter)
	// Latency returns the delay of the next message. It may be nil.
	Latency func() time.Duration
	_       struct{}
}

// Filter receives the bytes that have arrived in one direction of a connection, and sends on any of them; it may keep
// the rest for the next call. Later bytes wait until it returns.
type Filter func(arrived []byte, way Way) error

// Way is one direction of a connection.
type Way struct {
	passage   *Passage
	direction int // 0: of requests, 1: of replies
	to        net.Conn
}

// Travel waits until the link is not held, and for the link's latency.
func (w Way) Travel() error {
	g := &w.passage.link.there
	if w.direction == 1 {
		g = &w.passage.link.back
	}
	if !g.Pass(w.passage.over) {
		return errLost
	}
	if latency := w.passage.link.config.Latency; latency != nil {
		time.Sleep(latency())
	}
	return nil
}

// Deliver writes bytes to the receiving end.
func (w Way) Deliver(b []byte) error { return w.passage.write(w.to, w.direction, b) }

// Link makes a link to a server.
func (h *Host) Link(c LinkConfig) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{Address: listener.Addr().String(), config: c, listener: listener, passages: map[*Passage]bool{}}
	l.wait.Go(l.accept)
	h.atEnd(l.close)
	return l, nil
}

// Hold makes bytes wait, in the direction of requests, of replies, or in both, until release is called; neither end is
// told. A connection that is opened meanwhile, and abandoned before release, never reaches the server.
func (l *Link) Hold(requests, replies bool) (release func()) {
	var list []func()
	if requests {
		list = append(list, l.there.Hold())
	}
	if replies {
		list = append(list, l.back.Hold())
	}
	return func() {
		for _, release := range list {
			release()
		}
	}
}

// Refuse resets all connections, and every new one until accept is called.
func (l *Link) Refuse() (accept func()) {
	l.mu.Lock()
	l.refuses = true
	l.mu.Unlock()
	l.Reset()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refuses = false
	}
}

// Reset resets all connections.
func (l *Link) Reset() {
	for _, p := range l.all() {
		p.Break(true, LoseRequests)
	}
}

// Break breaks all connections. It reports whether there were any.
func (l *Link) Break(reset bool, lose Loss) bool {
	list := l.all()
	for _, p := range list {
		p.Break(reset, lose)
	}
	return len(list) > 0
}

// Desert simulates that the client's machine, or the server's, is switched off: the other end does not learn that
// connections have ended. Connections that are opened to the server meanwhile wait until Revive.
func (l *Link) Desert(client, server bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deserted[0] = l.deserted[0] || client
	if server && !l.deserted[1] {
		l.deserted[1], l.revived = true, make(chan struct{})
	}
}

// Revive simulates that the server's machine is on again. It has no state of its earlier connections.
func (l *Link) Revive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.deserted[1] {
		return
	}
	l.deserted[1] = false
	close(l.revived)
}

func (l *Link) all() []*Passage {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*Passage, 0, len(l.passages))
	for p := range l.passages {
		list = append(list, p)
	}
	return list
}

func (l *Link) close() error {
	err := l.listener.Close()
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	for _, p := range l.all() {
		p.end()
	}
	l.wait.Wait()
	return err
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			l.wait.Go(func() { l.serve(client) })
		}
	}
}

func (l *Link) serve(client net.Conn) {
	p := &Passage{link: l, client: client, over: make(chan struct{}), unborn: l.there.held()}
	revived, ok := l.admit(p)
	if !ok {
		reset(client)
		return
	}
	defer l.forget(p)
	if revived != nil {
		select {
		case <-revived:
		case <-p.over:
			return
		}
	}
	address := l.config.Server
	if l.config.Which != nil {
		address = l.config.Which()
	}
	server, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil || !p.reached(server) {
		reset(client)
		return
	}
	p.run()
}

// admit takes note of a connection; false if the link takes none. It is to wait for what it returns if that is not nil.
func (l *Link) admit(p *Passage) (revived <-chan struct{}, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses || l.over {
		return nil, false
	}
	l.passages[p] = true
	if l.deserted[1] {
		return l.revived, true
	}
	return nil, true
}

func (l *Link) forget(p *Passage) {
	p.end()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.passages, p)
}

func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
