package cluster

import (
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
)

// hear takes a packet (clusterProcessPacket). On the node's own connection to a peer, that is named. It returns the
// pong that a ping is owed.
func (n *Node) hear(q *packet, own *peer) (answer sim.Payload) {
	sender, known := n.peers[q.from], &n.file.nodes[q.from]
	sender.heard, sender.offset = n.now(), q.offset
	n.file.epoch = max(n.file.epoch, q.epoch)
	known.epoch = max(known.epoch, q.config)
	switch q.kind {
	case ping:
		answer = n.heartbeat(pong, q.from)
		n.learn(q)
	case pong:
		if own != nil {
			n.answered(own)
		}
		n.learn(q)
	case fail:
		if about := n.peers[q.about]; q.about != n.me && !n.file.nodes[q.about].failed {
			n.file.nodes[q.about].failed, about.failedAt, about.suspected = true, n.now(), false
			n.updateState()
		}
	case authRequest:
		n.vote(q)
	case authAck:
		n.count(q)
	case update:
		n.correct(q)
	}
	return answer
}

// answered notes a pong to the node's own ping.
func (n *Node) answered(p *peer) {
	p.ponged, p.sent = n.now(), 0
	switch known := &n.file.nodes[p.place]; {
	case p.suspected:
		p.suspected = false
		n.updateState()
	case known.failed && n.forgives(p):
		known.failed = false
		n.updateState()
	}
}

// forgives reports whether a node that has failed, and answers, need not count as failed any more: a replica at once, a
// master when nobody has taken its shards for long (clearNodeFailureIfNeeded).
func (n *Node) forgives(p *peer) bool {
	return len(n.shards(p.place)) == 0 || n.now()-p.failedAt > 2*n.timeout
}

// learn takes what a heartbeat says of the sender's part, its shards, and third nodes.
func (n *Node) learn(q *packet) {
	n.learnRole(q)
	owner := n.masterOf(q.from)
	if !slices.Equal(n.shards(owner), q.shards) {
		if n.isMaster(q.from) {
			n.yield(q.from, q.config, q.shards)
		}
		n.enlighten(q)
	}
	if n.isMaster(q.from) {
		for _, g := range q.gossip {
			n.weigh(q.from, g)
		}
	}
	for _, g := range q.gossip {
		n.trust(g)
	}
}

// learnRole notes that a node has become a master or a replica. The shards of a master that has become a replica are
// its new master's: there was a failover.
func (n *Node) learnRole(q *packet) {
	known := &n.file.nodes[q.from]
	if q.master != none && known.master == none && q.config >= known.epoch && q.master != n.me {
		for _, shard := range n.shards(q.from) {
			n.file.owners[shard] = q.master
		}
		n.file.nodes[q.master].master = none
		n.file.nodes[q.master].epoch = q.config
	}
	if known.master != q.master {
		known.master = q.master
		n.updateState()
	}
}

// yield lets a node have the shards that it claims, if it got them in a later epoch than their owner. A master that
// loses its last one has been failed over, and follows it; so do its replicas (clusterUpdateSlotsConfigWith).
func (n *Node) yield(to int, epoch uint64, claimed []int) {
	mine, lost := n.masterOf(n.me), false
	for _, shard := range claimed {
		owner := n.file.owners[shard]
		if owner == to || n.file.nodes[owner].epoch >= epoch {
			continue
		}
		lost = lost || owner == mine
		n.file.owners[shard] = to
	}
	if lost && len(n.shards(mine)) == 0 && to != n.me {
		n.self().master = to
		n.Server.Demote(n.peers[to].server)
	}
	n.updateState()
}

// enlighten tells a sender that claims shards of an owner with a later epoch.
func (n *Node) enlighten(q *packet) {
	for _, shard := range q.shards {
		owner := n.file.owners[shard]
		if owner == q.from || n.file.nodes[owner].epoch <= q.config {
			continue
		}
		u := n.packet(update)
		u.about, u.since, u.owned = owner, n.file.nodes[owner].epoch, n.shards(owner)
		n.peers[q.from].send(u)
		return
	}
}

// correct takes an update.
func (n *Node) correct(q *packet) {
	known := &n.file.nodes[q.about]
	if q.about == n.me || known.epoch >= q.since {
		return
	}
	known.master, known.epoch = none, q.since
	n.yield(q.about, q.since, q.owned)
}

// weigh takes a master's word on whether a node fails. Reports are valid for twice the node timeout.
func (n *Node) weigh(by int, g gossip) {
	if g.place == n.me {
		return
	}
	p := n.peers[g.place]
	p.reports = slices.DeleteFunc(p.reports, func(r report) bool { return r.by == by || n.now()-r.at > 2*n.timeout })
	if g.failing {
		p.reports = append(p.reports, report{by, n.now()})
		n.condemn(p)
	}
}

// condemn takes a node for failed that this one suspects and a majority of masters reports, and tells everybody
// (markNodeAsFailingIfNeeded).
func (n *Node) condemn(p *peer) {
	known, agree := &n.file.nodes[p.place], len(p.reports)
	if n.isMaster(n.me) {
		agree++
	}
	if !p.suspected || known.failed || agree < n.majority() {
		return
	}
	p.suspected, known.failed, p.failedAt = false, true, n.now()
	q := n.packet(fail)
	q.about = p.place
	n.broadcast(q)
	n.updateState()
}

// trust considers a third node alive if another node reports its answers, and none reports it missing. Times in the
// future, by another node's clock, are ignored.
func (n *Node) trust(g gossip) {
	const tolerance = 500 * time.Millisecond
	p := n.peers[g.place]
	if g.place != n.me && !g.failing && p.sent == 0 && len(p.reports) == 0 && g.ponged <= n.now()+tolerance {
		p.ponged = max(p.ponged, g.ponged)
	}
}
