package cluster

import "time"

const (
	cronPeriod = 100 * time.Millisecond
	pingEvery  = 10 // crons: then some node is pinged that has not answered for long
)

func (n *Node) armCron(in time.Duration) { n.cron.Arm(false, n.node.Monotonic()+int64(in)) }

// Ring is clusterCron.
func (n *Node) Ring() {
	n.armCron(cronPeriod)
	n.crons++
	for _, p := range n.peers {
		if p.place != n.me && p.conn == nil && n.node.Up() {
			p.connect()
		}
	}
	if n.crons%pingEvery == 0 {
		n.pingOldest()
	}
	changed := false
	for _, p := range n.peers {
		if p.place != n.me {
			changed = n.lookAfter(p) || changed
		}
	}
	n.standForElection()
	if changed || !n.serving {
		n.updateState()
	}
}

// pingOldest pings, of a few nodes picked at random, the one that has not answered for the longest time.
func (n *Node) pingOldest() {
	const picks = 5
	var oldest *peer
	for range picks {
		p := n.peers[n.dice.Int64N(int64(len(n.peers)))]
		if p.place != n.me && p.conn != nil && p.sent == 0 && (oldest == nil || p.ponged < oldest.ponged) {
			oldest = p
		}
	}
	if oldest != nil {
		oldest.ping()
	}
}

// lookAfter pings a node that has not answered for half of the node timeout, opens a new connection to one that is
// silent, and suspects it in the end. It reports whether it has just done so.
func (n *Node) lookAfter(p *peer) (suspected bool) {
	now := n.now()
	unanswered, silent := now-p.sent, now-p.heard
	if p.conn != nil && now-p.since > n.timeout && p.sent != 0 && unanswered > n.timeout/2 && silent > n.timeout/2 {
		p.disconnect()
	}
	if p.conn != nil && p.sent == 0 && now-p.ponged > n.timeout/2 {
		p.ping()
		return false
	}
	if p.sent == 0 || min(unanswered, silent) <= n.timeout || p.suspected || n.file.nodes[p.place].failed {
		return false
	}
	p.suspected = true
	return true
}
