package cluster

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// slotCount is how many slots a cluster has.
const slotCount = 16384

// Slot returns the slot of a key: of what stands between its first brace and the next closing one, if there is anything
// (keyHashSlot).
func Slot(key string) int {
	if _, rest, opened := strings.Cut(key, "{"); opened {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			key = tag
		}
	}
	return int(crc16(key)) % slotCount
}

// crc16 is CRC-16/XMODEM (crc16.c).
func crc16(text string) (sum uint16) {
	for _, b := range []byte(text) {
		sum ^= uint16(b) << 8
		for range 8 {
			carry := sum&0x8000 != 0
			if sum <<= 1; carry {
				sum ^= 0x1021
			}
		}
	}
	return sum
}

// A cluster's slots are cut into as many parts as there are shards. turn is the part of the first shard; the next parts are
// those of the next shards, and around.
func (n *Node) turn() int {
	if n.key == "" {
		return 0
	}
	return n.part(Slot(n.key))
}

// part returns the part that a slot is in.
func (n *Node) part(slot int) int {
	parts := len(n.file.owners)
	return ((slot+1)*parts - 1) / slotCount
}

// shardOf returns the shard of a part.
func (n *Node) shardOf(part int) int {
	parts := len(n.file.owners)
	return (part - n.turn() + parts) % parts
}

// bounds returns the first and the last slot of a part.
func (n *Node) bounds(part int) (first, last int) {
	parts := len(n.file.owners)
	return part * slotCount / parts, (part+1)*slotCount/parts - 1
}

// shardOfKey returns the slot of a key and its shard.
func (n *Node) shardOfKey(key string) (slot, shard int) {
	if n.key == "" {
		return 0, 0
	}
	slot = Slot(key)
	return slot, n.shardOf(n.part(slot))
}

// gate answers in place of the server: what CLUSTER asks, and requests for keys that the node must not serve
// (getNodeByQuery). Commands without keys are executed in every state of the cluster.
func (n *Node) gate(r *redis.Request, c *sim.Conn) (reply redis.Reply, answers bool) {
	if r.Command == "CLUSTER" {
		return n.cluster(r.Args), true
	}
	keys := n.Server.Keys(c, r)
	if len(keys) == 0 {
		return redis.Reply{}, false
	}
	slot, shard := n.shardOfKey(keys[0])
	for _, key := range keys[1:] {
		if other, _ := n.shardOfKey(key); other != slot {
			return failure("CROSSSLOT Keys in request don't hash to the same slot"), true
		}
	}
	switch owner := n.file.owners[shard]; {
	case !n.serving:
		return failure("CLUSTERDOWN The cluster is down"), true
	case owner != n.me:
		return failure(fmt.Sprintf("MOVED %d %s:%d", slot, n.peers[owner].node.Name, port)), true
	default:
		return redis.Reply{}, false
	}
}

// port is what clients read where a node's port stands. The name of the node says everything.
const port = 6379

// cluster answers the command CLUSTER (clusterCommand).
func (n *Node) cluster(args []string) redis.Reply {
	if len(args) < 2 {
		return failure("ERR wrong number of arguments for 'cluster' command")
	}
	switch name := strings.ToLower(args[1]); {
	case name == "slots" && len(args) == 2:
		return n.describe()
	case name == "myid" && len(args) == 2:
		return bulk(n.node.Name)
	case name == "keyslot" && len(args) == 3:
		return integer(Slot(args[2]))
	case name == "info" && len(args) == 2:
		return bulk(n.state())
	case name == "nodes" && len(args) == 2:
		return bulk(n.table())
	case name == "slots", name == "myid", name == "keyslot", name == "info", name == "nodes":
		return failure("ERR wrong number of arguments for 'cluster|" + name + "' command")
	default:
		return failure("ERR unknown subcommand '" + args[1] + "'. Try CLUSTER HELP.")
	}
}

// describe answers CLUSTER SLOTS: of each part the slots, the owner, and its replicas that have not failed.
func (n *Node) describe() redis.Reply {
	all := redis.Reply{Type: redis.ReplyArray}
	for part := range n.file.owners {
		first, last := n.bounds(part)
		owner := n.file.owners[n.shardOf(part)]
		entry := []redis.Reply{integer(first), integer(last), n.address(owner)}
		for place, known := range n.file.nodes {
			if known.master == owner && !known.failed {
				entry = append(entry, n.address(place))
			}
		}
		all.Elems = append(all.Elems, list(entry...))
	}
	return all
}

// state answers CLUSTER INFO, as far as clients read it (genClusterInfoString).
func (n *Node) state() string {
	word := map[bool]string{true: "ok", false: "fail"}[n.serving]
	return fmt.Sprintf("cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_known_nodes:%d\r\ncluster_size:%d\r\n"+
		"cluster_current_epoch:%d\r\n", word, slotCount, len(n.file.nodes), len(n.file.owners), n.file.epoch)
}

// table answers CLUSTER NODES: a line for each node (clusterGenNodeDescription). Times are left out, as for a node that has
// answered all pings.
func (n *Node) table() string {
	var b strings.Builder
	for place, known := range n.file.nodes {
		name, flags, master, link := n.peers[place].node.Name, "master", "-", "connected"
		if known.master != none {
			flags, master = "slave", n.peers[known.master].node.Name
		}
		switch {
		case place == n.me:
			flags = "myself," + flags
		case known.failed:
			flags, link = flags+",fail", "disconnected"
		case n.peers[place].suspected:
			flags += ",fail?"
		}
		fmt.Fprintf(&b, "%s %s:%d@%d %s %s 0 0 %d %s", name, name, port, port+10000, flags, master, known.epoch, link)
		for part := range n.file.owners {
			if first, last := n.bounds(part); n.file.owners[n.shardOf(part)] == place {
				fmt.Fprintf(&b, " %d-%d", first, last)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// address is where a node is; for real clients also which it is, and what else there is to know of its address: nothing.
func (n *Node) address(place int) redis.Reply {
	name := n.peers[place].node.Name
	if n.key == "" {
		return list(bulk(name), integer(port))
	}
	return list(bulk(name), integer(port), bulk(name), list())
}

func list(elems ...redis.Reply) redis.Reply {
	return redis.Reply{Type: redis.ReplyArray, Elems: elems}
}
func bulk(text string) redis.Reply    { return redis.Reply{Type: redis.ReplyBulk, Text: text} }
func integer(n int) redis.Reply       { return redis.Reply{Type: redis.ReplyInteger, Int: int64(n)} }
func failure(text string) redis.Reply { return redis.Reply{Type: redis.ReplyError, Text: text} }
