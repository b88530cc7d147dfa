package lease

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Etcd is etcd 3: leases in whole seconds, of at least one and a half election time-outs (etcdserver/server.go,
// minTTL), which the leader alone counts down on its monotonic clock and looks through every half second
// (lease/lessor.go, runLoop). A new leader gives every lease its whole TTL and an election time-out more
// (lessor.Promote). Checkpoints, which may record less, are not simulated: they are off by default, and taken only
// every five minutes.
func Etcd() Dialect {
	return Dialect{
		Name:     "etcd",
		MinTTL:   2 * time.Second,
		MaxTTL:   9_000_000_000 * time.Second,
		Unit:     time.Second,
		Lives:    1,
		Scan:     500 * time.Millisecond,
		Revision: 1, // mvcc/kvstore.go, NewStore
		Deletes:  true,
		Keeps:    true,
		Election: time.Second,
		Extend:   time.Second,
	}
}

// txn carries out one of two lists of operations, at one revision.
func (s *Server) txn(r *Request, a *Response) {
	if r.Etcd != nil {
		s.txn3(r, a)
		return
	}
	a.Succeeded = !slices.ContainsFunc(r.If, func(c Compare) bool { return s.store.created(c.Key) != c.Create })
	ops := r.Then
	if !a.Succeeded {
		ops = r.Else
	}
	for i := range ops {
		if ops[i].Op == Put && !s.mayPut(&ops[i]) { // all or nothing (apply.go, checkRequests)
			a.Err = NoSession
			return
		}
	}
	a.Results = make([]Response, len(ops))
	for i := range ops {
		a.Results[i] = Response{Request: &ops[i]}
		s.operate(&ops[i], &a.Results[i])
	}
}

// operate carries out an operation that may stand alone or in a Txn.
func (s *Server) operate(r *Request, a *Response) {
	if r.Etcd != nil {
		s.operate3(r, a)
		return
	}
	switch r.Op {
	case Range:
		a.Keys = s.store.find(r)
	case Put:
		if !s.mayPut(r) {
			a.Err = NoSession
			return
		}
		s.store.put(r.Key, r.Value, r.Session)
	case DeleteRange:
		a.Succeeded = s.store.remove(r.Key)
	default:
		a.Err = noOperation
	}
	a.Revision = s.store.revision
}

// mayPut reports whether the lease with which a key is to end is there.
func (s *Server) mayPut(r *Request) bool { return r.Session == 0 || s.session(r.Session) != nil }

// watch answers when the key has been deleted, or has been since the revision; 0 is the next. That is all a mutex waits for
// (client/v3/concurrency/key.go, waitDelete), which then ends the watch.
func (s *Server) watch(c *call) *Response {
	if c.request.Etcd != nil {
		return s.stream(c)
	}
	if c.from == 0 {
		c.from = cmp.Or(c.request.Revision, s.store.revision+1)
	}
	if s.store.deleted[c.request.Key] < c.from {
		s.awaitKey(c)
		return nil
	}
	return &Response{Request: c.request, Succeeded: true}
}

// find returns the keys that a Range asks for.
func (t *store) find(r *Request) []Key {
	if !r.Prefix {
		if k := t.keys[r.Key]; k != nil {
			return []Key{*k}
		}
		return nil
	}
	matches := func(k *Key) bool {
		return strings.HasPrefix(k.Name, r.Key) && (r.MaxCreate == 0 || k.Create <= r.MaxCreate)
	}
	var found []Key
	switch r.Order {
	case LastCreated:
		for _, k := range slices.Backward(t.order) {
			if matches(k) {
				return []Key{*k}
			}
		}
	default:
		for _, k := range t.order {
			if !matches(k) {
				continue
			}
			if found = append(found, *k); r.Order == FirstCreated {
				break
			}
		}
	}
	return found
}
