package servers

import (
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// consulService is a Consul datacenter, which programs can talk to by HTTP.
type consulService struct{ *service }

// consulPort is that of an agent's HTTP API.
const consulPort = 8500

// Talk begins a conversation in Consul's HTTP API.
func (*consulService) Talk(*sim.Node) wire.Conversation { return wire.Consul() }

// Stamp sets the origin of a request, and what it is for, which its operation says.
func (*consulService) Stamp(request sim.Payload, from sim.Origin) {
	r := request.(*lease.Request)
	r.Origin = from
	switch r.Op {
	case lease.KVAcquire:
		r.Purpose = trace.ToAcquire
	case lease.KVRelease:
		r.Purpose = trace.ToRelease
	case lease.SessionRenew:
		r.Purpose = trace.ToRenew
	case lease.KVGet:
		r.Purpose = trace.ToLook
	default:
	}
}
