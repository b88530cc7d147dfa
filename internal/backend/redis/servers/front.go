package servers

import (
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

// Port is that of a client's connection.
func (*service) Port() int { return 6379 }

// Shared reports whether one address leads to the master of servers that replicate each other.
func (s *service) Shared() bool { return !s.independent() }

// Talk begins a conversation in RESP.
func (s *service) Talk(*sim.Node) wire.Conversation { return wire.Redis(s.purposes.Of) }

// Stamp sets the origin of a request. What a library asks on its own account asks for no lock.
func (*service) Stamp(request sim.Payload, from sim.Origin) {
	r := request.(*redis.Request)
	r.Origin = from
	r.Asking = r.Asking && r.Purpose != ""
}
