package cluster

import "time"

// Delays of clusterUpdateState: how long a master that has been started, or was alone, waits before it serves again,
// so that it accepts no writes before it can learn that it has been replaced.
const (
	writableDelay  = 2 * time.Second
	minRejoinDelay = 500 * time.Millisecond
	maxRejoinDelay = 5 * time.Second
)

// updateState finds out whether the cluster is well (clusterUpdateState): all shards have an owner that has not failed
// (cluster-require-full-coverage), and the node sees a majority of the masters.
func (n *Node) updateState() {
	now, master := n.now(), n.isMaster(n.me)
	if master && !n.serving && now-n.began < writableDelay {
		return
	}
	well, reachable := true, 0
	for _, owner := range n.file.owners {
		well = well && !n.file.nodes[owner].failed
	}
	for place, p := range n.peers {
		if n.isMaster(place) && len(n.shards(place)) > 0 && !p.suspected && !n.file.nodes[place].failed {
			reachable++
		}
	}
	if reachable < n.majority() {
		well, n.minority = false, now
	}
	rejoin := min(max(n.timeout, minRejoinDelay), maxRejoinDelay)
	if well && !n.serving && master && now-n.minority < rejoin {
		return
	}
	n.serving = well
}
