package cluster

import (
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
)

// election is a replica's attempt to take its master's place.
type election struct {
	begins time.Duration // when it asks for votes; 0: it never has
	asked  bool
	epoch  uint64
	votes  int
	rank   int // how many replicas of the same master have more of its history
}

// Delays of clusterHandleSlaveFailover. The news that the master has failed must spread before a replica
// requests votes, and replicas with less of the data wait longer.
const (
	electionDelay  = 500 * time.Millisecond
	electionJitter = 500 * time.Millisecond
	rankDelay      = time.Second
	minAuthTimeout = 2 * time.Second
)

// How stale a replica's data may be, beyond the node timeout: cluster-replica-validity-factor, and
// repl-ping-replica-period.
const (
	validityFactor = 10
	replPingPeriod = 10 * time.Second
)

// standForElection has a replica whose master has failed ask for votes, in its time, and take over when it has them
// (clusterHandleSlaveFailover).
func (n *Node) standForElection() {
	master := n.self().master
	if master == none || !n.file.nodes[master].failed || len(n.shards(master)) == 0 {
		return
	}
	age := n.Server.Silence()
	if age > n.timeout {
		age -= n.timeout
	}
	if age > replPingPeriod+validityFactor*n.timeout {
		return
	}
	now, e := n.now(), &n.election
	patience := max(2*n.timeout, minAuthTimeout)
	switch since := now - e.begins; {
	case since > 2*patience:
		n.schedule()
	case !e.asked && n.fallsBehind() || since < 0 || since > patience:
	case !e.asked:
		n.file.epoch++
		e.asked, e.epoch = true, n.file.epoch
		n.broadcast(n.packet(authRequest))
	case e.votes >= n.majority():
		n.takeOver(e.epoch)
	}
}

// schedule draws when to ask for votes, and tells the replicas of the same master how much data this one has.
func (n *Node) schedule() {
	jitter := time.Duration(n.dice.Int64N(int64(electionJitter/time.Millisecond))) * time.Millisecond
	n.election = election{rank: n.rank()}
	n.election.begins = n.now() + electionDelay + jitter + time.Duration(n.election.rank)*rankDelay
	n.tell(true)
}

// rank counts the replicas of the same master that have more of its history, as far as they have told.
func (n *Node) rank() (better int) {
	for _, p := range n.peers {
		if p.place != n.me && n.file.nodes[p.place].master == n.self().master && p.offset > n.Server.Offset() {
			better++
		}
	}
	return better
}

// fallsBehind lets those go first of which it has been heard meanwhile that they have more. It reports whether the
// replica has to wait longer.
func (n *Node) fallsBehind() bool {
	e, rank := &n.election, n.rank()
	if rank > e.rank {
		e.begins += time.Duration(rank-e.rank) * rankDelay
		e.rank = rank
	}
	return n.now() < e.begins
}

// vote gives a replica this node's vote: one in an epoch, one for a master within twice the node timeout, none for a
// master that has not failed, none against later news (clusterSendFailoverAuthIfNeeded).
func (n *Node) vote(q *packet) {
	master := n.file.nodes[q.from].master
	if !n.isMaster(n.me) || len(n.shards(n.me)) == 0 || q.epoch < n.file.epoch || n.file.voted == n.file.epoch ||
		master == none || !n.file.nodes[master].failed || n.now()-n.peers[master].votedAt < 2*n.timeout {
		return
	}
	for _, shard := range q.shards {
		if n.file.nodes[n.file.owners[shard]].epoch > q.config {
			return
		}
	}
	n.file.voted, n.peers[master].votedAt = n.file.epoch, n.now()
	n.peers[q.from].send(n.packet(authAck))
}

// count counts a vote, and looks at once whether there are enough.
func (n *Node) count(q *packet) {
	if n.isMaster(q.from) && len(n.shards(q.from)) > 0 && q.epoch >= n.election.epoch {
		n.election.votes++
		n.standForElection()
	}
}

// takeOver makes this node the master of its master's shards, and tells everybody (clusterFailoverReplaceYourMaster). A
// fault may come before the server's promotion: then it is for a later time, or never.
func (n *Node) takeOver(epoch uint64) {
	n.Server.Promote()
	if n.Server.Role() != redis.Master {
		return
	}
	for _, shard := range n.shards(n.self().master) {
		n.file.owners[shard] = n.me
	}
	n.self().master, n.self().epoch = none, max(n.self().epoch, epoch)
	n.updateState()
	n.tell(false)
}

// TakeOver makes a replica the master by hand, without asking for votes (CLUSTER FAILOVER TAKEOVER). It reports whether
// there was anything to do.
func (n *Node) TakeOver() bool {
	if n.self().master == none || !n.node.Up() {
		return false
	}
	for _, known := range n.file.nodes {
		n.file.epoch = max(n.file.epoch, known.epoch)
	}
	n.file.epoch++
	n.takeOver(n.file.epoch)
	return true
}
