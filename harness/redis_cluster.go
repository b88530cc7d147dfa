package harness

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim/redis"
)

// clusterRouter finds the master of the lock's key as go-redis's ClusterClient does (osscluster.go): by a table of
// slots that it has from some node. A node that answers MOVED has it go elsewhere at once, and ask for a new table.
type clusterRouter struct {
	service *redisService
	state   *redisState
	owner   int              // the master by the table; -1 if there is none yet
	moved   map[*process]int // where the tasks that were told MOVED go next
	loaded  locks.Monotonic
	loading bool
	again   bool // a new table was wanted while one was being asked for
}

func newClusterRouter(s *redisService, state *redisState) *clusterRouter {
	return &clusterRouter{service: s, state: state, owner: -1, moved: make(map[*process]int)}
}

// go-redis's defaults: after how long a table is old, and the least time between two (ClusterStateReloadInterval,
// clusterStateHolder.LazyReload).
const (
	reloadInterval = time.Minute
	reloadPause    = 200 * time.Millisecond
)

func (r *clusterRouter) master(p *process, l limit) (int, error) {
	if at, ok := r.moved[p]; ok {
		delete(r.moved, p)
		return at, nil
	}
	switch {
	case r.owner < 0:
		if err := r.load(p, l); err != nil {
			return 0, err
		}
	case p.Monotonic().Sub(r.loaded) > reloadInterval:
		r.reload(p)
	}
	return r.owner, nil
}

// load asks the nodes for the table, in random order, until one answers.
func (r *clusterRouter) load(p *process, l limit) error {
	nodes := make([]int, len(r.state.pools))
	for i := range nodes {
		j := int(p.Uniform(int64(i + 1)))
		nodes[i], nodes[j] = nodes[j], i
	}
	for _, at := range nodes {
		reply, err := r.state.pools[at].inquire(p, l.impatient(), "CLUSTER", "SLOTS")
		if err != nil || reply.Type != redis.ReplyArray {
			continue
		}
		first := reply.Elems[0] // whose slots the lock's key is of: from, to, master, replicas
		r.owner, r.loaded = r.service.named(first.Elems[2].Elems[0].Text), p.Monotonic()
		return nil
	}
	return fmt.Errorf("no node of the cluster answers: %w", locks.ErrNotDone)
}

// reload asks for a new table in the background. What is wanted meanwhile is one more.
func (r *clusterRouter) reload(p *process) {
	if r.loading {
		r.again = true
		return
	}
	r.loading = true
	p.Go(func(child locks.Process) {
		q := child.(*process)
		for more := true; more; more = r.again {
			if r.load(q, limitOf(q, 0)) != nil {
				break
			}
			r.again = false
			q.Sleep(reloadPause)
		}
		r.loading, r.again = false, false
	})
}

// answered follows MOVED, and tries again where a node says that the cluster is down, or that it is no master.
func (r *clusterRouter) answered(p *process, _ int, reply *redis.Reply, n int, l limit) bool {
	switch reply.Code() {
	case "MOVED": // slot host:port
		r.reload(p)
		if words := strings.Fields(reply.Text); n <= maxRetries && len(words) == 3 {
			name, _, _ := strings.Cut(words[2], ":")
			r.moved[p] = r.service.named(name)
			return true
		}
		return false
	case "READONLY":
		r.reload(p)
		return backOff(p, n, l)
	case "CLUSTERDOWN":
		return backOff(p, n, l)
	default:
		return false
	}
}

// failed has the table asked for anew: there may be another master.
func (r *clusterRouter) failed(p *process, _ int) { r.reload(p) }
