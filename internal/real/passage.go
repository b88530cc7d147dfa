package real

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// Loss says which bytes are lost with a broken connection.
type Loss uint8

// The losses.
const (
	LoseNothing  Loss = iota // bytes that were sent still arrive
	LoseRequests             // bytes on their way to the server are lost
	LoseReplies              // the server receives; its answers are lost
)

// Passage is one connection through a link.
type Passage struct {
	link           *Link
	client, server net.Conn
	unborn         bool // it was opened while requests were held: it is to be given up with its client
	over           chan struct{}
	once           sync.Once

	mu   sync.Mutex // also of writing
	lost [2]bool    // requests, replies: they go nowhere
}

var errLost = errors.New("real: the connection is broken")

// reached takes note of the connection to the server; false if there is no more use for it.
func (p *Passage) reached(server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = server
	select {
	case <-p.over:
		reset(server)
		return false
	default:
		return true
	}
}

// end ends the connection at once, at both ends.
func (p *Passage) end() {
	p.once.Do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(p.over)
		_ = p.client.Close()
		if p.server != nil {
			_ = p.server.Close()
		}
	})
}

// Break ends the connection at the client's end. Bytes that were sent before still arrive, unless lose drops
// them.
func (p *Passage) Break(byReset bool, lose Loss) {
	p.mu.Lock()
	p.lost[1] = true // nobody is there to read it
	p.lost[0] = p.lost[0] || lose == LoseRequests
	server := p.server
	p.mu.Unlock()
	if byReset {
		reset(p.client)
	} else {
		_ = p.client.Close()
	}
	if server == nil || lose == LoseRequests {
		p.end()
	}
}

// Answer writes bytes to the client that do not come from the server.
func (p *Passage) Answer(b []byte) error { return p.write(p.client, 1, b) }

// Over is closed when the connection has ended at both ends.
func (p *Passage) Over() <-chan struct{} { return p.over }

// run carries what is sent, until both ends are done.
func (p *Passage) run() {
	requests, replies := Filter(nil), Filter(nil)
	if p.link.config.Tap != nil {
		requests, replies = p.link.config.Tap(p)
	}
	var both sync.WaitGroup
	both.Go(func() {
		_ = p.carry(p.client, Way{p, 0, p.server}, requests)
		p.requestsEnd()
	})
	both.Go(func() {
		err := p.carry(p.server, Way{p, 1, p.client}, replies)
		p.repliesEnd(err)
	})
	both.Wait()
}

// requestsEnd tells the server that the client has closed the connection, unless its machine was switched off.
func (p *Passage) requestsEnd() {
	p.link.mu.Lock()
	deserted := p.link.deserted[0]
	p.link.mu.Unlock()
	if deserted {
		return
	}
	if tcp, ok := p.server.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

// repliesEnd tells the client that the server's end is gone; if its machine went off, when that is on again.
func (p *Passage) repliesEnd(err error) {
	p.link.mu.Lock()
	deserted, revived := p.link.deserted[1], p.link.revived
	p.link.mu.Unlock()
	if deserted {
		select {
		case <-revived:
			reset(p.client)
		case <-p.over:
		}
	}
	if errors.Is(err, syscall.ECONNRESET) {
		reset(p.client)
	}
	p.end()
}

// carry passes on the bytes from one end until that is closed. Bytes that have been read wait behind held ones.
func (p *Passage) carry(from net.Conn, way Way, filter Filter) error {
	if filter == nil {
		filter = passAll
	}
	queue := newQueue()
	var reading error
	read := make(chan struct{})
	go func() {
		defer close(read)
		reading = queue.fill(from)
		queue.close()
	}()
	var err error
	for {
		b, ok := queue.take(p.over)
		if !ok {
			break
		}
		if err = filter(b, way); err != nil {
			break
		}
	}
	if err != nil && way.direction == 1 {
		// The client reads no more. The server's remaining bytes are read and discarded, so that the server's end is
		// not reset before it has read the bytes that were sent to it.
		err = nil
		for ok := true; ok; {
			_, ok = queue.take(p.over)
		}
	}
	select {
	case <-read:
		return errors.Join(err, reading)
	default:
		return err
	}
}

func passAll(arrived []byte, way Way) error {
	if err := way.Travel(); err != nil {
		return err
	}
	return way.Deliver(arrived)
}

// write writes to one end, unless that direction is lost.
func (p *Passage) write(to net.Conn, direction int, b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost[direction] || direction == 0 && p.unborn && hasClosed(p.client) {
		return errLost
	}
	p.unborn = false
	_, err := to.Write(b)
	return err
}
