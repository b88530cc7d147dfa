package lease

import (
	"maps"
	"slices"
	"time"
)

// delay keeps a key from being acquired. Consul decides so on the leader, before the request enters the log
// (kvs_endpoint.go, kvsPreApply). Every server has the delay in memory, where it comes by applying the session's end
// (state/session.go, deleteSessionTxn; state/delay_oss.go), so that it survives a change of leader. A restarted
// server applies the entries that its log still has, and starts their delays again; delays whose entries were
// compacted into a snapshot are forgotten.
type delay struct {
	length   time.Duration
	until    int64 // on the monotonic clock
	revision int64 // at which the session ended
}

// delay keeps a key from others from now on.
func (s *Server) delay(name string, length time.Duration) {
	s.delays[name] = delay{length: length, until: s.node.Monotonic() + int64(length), revision: s.store.revision}
}

// delayed returns how long a key cannot be acquired yet.
func (s *Server) delayed(name string) time.Duration {
	return max(time.Duration(s.delays[name].until-s.node.Monotonic()), 0)
}

// replay is what a start does to the delays.
func (s *Server) replay() {
	for _, name := range slices.Sorted(maps.Keys(s.delays)) {
		d := s.delays[name]
		if d.revision <= s.compact {
			delete(s.delays, name)
			continue
		}
		d.until = s.node.Monotonic() + int64(d.length)
		s.delays[name] = d
	}
}

// Snapshot makes the servers take a snapshot of their state, which replaces the log.
func (s *Server) Snapshot() { s.compact = s.store.revision }

// acquire gives a lock to a session if it can be had at once. The lock-delay is looked at first (kvs_endpoint.go, kvsPreApply).
func (s *Server) acquire(r *Request) *Response {
	a := &Response{Request: r}
	if s.delayed(r.Key) > 0 {
		return a
	}
	if s.session(r.Session) == nil {
		a.Err = NoSession
		return a
	}
	a.Succeeded = s.store.acquire(r.Key, r.Value, r.Flags, r.Session)
	if k := s.store.keys[r.Key]; k != nil && a.Succeeded {
		a.Keys = []Key{*k}
	}
	return a
}

// release takes a lock from a session, which also withdraws what it still asks for. There is no lock-delay.
func (s *Server) release(r *Request) *Response {
	for _, c := range s.waiting[r.Key] {
		if c.request.Op == Acquire && c.request.Session == r.Session {
			c.finish()
		}
	}
	released := s.store.release(r.Key, r.Session)
	if released && r.Op == KVRelease { // it writes the key, too (state/kvs.go, kvsUnlockTxn)
		k := s.store.keys[r.Key]
		k.Value, k.Flags = r.Value, r.Flags
	}
	return &Response{Request: r, Succeeded: released}
}
