package servers

import (
	"slices"
	"strconv"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/redis/sentinel"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// The ports of servers and Sentinels.
const (
	redisPort    = 6379
	sentinelPort = 26379
)

// Entrance is the Sentinels, or the nodes of a cluster, for a client that finds the master with them; they tell of each other
// by their names. For others it is independent servers, or one address: operators give a library that knows one only an
// address that leads to the master, or to the first server while there is none.
func (s *service) Entrance(a *locks.Algorithm) simulated.Entrance {
	switch {
	case a.Sentinel && len(s.sentinels) > 0:
		e := byName(s.sentinelNodes(), sentinelPort)
		e.Sentinel = sentinel.MasterName
		return e
	case a.Cluster && s.deployed.Cluster:
		e := byName(s.nodes, redisPort)
		e.Cluster = true
		return e
	case s.independent():
		return simulated.Numbered(s.nodes, redisPort)
	}
	master := s.Role("master")
	i := slices.IndexFunc(s.nodes, func(n *sim.Node) bool { return n.Name == master })
	return simulated.Numbered(s.nodes[max(i, 0):][:1], redisPort)
}

// byName is an entrance at which each node goes by its name.
func byName(nodes []*sim.Node, port int) simulated.Entrance {
	e := simulated.Entrance{Nodes: nodes}
	for _, n := range nodes {
		e.Addresses = append(e.Addresses, address(n, port))
	}
	return e
}

func address(n *sim.Node, port int) string { return n.Name + ":" + strconv.Itoa(port) }

func (s *service) sentinelNodes() (nodes []*sim.Node) {
	for _, one := range s.sentinels {
		nodes = append(nodes, one.Node())
	}
	return nodes
}

// Told is the servers and the Sentinels, by their names.
func (s *service) Told() simulated.Entrance {
	e, more := byName(s.nodes, redisPort), byName(s.sentinelNodes(), sentinelPort)
	e.Addresses, e.Nodes = append(e.Addresses, more.Addresses...), append(slices.Clone(e.Nodes), more.Nodes...)
	return e
}

// Connects reports whether a command is one by which a client library sets its connection up.
func (*service) Connects(request sim.Payload) bool {
	r, ok := request.(*redis.Request)
	return ok && slices.Contains([]string{"HELLO", "AUTH", "CLIENT", "SELECT", "PING"}, r.Command)
}

// Talk begins a conversation in RESP.
func (s *service) Talk(*sim.Node) wire.Conversation { return wire.Redis(s.purposes.Of) }

// Stamp sets the origin of a request. What a library asks on its own account asks for no lock.
func (*service) Stamp(request sim.Payload, from sim.Origin) {
	r := request.(*redis.Request)
	r.Origin = from
	r.Asking = r.Asking && r.Purpose != ""
}
