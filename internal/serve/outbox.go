package serve

import (
	"fmt"
	"net"
	"sync"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/trace"
)

// outbox holds what is to be sent to a client, which may read as slowly as it likes: the loop never waits for it. A client that
// leaves more unread than its limit is disconnected, and what it has not read is dropped.
type outbox struct {
	conn net.Conn

	mu      sync.Mutex
	some    sync.Cond
	bytes   []byte
	unread  int // how many bytes are in the box, or on their way into the socket
	ended   bool
	dropped bool
	soft    trace.Instant // since when there have been more than the soft limit; 0: there are not
}

func newOutbox(c net.Conn) *outbox {
	o := &outbox{conn: c}
	o.some.L = &o.mu
	return o
}

// add has bytes sent. If the client has left too much unread it is disconnected instead, and add says which limit it exceeded.
func (o *outbox) add(bytes []byte, limit redis.OutputLimit, now trace.Instant) (exceeded string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dropped {
		return ""
	}
	o.unread += len(bytes)
	if exceeded = o.exceeds(limit, now); exceeded != "" {
		o.bytes, o.dropped, o.ended = nil, true, true
		_ = o.conn.Close()
	} else {
		o.bytes = append(o.bytes, bytes...)
	}
	o.some.Signal()
	return exceeded
}

// exceeds is checkClientOutputBufferLimits of Redis's networking.c.
func (o *outbox) exceeds(limit redis.OutputLimit, now trace.Instant) string {
	if limit.Soft == 0 || o.unread <= limit.Soft {
		o.soft = 0
	} else if o.soft == 0 {
		o.soft = now
	}
	switch {
	case limit.Hard > 0 && o.unread > limit.Hard:
		return fmt.Sprintf("%d bytes of replies are unread: %s", o.unread, limit.Name)
	case o.soft != 0 && now.Sub(o.soft) > limit.SoftFor:
		return fmt.Sprintf("%d bytes of replies have been unread for more than %s: %s", o.unread, limit.SoftFor, limit.Name)
	}
	return ""
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
		o.mu.Lock()
		o.unread -= len(bytes)
		o.mu.Unlock()
	}
}
