package lease

import "time"

// Consul is Consul's KV store with sessions: the leader ends a session after twice its TTL (session_ttl.go,
// SessionTTLMultiplier), and restarts the count when the session is renewed and when there is a new leader. Keys
// that a session held when it ended, for any reason, cannot be acquired for the lock-delay.
func Consul() Dialect {
	return Dialect{
		Name:         "consul",
		TTL:          15 * time.Second, // of api.Lock: Consul itself has sessions without one, which are left out
		MinTTL:       10 * time.Second,
		MaxTTL:       24 * time.Hour,
		Strict:       true,
		Unit:         1,
		Lives:        2,
		LockDelay:    15 * time.Second,
		MaxLockDelay: time.Minute,
		DelayOnEnd:   true,
		Election:     time.Second,
	}
}

const (
	defaultQueryTime = 5 * time.Minute  // rpc.go, defaultQueryTime
	maxQueryTime     = 10 * time.Minute // rpc.go, maxQueryTime
	jitterFraction   = 16               // rpc.go, jitterFraction
)

// kvGet reads a key; as a blocking query it waits until the key has changed since an index, or its time is over
// (kvs_endpoint.go, Get; rpc.go, blockingQuery).
func (s *Server) kvGet(c *call) *Response {
	r := c.request
	a := &Response{Request: r, Revision: max(s.store.revision, 1)}
	if k := s.store.keys[r.Key]; k != nil {
		a.Keys, a.Revision = []Key{*k}, k.Mod
	}
	if r.Index == 0 || a.Revision > r.Index || c.late {
		return a
	}
	if !c.timed() {
		wait := r.Wait
		if wait <= 0 {
			wait = defaultQueryTime
		}
		wait = min(wait, maxQueryTime)
		c.ringAfter(wait + time.Duration(s.jitter.Int64N(int64(wait/jitterFraction)+1)))
	}
	s.awaitKey(c)
	return nil
}
