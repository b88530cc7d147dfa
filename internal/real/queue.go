package real

import (
	"net"
	"sync"
)

// queue is what has arrived at one end of a connection and has not been passed on.
type queue struct {
	mu     sync.Mutex
	pieces [][]byte
	closed bool
	more   chan struct{} // has room for one: something has changed
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// fill reads from a connection until that is over, and returns why.
func (q *queue) fill(from net.Conn) error {
	for {
		b := make([]byte, 16*1024)
		n, err := from.Read(b)
		if n > 0 {
			q.mu.Lock()
			q.pieces = append(q.pieces, b[:n])
			q.mu.Unlock()
			q.tell()
		}
		if err != nil {
			return err
		}
	}
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.tell()
}

func (q *queue) tell() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take waits for the next piece; false if there will be none, or it is over before.
func (q *queue) take(over <-chan struct{}) ([]byte, bool) {
	for {
		q.mu.Lock()
		if len(q.pieces) > 0 {
			b := q.pieces[0]
			q.pieces = q.pieces[1:]
			q.mu.Unlock()
			return b, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return nil, false
		}
		select {
		case <-q.more:
		case <-over:
			return nil, false
		}
	}
}
