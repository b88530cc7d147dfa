package servers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/memcached"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// TestWhatIsStoredTellsWhatARequestIsFor: clients of memcached do not say so.
func TestWhatIsStoredTellsWhatARequestIsFor(t *testing.T) {
	e := sim.New(sim.Config{Seed: 1, Until: trace.Never, Latency: sim.Constant(0)}, nil)
	s := &service{server: memcached.New(nil)}
	s.server.Attach(e.AddServer("memcached-1", s.server), e.Rand("began"))
	for _, x := range []struct {
		request memcached.Request
		purpose string
	}{
		{memcached.Request{Op: memcached.Add, Value: "a", Exptime: 10}, trace.ToAcquire},
		{memcached.Request{Op: memcached.Get}, trace.ToLook},
		{memcached.Request{Op: memcached.Set, Value: "a", Exptime: 10}, trace.ToRenew},
		{memcached.Request{Op: memcached.CAS, Value: "a", Exptime: 2, CAS: 2}, trace.ToRenew},
		{memcached.Request{Op: memcached.Touch, Exptime: 10}, trace.ToRenew},
		{memcached.Request{Op: memcached.Replace, Value: "b", Exptime: 10}, trace.ToAcquire},
		{memcached.Request{Op: memcached.CAS, Exptime: -1, CAS: 3}, trace.ToRelease},
		{memcached.Request{Op: memcached.Delete}, trace.ToRelease},
		{memcached.Request{Op: memcached.Incr}, ""},
	} {
		r := x.request
		r.Key = "lock"
		s.Stamp(&r, sim.Origin{Client: "a", Asking: true})
		require.Equal(t, x.purpose, r.Purpose, r.String())
		require.Equal(t, "a", r.Client)
		require.Equal(t, r.Purpose != "", r.Asking, "what is no request for the lock asks for none")
		s.server.Execute(nil, &r)
	}
}
