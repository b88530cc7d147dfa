package servers

import "github.com/locksim/locksim/internal/sim/memcached"

// truths observes several locks, each by itself.
type truths []*truth

// Executed lets each see a request.
func (all truths) Executed(s *memcached.Server, r *memcached.Request, a *memcached.Response, c memcached.Change) {
	for _, t := range all {
		t.Executed(s, r, a, c)
	}
}

// Gone lets each see an item end.
func (all truths) Gone(s *memcached.Server, key string, c memcached.Change) {
	for _, t := range all {
		t.Gone(s, key, c)
	}
}
