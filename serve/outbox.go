package serve

import (
	"net"
	"sync"
)

// outbox is what is to be sent to a client, which may read as slowly as it likes: the loop never waits for it.
type outbox struct {
	conn  net.Conn
	mu    sync.Mutex
	some  sync.Cond
	bytes []byte
	ended bool
}

func newOutbox(c net.Conn) *outbox {
	o := &outbox{conn: c}
	o.some.L = &o.mu
	return o
}

// add has bytes sent.
func (o *outbox) add(bytes []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes = append(o.bytes, bytes...)
	o.some.Signal()
}

// end closes the connection when all has been sent.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.some.Signal()
}

// write sends until the end.
func (o *outbox) write() {
	defer func() { _ = o.conn.Close() }()
	for {
		o.mu.Lock()
		for len(o.bytes) == 0 && !o.ended {
			o.some.Wait()
		}
		bytes := o.bytes
		o.bytes = nil
		o.mu.Unlock()
		if len(bytes) == 0 {
			return
		}
		if _, err := o.conn.Write(bytes); err != nil {
			return
		}
	}
}
