package servers

import (
	"slices"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

// Port is that of a client's connection.
func (*service) Port() int { return 6379 }

// Addressed returns independent servers; else the master, or the first server while there is none.
func (s *service) Addressed() []*sim.Node {
	if s.independent() {
		return s.nodes
	}
	master := s.Role("master")
	i := slices.IndexFunc(s.nodes, func(n *sim.Node) bool { return n.Name == master })
	return s.nodes[max(i, 0):][:1]
}

// Talk begins a conversation in RESP.
func (s *service) Talk(*sim.Node) wire.Conversation { return wire.Redis(s.purposes.Of) }

// Stamp sets the origin of a request. What a library asks on its own account asks for no lock.
func (*service) Stamp(request sim.Payload, from sim.Origin) {
	r := request.(*redis.Request)
	r.Origin = from
	r.Asking = r.Asking && r.Purpose != ""
}
