package cluster

import (
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// peer is what a node keeps of another beside its part in the cluster.
type peer struct {
	n      *Node
	place  int
	node   *sim.Node
	server *redis.Server

	conn  *sim.Conn     // the node's own to it; nil if there is none
	since time.Duration // opened
	sent  time.Duration // the ping that has not been answered; 0: all have
	ponged,
	heard time.Duration // it last answered a ping; it last said anything

	suspected bool // PFAIL: this node misses it
	failedAt  time.Duration
	reports   []report      // who else does
	offset    int64         // that it told
	votedAt   time.Duration // when this node last voted for a replica of it
}

// report says that a master takes a node for failing.
type report struct {
	by int
	at time.Duration
}

// Deliver handles packets that arrive on the node's own connection.
func (p *peer) Deliver(payload sim.Payload) {
	if q, ok := payload.(*packet); ok { // a fault may have answered in another language
		p.n.hear(q, p)
	}
}

// Closed is called when the connection has ended or was refused. The cron opens it again. A refused connection
// counts as an unanswered ping, so that the failure of the peer is noticed (clusterNodeCronHandleReconnect).
func (p *peer) Closed() {
	p.conn = nil
	if p.sent == 0 {
		p.sent = p.n.now()
	}
}

// connect opens the node's own connection to the peer. The ping that follows at once does not make it forget since when
// it waits for an answer (clusterLinkConnectHandler).
func (p *peer) connect() {
	waiting := p.sent
	p.since = p.n.now()
	p.conn = p.n.node.Connect(p.node, p)
	p.ping()
	if waiting != 0 {
		p.sent = waiting
	}
}

// disconnect closes it.
func (p *peer) disconnect() {
	if p.conn != nil {
		p.conn.Close()
		p.conn = nil
	}
}

// ping sends a ping.
func (p *peer) ping() {
	p.sent = p.n.now()
	p.send(p.n.heartbeat(ping, p.place))
}

// send sends a packet, if there is a connection.
func (p *peer) send(q *packet) {
	if p.conn != nil {
		_ = p.conn.Push(q)
	}
}

// broadcast sends a packet to all other nodes.
func (n *Node) broadcast(q *packet) {
	for _, p := range n.peers {
		if p.place != n.me {
			p.send(q)
		}
	}
}

// tell sends a pong that answers nothing to all other nodes (clusterBroadcastPong), or only to those with the same
// master.
func (n *Node) tell(siblings bool) {
	for _, p := range n.peers {
		if p.place != n.me && (!siblings || n.file.nodes[p.place].master == n.self().master) {
			p.send(n.heartbeat(pong, p.place))
		}
	}
}
