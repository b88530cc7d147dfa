package servers

import (
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// clientPort is that of a client's connection.
const clientPort = 2181

// Entrance is all servers.
func (s *service) Entrance(*locks.Algorithm) simulated.Entrance {
	return simulated.Numbered(s.Servers(), clientPort)
}

// Told is empty: servers tell clients of no addresses.
func (*service) Told() simulated.Entrance { return simulated.Entrance{} }

// Talk begins a conversation in the protocol of jute.
func (s *service) Talk(client *sim.Node) wire.Conversation {
	return introduced{wire.ZooKeeper(), s, client}
}

// Stamp sets the origin and the purpose of a request.
func (*service) Stamp(request sim.Payload, from sim.Origin) {
	r := request.(*zookeeper.Request)
	r.Origin, r.Purpose = from, purposeOf(r)
}

// purposeOf is what a request is for, by what it does.
func purposeOf(r *zookeeper.Request) string {
	switch {
	case r.Op == zookeeper.Create && r.Ephemeral:
		return trace.ToAcquire
	case r.Op == zookeeper.Delete:
		return trace.ToRelease
	case r.Op == zookeeper.GetData, r.Op == zookeeper.GetChildren, r.Op == zookeeper.Exists, r.Op == zookeeper.Sync:
		return trace.ToLook
	default:
		return ""
	}
}

// introduced is a conversation with an ensemble that learns which session its process has, for a fault that ends it.
type introduced struct {
	wire.Conversation
	service *service
	client  *sim.Node
}

// Append encodes an answer.
func (i introduced) Append(dst []byte, p sim.Payload) []byte {
	if a, ok := p.(*zookeeper.Response); ok && a.Request.Op == zookeeper.Connect && a.Session != 0 {
		i.service.sessions[i.client] = func() zookeeper.SessionID { return a.Session }
	}
	return i.Conversation.Append(dst, p)
}
