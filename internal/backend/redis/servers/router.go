package servers

import (
	"path"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// router is how a process finds the master, where that can change. Those of Sentinel and of a cluster do as the clients of
// go-redis do, which send a request again that failed, whether it was executed or not: a SET NX whose answer was lost may
// then meet its own key.
type router interface {
	// master returns the server that the process now takes for the master of the lock's key.
	master(p simulated.Process, l limit) (server int, err error)
	// answered looks at a server's answer to the n-th attempt, from 1. It reports whether the request is to be sent again,
	// wherever master says then.
	answered(p simulated.Process, at int, reply *redis.Reply, n int) (again bool)
	// failed says that for the n-th attempt a server could not be reached, or has not answered. It reports the same.
	failed(p simulated.Process, at, n int) (again bool)
}

// router returns how a process finds the master: by what it was told, unless somebody can be asked.
func (s *redisService) router(state *redisState) router {
	switch {
	case s.deployed.Cluster:
		return newClusterRouter(s, state)
	case len(s.sentinels) > 0:
		return s.newSentinelRouter(state)
	default:
		return toldRouter{s}
	}
}

// go-redis's default number of tries, and the pauses between them (options.go, osscluster.go, internal.RetryBackoff).
const (
	lastAttempt = 4
	minBackoff  = 10 * time.Millisecond
	maxBackoff  = time.Second
)

// backOff waits after the n-th attempt. It reports whether there is to be another.
func backOff(p simulated.Process, n int) bool {
	if n >= lastAttempt {
		return false
	}
	p.Sleep(min(minBackoff+time.Duration(p.Uniform(int64(minBackoff<<n))), maxBackoff))
	return true
}

// passing reports whether an answer is an error of a server's state, which may soon be another (error.go, shouldRetry).
func passing(r *redis.Reply) bool {
	switch r.Code() {
	case "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS":
		return true
	default:
		return false
	}
}

// toldRouter goes to the server that an operator has named last, as by a change of a name's address: connections that
// are open stay open, and are not used any more. Nothing is sent again but by the lock.
type toldRouter struct{ service *redisService }

func (r toldRouter) master(p simulated.Process, _ limit) (int, error) {
	return r.service.told[p.Client()], nil
}

func (toldRouter) answered(simulated.Process, int, *redis.Reply, int) bool { return false }

func (toldRouter) failed(simulated.Process, int, int) bool { return false }

// promote is a failover by hand: the server is made master, the other replicas of its master are told to follow it, and
// clients are told where it is.
func (s *redisService) promote(server *redis.Server, a *sim.Action) bool {
	did := false
	if server.Role() != redis.Master {
		old := server.Info().Master
		did = server.Promote()
		for i, other := range s.redis {
			switch {
			case other == server || !s.sameShard(i, s.index(server)):
			case s.nodes[i].Name == old:
				s.demoteLater(other, server, a.Demote)
			case other.Role() != redis.Master:
				other.Demote(server)
			}
		}
	}
	for _, name := range s.world.Clients() {
		if len(a.Nodes) > 0 && !matchesAny(a.Nodes, name) {
			continue
		}
		did = did || s.told[name] != s.index(server)
		if s.told == nil {
			s.told = make(map[string]int)
		}
		s.told[name] = s.index(server)
	}
	return did
}

// sameShard reports whether two servers were deployed as a master and its replica, or as replicas of one master.
func (s *redisService) sameShard(i, j int) bool { return s.shard(i) == s.shard(j) }

func (s *redisService) shard(i int) int {
	if i < s.deployed.Masters {
		return i
	}
	return (i - s.deployed.Masters) / s.deployed.Replicas
}

// demoteLater has the old master told after a while; never if that is 0.
func (s *redisService) demoteLater(old, master *redis.Server, after time.Duration) {
	if after > 0 {
		s.world.Engine().After(after, func() { old.Demote(master) })
	}
}

func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil
	})
}
