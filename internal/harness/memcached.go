package harness

import (
	"cmp"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/memcached"
	"github.com/locksim/locksim/trace"
)

// memcachedService is one memcached server.
type memcachedService struct {
	plain
	key    string // of the lock
	server *memcached.Server
}

func newMemcachedService(w *world) *memcachedService {
	name := w.plan.Case.Scenario.Servers.Names()[0]
	key := w.plan.key
	s := &memcachedService{key: key, server: memcached.New(&memcachedTruth{record.NewSuccession(w.truth), key})}
	s.node = w.engine.AddServer(name, s.server)
	s.server.Attach(s.node, w.engine.Rand("began", name))
	return s
}

// command evicts an item.
func (s *memcachedService) command(n *sim.Node, a *sim.Action) bool {
	return n == s.node && a.Kind == sim.Evict && s.server.Evict(cmp.Or(a.Key, s.key))
}

func (s *memcachedService) errorReply(request sim.Payload, text string) sim.Payload {
	return memcached.ErrorResponse(request, text)
}

// memcachedClients is a task's client of the server.
type memcachedClients struct {
	none
	process *process
	server  *sim.Node
}

func (s *memcachedService) clients(p *process) locks.Services {
	return &memcachedClients{none: none{"memcached"}, process: p, server: s.node}
}

// Memcached returns the client.
func (c *memcachedClients) Memcached() locks.Memcached { return c }

// Add stores an item unless there is one.
func (c *memcachedClients) Add(timeout time.Duration, key, value string, exptime int64) (bool, error) {
	a, err := c.do(timeout, &memcached.Request{
		Op: memcached.Add, Key: key, Value: value, Exptime: exptime, Purpose: acquire,
	})
	return a.Result == memcached.Stored, err
}

// Set stores an item.
func (c *memcachedClients) Set(timeout time.Duration, key, value string, exptime int64) error {
	_, err := c.do(timeout, &memcached.Request{
		Op: memcached.Set, Key: key, Value: value, Exptime: exptime, Purpose: acquire,
	})
	return err
}

// Gets returns an item with its CAS id.
func (c *memcachedClients) Gets(timeout time.Duration, key string) (locks.MemcachedItem, bool, error) {
	a, err := c.do(timeout, &memcached.Request{Op: memcached.Gets, Key: key, Purpose: look})
	return locks.MemcachedItem{Key: key, Value: a.Value, CAS: a.CAS}, a.Result == memcached.Hit, err
}

// CompareAndSwap replaces an item's value. Storing an item that has already expired is a release.
func (c *memcachedClients) CompareAndSwap(
	timeout time.Duration, item locks.MemcachedItem, value string, exptime int64,
) (bool, error) {
	r := &memcached.Request{
		Op: memcached.CAS, Key: item.Key, Value: value, Exptime: exptime, CAS: item.CAS, Purpose: acquire,
	}
	if exptime < 0 {
		r.Purpose = release
	}
	a, err := c.do(timeout, r)
	return a.Result == memcached.Stored, err
}

// Touch changes the expiry of an item.
func (c *memcachedClients) Touch(timeout time.Duration, key string, exptime int64) (bool, error) {
	a, err := c.do(timeout, &memcached.Request{Op: memcached.Touch, Key: key, Exptime: exptime, Purpose: renew})
	return a.Result == memcached.Touched, err
}

// Delete removes an item.
func (c *memcachedClients) Delete(timeout time.Duration, key string) (bool, error) {
	a, err := c.do(timeout, &memcached.Request{Op: memcached.Delete, Key: key, Purpose: release})
	return a.Result == memcached.Deleted, err
}

// do sends a command on an idle connection of the process, or on a new one.
func (c *memcachedClients) do(timeout time.Duration, r *memcached.Request) (memcached.Response, error) {
	p := c.process
	began := p.Monotonic()
	l, err := c.connection(timeout)
	if err != nil {
		return memcached.Response{}, err
	}
	r.Origin = p.origin()
	if timeout > 0 {
		timeout = max(timeout-p.Monotonic().Sub(began), 1)
	}
	answer, err := l.call(p.task, r, timeout)
	if err != nil {
		return memcached.Response{}, err
	}
	idle, _ := p.shared.clients.([]*line)
	p.shared.clients = append(idle, l)
	a := answer.(*memcached.Response)
	if a.Result == memcached.Failed {
		return memcached.Response{}, &locks.MemcachedError{Text: a.Value}
	}
	return *a, nil
}

func (c *memcachedClients) connection(timeout time.Duration) (*line, error) {
	idle, _ := c.process.shared.clients.([]*line)
	for n := len(idle); n > 0; n = len(idle) {
		l := idle[n-1]
		idle = idle[:n-1]
		c.process.shared.clients = idle
		if !l.over {
			return l, nil
		}
	}
	return openLine(c.process.task, c.server, timeout)
}

// memcachedTruth observes a memcached server: the client that makes the lock's item holds the lock.
type memcachedTruth struct {
	*record.Succession
	key string
}

// Executed sees a request's change of the lock's item.
func (t *memcachedTruth) Executed(
	s *memcached.Server, r *memcached.Request, a *memcached.Response, c memcached.Change,
) {
	if r.Key != t.key {
		return
	}
	node := s.Node().Name
	took := c == memcached.Made || c == memcached.Replaced && r.Purpose != renew
	switch {
	case took:
		t.Took(node, r.Origin, t.promised(r))
		t.end(s)
	case c == memcached.Prolonged || c == memcached.Replaced:
		t.Prolonged(node, r.Origin, t.promised(r))
		t.end(s)
	case c == memcached.Removed:
		t.Released(node, r.Origin, t.Holder())
	case r.Purpose == release:
		t.Released(node, r.Origin, 0)
	}
	if took || r.Asking && r.Purpose == acquire {
		t.Asked(node, r.Origin, took)
	}
}

// promised is until when an item is promised: as long as was asked for, though it ends up to a second earlier.
func (t *memcachedTruth) promised(r *memcached.Request) trace.Instant {
	if r.Exptime == 0 {
		return trace.Never
	}
	return t.Now().Add(time.Duration(r.Exptime) * time.Second)
}

// end notes when the server will really let the item go.
func (t *memcachedTruth) end(s *memcached.Server) {
	if end, there := s.Life(t.key); there {
		t.Expires(end)
	}
}

// Gone sees the item end without a request. The grant continues, as promised.
func (t *memcachedTruth) Gone(_ *memcached.Server, key string, c memcached.Change) {
	if key == t.key {
		t.Forgot(map[memcached.Change]history.Gone{
			memcached.Expired: history.Expired, memcached.Evicted: history.Evicted, memcached.Lost: history.Wiped,
		}[c])
	}
}
