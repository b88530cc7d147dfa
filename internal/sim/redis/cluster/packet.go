package cluster

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/trace"
)

// kind says what nodes tell each other.
type kind uint8

// The packets.
const (
	ping        kind = iota // asks for a pong, and says how the sender sees itself and the others
	pong                    // answers, or just says so
	fail                    // a majority takes a node for failed
	authRequest             // a replica asks for votes
	authAck                 // and is given one
	update                  // who owns some shards, for one who has old news
)

// The names of clusterGetMessageTypeString.
var kindNames = [...]string{"ping", "pong", "fail", "auth-req", "auth-ack", "update"}

// packet is a message of the cluster's bus. Each says how its sender sees itself; some kinds use more fields.
type packet struct {
	kind   kind
	from   int    // its place
	name   string // and its name
	epoch  uint64 // the latest that it knows of
	master int    // whom it follows; none if it is one
	config uint64 // the epoch in which it got its shards, or its master did
	shards []int  // which it owns, or its master
	offset int64  // how much of its dataset's history it has

	gossip []gossip // ping, pong
	about  int      // fail, update: a node's place
	since  uint64   // update: the epoch in which it got its shards
	owned  []int    // update: its shards
}

// gossip is what the sender knows of a third node.
type gossip struct {
	place   int
	failing bool          // the sender suspects it, or more
	ponged  time.Duration // when it last answered the sender, in whole seconds of the sender's clock
}

// What returns the packet's name.
func (p *packet) What() (what, alt string) { return kindNames[p.kind], "" }

// Sum returns a digest of the packet.
func (p *packet) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(p.kind) | uint64(p.from)<<8 | uint64(uint8(p.master))<<24 | uint64(p.about)<<32)
	d.Uint64(p.epoch)
	d.Uint64(p.config)
	d.Uint64(uint64(p.offset))
	for _, shards := range [...][]int{p.shards, p.owned} {
		for _, shard := range shards {
			d.Uint64(uint64(shard))
		}
		d.Uint64(p.since)
	}
	for _, g := range p.gossip {
		failing := uint64(0)
		if g.failing {
			failing = 1
		}
		d.Uint64(uint64(g.place)<<1 | failing)
		d.Uint64(uint64(g.ponged))
	}
	return d.Sum()
}

// String formats the packet.
func (p *packet) String() string {
	text := fmt.Sprintf("%s from %s, epoch %d", kindNames[p.kind], p.name, p.epoch)
	switch p.kind {
	case ping, pong:
		failing := 0
		for _, g := range p.gossip {
			if g.failing {
				failing++
			}
		}
		if failing > 0 {
			return fmt.Sprintf("%s, which misses %d", text, failing)
		}
		return text
	case fail, update:
		return fmt.Sprintf("%s, about node %d", text, p.about+1)
	case authRequest, authAck:
	}
	return text
}

// packet returns a message of this node (clusterBuildMessageHdr).
func (n *Node) packet(k kind) *packet {
	master := n.masterOf(n.me)
	return &packet{
		kind: k, from: n.me, name: n.node.Name, epoch: n.file.epoch, master: n.self().master,
		config: n.file.nodes[master].epoch, shards: n.shards(master), offset: n.Server.Offset(),
	}
}

// heartbeat returns a ping or a pong, with gossip. Redis picks three or more nodes at random, and all that it suspects;
// of the few nodes here those are nearly all.
func (n *Node) heartbeat(k kind, to int) *packet {
	p := n.packet(k)
	for _, other := range n.peers {
		if other.place != n.me && other.place != to {
			p.gossip = append(p.gossip, gossip{
				place:   other.place,
				failing: other.suspected || n.file.nodes[other.place].failed,
				ponged:  other.ponged.Truncate(time.Second),
			})
		}
	}
	return p
}
