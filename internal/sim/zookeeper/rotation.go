package zookeeper

import "github.com/locksim/locksim/sim"

// rotation is the order in which a client turns to servers (StaticHostProvider; in Go DNSHostProvider).
type rotation struct {
	nodes []*sim.Node
	at    int // the present one; -1 before the first
	last  int // to which there was a connection, or the first; -1 before the first
}

func (r *rotation) init(z *Ensemble, ids []int, rand *sim.Rand) {
	for _, id := range ids {
		r.nodes = append(r.nodes, z.Servers[id-1].node)
	}
	if len(ids) == 0 {
		for _, s := range z.Servers {
			r.nodes = append(r.nodes, s.node)
		}
		rand.Shuffle(len(r.nodes), func(i, j int) { r.nodes[i], r.nodes[j] = r.nodes[j], r.nodes[i] })
	}
	r.restart()
}

// restart begins with the first.
func (r *rotation) restart() { r.at, r.last = -1, -1 }

// next returns the next server, and whether all have been tried since there was a connection.
func (r *rotation) next() (n *sim.Node, round bool) {
	r.at = (r.at + 1) % len(r.nodes)
	round = r.at == r.last
	if r.last < 0 {
		r.last = 0
	}
	return r.nodes[r.at], round
}

// connected notes that the present server has taken the client in.
func (r *rotation) connected() { r.last = r.at }
