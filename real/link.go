package real

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Link is a proxy between a client, or a replica, and a server. What is sent on it can be held up or refused.
type Link struct {
	Address string // what the client is to connect to
	server  string

	listener net.Listener
	mu       sync.Mutex
	there    gate // from the client to the server
	back     gate
	refuses  bool
	conns    map[net.Conn]bool
	wait     sync.WaitGroup
}

// gate lets bytes pass or not.
type gate struct {
	open  chan struct{} // closed while it is open
	delay time.Duration // of every piece of bytes
}

// Link makes a link to a server.
func (h *Host) Link(server string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{Address: listener.Addr().String(), server: server, listener: listener, conns: map[net.Conn]bool{}}
	l.there.open, l.back.open = make(chan struct{}), make(chan struct{})
	close(l.there.open)
	close(l.back.open)
	l.wait.Go(l.accept)
	h.atEnd(l.close)
	return l, nil
}

// Hold has what is sent wait, in both directions, or in the one of requests or of replies; nobody is told.
func (l *Link) Hold(requests, replies bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hold := func(g *gate) {
		select {
		case <-g.open:
			g.open = make(chan struct{})
		default:
		}
	}
	if requests {
		hold(&l.there)
	}
	if replies {
		hold(&l.back)
	}
}

// Pass lets everything pass again, with a delay, and what was held first.
func (l *Link) Pass(delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuses = false
	for _, g := range []*gate{&l.there, &l.back} {
		g.delay = delay
		select {
		case <-g.open:
		default:
			close(g.open)
		}
	}
}

// Refuse resets what connections there are, and every new one.
func (l *Link) Refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuses = true
	l.resetAll()
}

// Reset resets what connections there are.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resetAll()
}

func (l *Link) resetAll() {
	for c := range l.conns {
		reset(c)
	}
	clear(l.conns)
}

func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

func (l *Link) close() error {
	err := l.listener.Close()
	l.Pass(0)
	l.Refuse()
	l.wait.Wait()
	return err
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		l.wait.Go(func() { l.serve(client) })
	}
}

func (l *Link) serve(client net.Conn) {
	if !l.keep(client) {
		return
	}
	server, err := net.DialTimeout("tcp", l.server, 5*time.Second)
	if err != nil || !l.keep(server) {
		reset(client)
		return
	}
	l.wait.Go(func() { l.copy(client, server, &l.back) })
	l.copy(server, client, &l.there)
}

// keep takes note of a connection, and resets it if the link refuses any.
func (l *Link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses {
		reset(c)
		return false
	}
	l.conns[c] = true
	return true
}

// copy passes bytes on until one of the connections is over.
func (l *Link) copy(to, from net.Conn, g *gate) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
	}()
	for b := make([]byte, 32*1024); ; {
		n, err := from.Read(b)
		if n > 0 {
			l.mu.Lock()
			open, delay := g.open, g.delay
			l.mu.Unlock()
			<-open
			time.Sleep(delay)
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
