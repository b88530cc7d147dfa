package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

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

// keyless are the commands that a node answers in every state of the cluster (getNodeByQuery).
var keyless = map[string]bool{
	"PING": true, "ECHO": true, "INFO": true, "ROLE": true, "TIME": true, "WAIT": true, "CLIENT": true, "CONFIG": true,
	"MULTI": true, "DISCARD": true, "UNWATCH": true, "SCRIPT": true, "SUBSCRIBE": true, "UNSUBSCRIBE": true,
	"PUBLISH": true, "REPLICAOF": true, "SLAVEOF": true,
}

// keyShard is of which shard all keys are.
const keyShard = 0

// gate answers in place of the server: what CLUSTER asks, and requests for keys that the node must not serve.
func (n *Node) gate(r *redis.Request, _ *sim.Conn) (reply redis.Reply, answers bool) {
	switch owner := n.file.owners[keyShard]; {
	case r.Command == "CLUSTER":
		return n.describe(r.Args), true
	case keyless[r.Command]:
		return redis.Reply{}, false
	case !n.serving:
		return redis.Reply{Type: redis.ReplyError, Text: "CLUSTERDOWN The cluster is down"}, true
	case owner != n.me:
		first, _ := n.slots(keyShard)
		text := fmt.Sprintf("MOVED %d %s:%d", first, n.peers[owner].node.Name, port)
		return redis.Reply{Type: redis.ReplyError, Text: text}, true
	default:
		return redis.Reply{}, false
	}
}

// port is what clients read where a node's port stands. The name of the node says everything.
const port = 6379

// slotCount is how many slots a cluster has.
const slotCount = 16384

// slots returns the first and the last slot of a shard.
func (n *Node) slots(shard int) (first, last int) {
	shards := len(n.file.owners)
	return shard * slotCount / shards, (shard+1)*slotCount/shards - 1
}

// describe answers CLUSTER SLOTS: of each shard the slots, the owner, and its replicas that have not failed.
func (n *Node) describe(args []string) redis.Reply {
	if len(args) != 2 || !strings.EqualFold(args[1], "SLOTS") {
		return redis.Reply{Type: redis.ReplyError, Text: "ERR unknown subcommand. Try CLUSTER HELP."}
	}
	all := redis.Reply{Type: redis.ReplyArray}
	for shard, owner := range n.file.owners {
		first, last := n.slots(shard)
		entry := []redis.Reply{integer(first), integer(last), n.address(owner)}
		for place, known := range n.file.nodes {
			if known.master == owner && !known.failed {
				entry = append(entry, n.address(place))
			}
		}
		all.Elems = append(all.Elems, redis.Reply{Type: redis.ReplyArray, Elems: entry})
	}
	return all
}

func (n *Node) address(place int) redis.Reply {
	name := redis.Reply{Type: redis.ReplyBulk, Text: n.peers[place].node.Name}
	return redis.Reply{Type: redis.ReplyArray, Elems: []redis.Reply{name, integer(port)}}
}

func integer(n int) redis.Reply { return redis.Reply{Type: redis.ReplyInteger, Int: int64(n)} }
