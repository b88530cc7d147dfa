// Package cluster simulates the bus of a Redis Cluster: how its nodes detect that others do not answer, agree that
// a master has failed, and vote for a replica to take its place; and which requests they refuse meanwhile, with
// CLUSTERDOWN or MOVED. Call [New] for each node, which makes its Redis server too, add and attach it, and then
// [Meet] with all of them.
//
// It follows cluster_legacy.c of Redis 7, whose functions are named where they are followed. Slots are never moved
// one by one: each master begins with a shard of them, and a shard changes its owner as a whole. Unless a key is
// configured all keys are of the first shard, as those of a lock that puts them into one slot. Left out: manual failover
// other than the takeover, migration of replicas or slots, and the handshake; nodes have names, not addresses.
package cluster

import (
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// Config configures a node. Zero values are those of redis.conf.
type Config struct {
	NodeTimeout time.Duration // cluster-node-timeout; 15 s if 0
	// Key is a key whose slot is of the first shard; the other slots follow it around. If it is empty, nobody asks for the slots
	// of keys: all are of the first shard.
	Key string
	_   struct{}
}

// Node is one node of a cluster: a Redis server, and its view of the others. Create it with [New].
//
// Its moments are readings of its wall clock since 1970, which may step (mstime); the zero is long ago.
type Node struct {
	Server *redis.Server

	timeout time.Duration
	key     string
	me      int // its place in the cluster
	node    *sim.Node
	dice    *sim.Rand
	cron    *sim.Timer
	crons   int

	file  file
	peers []*peer // by their places; that of the node itself is there too, but not used

	serving  bool          // the cluster is well, as this node sees it
	began    time.Duration // when its process did
	minority time.Duration // when it last found itself without a majority
	election election
}

// file is what nodes.conf keeps.
type file struct {
	epoch  uint64 // the latest that the node knows of
	voted  uint64 // the last in which it has voted
	nodes  []config
	owners []int // of the shards
}

// config is what is known of a node's part in the cluster.
type config struct {
	master int    // the place of its master; none if it is one itself
	epoch  uint64 // in which it got its shards
	failed bool   // as a majority sees it
}

// none stands where there is no node.
const none = -1

// New returns a node with a Redis server on a store that is fresh or has been Reset. The server has to be attached to
// the sim.Node on which the cluster's node is added.
func New(store *redis.Store, server redis.Config, c Config) *Node {
	n := &Node{timeout: c.NodeTimeout, key: c.Key, serving: true}
	if n.timeout == 0 {
		n.timeout = 15 * time.Second
	}
	server.Gate, server.Mode = n.gate, "cluster"
	n.Server = redis.NewServer(store, server)
	return n
}

// Meet joins nodes to a cluster that has existed for some time. Each node whose server is a master owns a shard,
// in the order of the nodes.
func Meet(nodes []*Node) {
	var masters []int
	known := make([]config, len(nodes))
	for i, n := range nodes {
		known[i].master = none
		if n.Server.Role() == redis.Master {
			masters = append(masters, i)
			known[i].epoch = uint64(len(masters))
			continue
		}
		for j, other := range nodes {
			if other.Server.Node().Name == n.Server.Info().Master {
				known[i].master, known[i].epoch = j, known[j].epoch
			}
		}
	}
	for i, n := range nodes {
		n.me, n.node = i, n.Server.Node()
		n.dice, n.cron = n.node.Rand("cluster"), n.node.NewTimer(n)
		n.file = file{
			epoch: uint64(len(masters)), nodes: append([]config(nil), known...), owners: append([]int(nil), masters...),
		}
		n.peers = make([]*peer, len(nodes))
		for j, other := range nodes {
			n.peers[j] = &peer{n: n, place: j, node: other.Server.Node(), server: other.Server}
		}
		n.scatter()
	}
}

// scatter makes it look as if the node had been there for long: where in its second it is when the run begins, and when
// it last heard of the others, is up to chance.
func (n *Node) scatter() {
	n.armCron(time.Duration(n.dice.Int64N(int64(cronPeriod))) + 1)
	n.crons = int(n.dice.Int64N(pingEvery))
	for _, p := range n.peers {
		p.ponged = n.now() - time.Duration(n.dice.Int64N(int64(time.Second)))
		p.heard = p.ponged
	}
}

// now reads the wall clock.
func (n *Node) now() time.Duration { return time.Duration(n.node.Wall()) }

// Serving reports whether the node executes clients' requests rather than refusing them with CLUSTERDOWN.
func (n *Node) Serving() bool { return n.serving }

// Epoch returns the latest epoch that the node knows of.
func (n *Node) Epoch() uint64 { return n.file.epoch }

// Execute handles requests of clients and replicas to the server, and packets of other nodes on the bus.
func (n *Node) Execute(c *sim.Conn, p sim.Payload) sim.Payload {
	if q, ok := p.(*packet); ok {
		return n.hear(q, nil)
	}
	return n.Server.Execute(c, p)
}

// Disconnected tells the server that a connection has ended. The bus keeps no state of connections.
func (n *Node) Disconnected(c *sim.Conn) { n.Server.Disconnected(c) }

// Crash discards the server's memory, and all state that is not in nodes.conf.
func (n *Node) Crash(host bool, keep string) { n.Server.Crash(host, keep) }

// Restart starts the node again from nodes.conf. The node serves no client until it has seen that the cluster is in
// order.
func (n *Node) Restart() {
	n.Server.Restart()
	n.serving, n.began, n.minority = false, n.now(), 0
	n.election = election{}
	for i, p := range n.peers {
		n.peers[i] = &peer{n: n, place: i, node: p.node, server: p.server, failedAt: n.now()}
	}
	n.armCron(cronPeriod)
}

// self returns the node's own part in the cluster.
func (n *Node) self() *config { return &n.file.nodes[n.me] }

// isMaster reports whether a node is one, as far as this one knows.
func (n *Node) isMaster(place int) bool { return n.file.nodes[place].master == none }

// masterOf returns whose shards a node has or copies.
func (n *Node) masterOf(place int) int {
	if master := n.file.nodes[place].master; master != none {
		return master
	}
	return place
}

// shards returns those that a node owns.
func (n *Node) shards(place int) (owned []int) {
	for shard, owner := range n.file.owners {
		if owner == place {
			owned = append(owned, shard)
		}
	}
	return owned
}

// size is the number of masters that own a shard, of which a majority decides.
func (n *Node) size() (masters int) {
	for place := range n.file.nodes {
		if n.isMaster(place) && len(n.shards(place)) > 0 {
			masters++
		}
	}
	return masters
}

func (n *Node) majority() int { return n.size()/2 + 1 }
