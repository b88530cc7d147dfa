package reports

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Where servers replicate, what became of a copy means one thing on a master, another on its replicas, and a third on a
// master that has been replaced.

// toldToDelete reports whether a server gave a copy up since its master did: a replica neither evicts nor lets expire.
func (v *view) toldToDelete(c *history.Copy) bool {
	switch role, _ := v.servers().Role(); {
	case role != "master":
		return false
	case c.Gone == history.Evicted:
		return !slices.ContainsFunc(v.faults, func(f fault) bool {
			return f.fired && f.kind == "evict" && f.node == c.Node && f.begin == c.To
		})
	}
	return c.Gone == history.Expired && !v.isMaster(c.Node, c.To)
}

// tooEarly reports whether a server's clock ended a copy while its grant should have lasted. On a master that another
// has replaced, which is asked for the renewals now, the copy lasts for as long as that server itself has promised.
func (v *view) tooEarly(c *history.Copy) bool {
	if c.Gone != history.Expired || !v.grantedBeyond(c) {
		return false
	}
	return !v.replacedAsMaster(c) || c.Expires > c.To+redisMillisecond
}

// isMaster reports whether a server took itself for a master or the leader at that moment.
func (v *view) isMaster(node string, at trace.Instant) bool {
	servers := v.servers()
	role, _ := servers.Role()
	is := role == "master" && slices.Index(v.names, node) < servers.Masters
	for i := range v.roles {
		if e := &v.roles[i]; e.Node == node && e.At <= at {
			is = e.Does == trace.Promote
		}
	}
	return is
}

// replacedAsMaster reports whether another server that had a copy of the same acquisition had become master last when
// this one went.
func (v *view) replacedAsMaster(c *history.Copy) bool {
	latest := c.Node
	for i := range v.roles {
		if e := &v.roles[i]; e.Does == trace.Promote && e.At <= c.To && v.hadCopy(e.Node, c.Acquisition) {
			latest = e.Node
		}
	}
	return latest != c.Node
}

func (v *view) hadCopy(node string, id history.ID) bool {
	return slices.ContainsFunc(v.h.Copies, func(c history.Copy) bool { return c.Node == node && c.Acquisition == id })
}

// ofEarlierTry reports whether a copy was made before its acquisition last asked one master, which replicates what it
// grants: a server that has been replaced as master may have kept that of an earlier try.
func (v *view) ofEarlierTry(c *history.Copy, g *history.Grant) bool {
	servers := v.servers()
	if servers.Replicas == 0 || servers.Masters > 1 && !servers.Cluster {
		return false
	}
	return slices.ContainsFunc(v.h.Asks, func(a history.Ask) bool {
		return a.Acquisition == g.Acquisition && a.Granted && c.From < a.At && a.At <= g.From
	})
}

// redisMillisecond is what servers count in.
const redisMillisecond = 1_000_000

// grantedBeyond reports whether a copy went while its grant should have lasted.
func (v *view) grantedBeyond(c *history.Copy) bool {
	return slices.ContainsFunc(v.h.Grants, func(g history.Grant) bool {
		return g.Acquisition == c.Acquisition && g.From < c.To && g.To > c.To+redisMillisecond
	})
}
