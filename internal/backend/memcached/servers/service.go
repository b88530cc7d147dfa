// Package servers simulates a memcached server in a run.
package servers

import (
	"cmp"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/memcached"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// service is one memcached server.
type service struct {
	simulated.One
	key      string // of the lock
	server   *memcached.Server
	recorder *record.Recorder
}

// Build builds the server.
func Build(w simulated.World) simulated.Service {
	name, key := w.Scenario().Servers.Names()[0], w.Keys()[0]
	s := &service{key: key, server: memcached.New(newTruth(w)), recorder: w.Recorder()}
	s.Node, s.Port = w.Engine().AddServer(name, s.server), clientPort
	s.server.Attach(s.Node, w.Engine().Rand("began", name))
	return s
}

// Command evicts an item.
func (s *service) Command(n *sim.Node, a *sim.Action) bool {
	return n == s.Node && a.Kind == sim.Evict && s.server.Evict(cmp.Or(a.Key, s.key))
}

// ErrorReply answers a request with an error.
func (s *service) ErrorReply(request sim.Payload, text string) sim.Payload {
	return memcached.ErrorResponse(request, text)
}

// clients is a task's client of the server.
type clients struct {
	simulated.None
	server   *sim.Node
	recorder *record.Recorder
}

// Clients makes a task's clients of the servers.
func (s *service) Clients(p simulated.Process) locks.Services {
	return &clients{None: simulated.None{Process: p}, server: s.Node, recorder: s.recorder}
}

// Memcached returns the client.
func (c *clients) Memcached() locks.Memcached { return c }

// Add stores an item unless there is one.
func (c *clients) Add(timeout time.Duration, key, value string, exptime int64) (bool, error) {
	a, err := c.do(timeout, &memcached.Request{
		Op: memcached.Add, Key: key, Value: value, Exptime: exptime, Purpose: trace.ToAcquire,
	})
	return a.Result == memcached.Stored, err
}

// Set stores an item.
func (c *clients) Set(timeout time.Duration, key, value string, exptime int64) error {
	_, err := c.do(timeout, &memcached.Request{
		Op: memcached.Set, Key: key, Value: value, Exptime: exptime, Purpose: trace.ToAcquire,
	})
	return err
}

// Gets returns an item with its CAS id.
func (c *clients) Gets(timeout time.Duration, key string) (locks.MemcachedItem, bool, error) {
	a, err := c.do(timeout, &memcached.Request{Op: memcached.Gets, Key: key, Purpose: trace.ToLook})
	return locks.MemcachedItem{Key: key, Value: a.Value, CAS: a.CAS}, a.Result == memcached.Hit, err
}

// CompareAndSwap replaces an item's value. Storing an item that has already expired is a release.
func (c *clients) CompareAndSwap(
	timeout time.Duration, item locks.MemcachedItem, value string, exptime int64,
) (bool, error) {
	r := &memcached.Request{
		Op: memcached.CAS, Key: item.Key, Value: value, Exptime: exptime, CAS: item.CAS, Purpose: trace.ToAcquire,
	}
	if exptime < 0 {
		r.Purpose = trace.ToRelease
	}
	a, err := c.do(timeout, r)
	return a.Result == memcached.Stored, err
}

// Touch changes the expiry of an item.
func (c *clients) Touch(timeout time.Duration, key string, exptime int64) (bool, error) {
	a, err := c.do(timeout, &memcached.Request{Op: memcached.Touch, Key: key, Exptime: exptime, Purpose: trace.ToRenew})
	return a.Result == memcached.Touched, err
}

// Delete removes an item.
func (c *clients) Delete(timeout time.Duration, key string) (bool, error) {
	a, err := c.do(timeout, &memcached.Request{Op: memcached.Delete, Key: key, Purpose: trace.ToRelease})
	return a.Result == memcached.Deleted, err
}

// do sends a command on an idle connection of the process, or on a new one.
func (c *clients) do(timeout time.Duration, r *memcached.Request) (memcached.Response, error) {
	answer, err := simulated.Pooled(c.Process, c.server, timeout, func(turn uint64) sim.Payload {
		r.Origin = c.Process.Origin()
		r.Sent = turn
		if stores := r.Op == memcached.Set || r.Op == memcached.CAS; stores && r.Purpose == trace.ToAcquire && c.holds(r) {
			r.Purpose = trace.ToRenew
		}
		return r
	})
	if err != nil {
		return memcached.Response{}, err
	}
	a := answer.(*memcached.Response)
	if a.Result == memcached.Failed {
		return memcached.Response{}, &locks.MemcachedError{Text: a.Value}
	}
	return *a, nil
}

// holds reports whether a request belongs to an acquisition that was successful and is not being released.
func (c *clients) holds(r *memcached.Request) bool {
	a := c.recorder.Acquisition(history.ID(r.Tag))
	return a != nil && a.Outcome == history.OK && a.Unlocked == trace.Never
}

// truth observes a memcached server: the client that makes the lock's item holds the lock.
type truth struct {
	*record.Succession
	key  string
	ends bool // the item that is there was put with an end
}

// newTruth returns the observer of all locks.
func newTruth(w simulated.World) memcached.Observer {
	var all truths
	for _, l := range w.Locks() {
		all = append(all, &truth{Succession: record.NewSuccession(w.Recorder().Truth), key: l.Keys[0]})
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// Executed sees a request's change of the lock's item.
func (t *truth) Executed(
	s *memcached.Server, r *memcached.Request, a *memcached.Response, c memcached.Change,
) {
	if r.Key != t.key {
		return
	}
	node, own := s.Node().Name, history.ID(r.Tag)
	by := t.Acquisition(own)
	rewrites := c == memcached.Replaced && r.Purpose == trace.ToRenew // its own item, as long as that was there
	unlocked := by != nil && by.Unlocked <= t.Now()
	// What it puts in the place of the item says that the lock is free, after Unlock and in the clean-up of a try: that has no end.
	leaves := unlocked && !rewrites || t.Holder() == own && t.ends && r.Exptime == 0
	claims := c == memcached.Replaced && (!rewrites || t.Holder() != own)
	took := c == memcached.Made && !(r.Leaving && unlocked) || claims && !leaves
	switch {
	case claims && leaves:
		t.Released(node, r.Origin, t.Holder())
	case took:
		t.Took(node, r.Origin, t.promised(r))
		t.end(s)
	case c == memcached.Prolonged || c == memcached.Replaced:
		t.Prolonged(node, r.Origin, t.promised(r))
		t.end(s)
		if unlocked && t.Holder() == own { // the rest is what it needs to delete safely
			t.EndGrants(own, r.Sent, history.ByUnlock)
		}
	case c == memcached.Removed:
		t.Released(node, r.Origin, t.Holder())
	case r.Purpose == trace.ToRelease:
		t.Released(node, r.Origin, 0)
	}
	if c == memcached.Made || c == memcached.Replaced || c == memcached.Prolonged {
		t.ends = r.Exptime != 0
	}
	if took || r.Asking && r.Purpose == trace.ToAcquire {
		t.Asked(node, r.Origin, took)
	}
}

// promised is until when an item is promised: as long as was asked for, though it ends up to a second earlier.
func (t *truth) promised(r *memcached.Request) trace.Instant {
	if r.Exptime == 0 {
		return trace.Never
	}
	return t.Now().Add(time.Duration(r.Exptime) * time.Second)
}

// end notes when the server will really let the item go.
func (t *truth) end(s *memcached.Server) {
	if end, there := s.Life(t.key); there {
		t.Expires(end)
	}
}

// Gone sees the item end without a request. The grant continues, as promised.
func (t *truth) Gone(_ *memcached.Server, key string, c memcached.Change) {
	if key == t.key {
		t.Forgot(map[memcached.Change]history.Gone{
			memcached.Expired: history.Expired, memcached.Evicted: history.Evicted, memcached.Lost: history.Wiped,
		}[c])
	}
}
