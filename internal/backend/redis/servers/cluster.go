package servers

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/locks"
)

// clusterRouter finds the master of the lock's key as go-redis's ClusterClient does (osscluster.go): by a table of
// slots that it has from some node. A node that answers MOVED has it go elsewhere at once, and ask for a new table.
type clusterRouter struct {
	service *service
	state   *shared
	owner   int                       // the master by the table; -1 if there is none yet
	next    map[simulated.Process]int // the node that a task tries next, in place of the table's: it was told MOVED, or tries again
	loaded  locks.Monotonic
	loading bool
	again   bool // a new table was wanted while one was being asked for
}

func newClusterRouter(s *service, state *shared) *clusterRouter {
	return &clusterRouter{service: s, state: state, owner: -1, next: make(map[simulated.Process]int)}
}

// go-redis's defaults: the maximum age of a table, and the minimum time between two reloads
// (ClusterStateReloadInterval, clusterStateHolder.LazyReload).
const (
	reloadInterval = time.Minute
	reloadPause    = 200 * time.Millisecond
)

func (r *clusterRouter) master(p simulated.Process, _ limit) (int, error) {
	if at, ok := r.next[p]; ok {
		delete(r.next, p)
		return at, nil
	}
	switch {
	case r.owner < 0:
		if err := r.load(p); err != nil {
			return 0, err
		}
	case p.Monotonic().Sub(r.loaded) > reloadInterval:
		r.reload(p)
	}
	return r.owner, nil
}

// load asks the nodes for the table, in random order, until one answers. Each has the library's own time to do so.
func (r *clusterRouter) load(p simulated.Process) error {
	nodes := make([]int, len(r.state.pools))
	for i := range nodes {
		j := int(p.Uniform(int64(i + 1)))
		nodes[i], nodes[j] = nodes[j], i
	}
	for _, at := range nodes {
		reply, err := r.state.pools[at].inquire(p, limitOf(p, readTimeout), "CLUSTER", "SLOTS")
		if err != nil || reply.Type != redis.ReplyArray {
			continue
		}
		first := reply.Elems[0] // whose slots the lock's key is of: from, to, master, replicas
		r.owner, r.loaded = r.service.named(first.Elems[2].Elems[0].Text), p.Monotonic()
		return nil
	}
	return fmt.Errorf("no node of the cluster answers: %w", locks.ErrNotDone)
}

// reload asks for a new table in the background. A request during a reload causes another one.
func (r *clusterRouter) reload(p simulated.Process) {
	if r.loading {
		r.again = true
		return
	}
	r.loading = true
	p.Go(func(child locks.Process) {
		q := child.(simulated.Process)
		for more := true; more; more = r.again {
			if r.load(q) != nil {
				break
			}
			r.again = false
			q.Sleep(reloadPause)
		}
		r.loading, r.again = false, false
	})
}

// answered follows MOVED, and tries again where a node says that it cannot serve for now.
func (r *clusterRouter) answered(p simulated.Process, at int, reply *redis.Reply, n int) bool {
	switch {
	case reply.Code() == "MOVED": // slot host:port
		r.reload(p)
		if words := strings.Fields(reply.Text); n < lastAttempt && len(words) == 3 {
			name, _, _ := strings.Cut(words[2], ":")
			r.next[p] = r.service.named(name)
			return true
		}
		return false
	case reply.Code() == "READONLY":
		r.reload(p)
		return backOff(p, n)
	default:
		return passing(reply) && r.retry(p, at, n)
	}
}

// failed tries again, and reloads the table: there may be another master.
func (r *clusterRouter) failed(p simulated.Process, at, n int) bool {
	r.reload(p)
	return r.retry(p, at, n)
}

// retry tries the same node once more, then whichever is the master by the table (osscluster.go, process).
func (r *clusterRouter) retry(p simulated.Process, at, n int) bool {
	if !backOff(p, n) {
		return false
	}
	if n == 1 {
		r.next[p] = at
	}
	return true
}
