package servers

import (
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/redis"
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
func (s *service) router(state *shared) router {
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
type toldRouter struct{ service *service }

func (r toldRouter) master(p simulated.Process, _ limit) (int, error) {
	return r.service.told[p.Client()], nil
}

func (toldRouter) answered(simulated.Process, int, *redis.Reply, int) bool { return false }

func (toldRouter) failed(simulated.Process, int, int) bool { return false }
