package servers

import (
	"github.com/locksim/locksim/internal/sim/memcached"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// clientPort is that of the text protocol.
const clientPort = 11211

// Talk begins a conversation in the text protocol.
func (*service) Talk(*sim.Node) wire.Conversation { return wire.Memcached() }

// Stamp sets the origin of a request, and what it is for: who stores what is there already renews, and what is over at once is a
// release.
func (s *service) Stamp(request sim.Payload, from sim.Origin) {
	r := request.(*memcached.Request)
	r.Origin = from
	switch r.Op {
	case memcached.Add:
		r.Purpose = trace.ToAcquire
	case memcached.Set, memcached.CAS, memcached.Replace:
		value, there := s.server.Value(r.Key)
		switch {
		case r.Exptime < 0:
			r.Purpose = trace.ToRelease
		case there && value == r.Value:
			r.Purpose = trace.ToRenew
		default:
			r.Purpose = trace.ToAcquire
		}
	case memcached.Touch:
		r.Purpose = trace.ToRenew
	case memcached.Delete:
		r.Purpose = trace.ToRelease
	case memcached.Get, memcached.Gets:
		r.Purpose = trace.ToLook
	default: // a counter beside the lock, or what no server has to be asked
		r.Asking = false
	}
}
