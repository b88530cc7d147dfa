package servers

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/redis/sentinel"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// deploySentinels adds the Sentinels that watch the master.
func (s *service) deploySentinels() {
	if s.deployed.Sentinels == 0 {
		return
	}
	s.sentinels = sentinel.Deploy(s.world.Engine(), sentinel.Config{
		Master: s.nodes[0], Replicas: s.nodes[1:], Sentinels: s.deployed.Sentinels,
		DownAfter: s.deployed.DownAfter, FailoverTimeout: s.deployed.Failover,
		Store: func(i int) *redis.Store { return s.store(len(s.nodes) + i) },
	})
}

// sentinelRouter finds the master as go-redis's FailoverClient does (sentinel.go). It asks a Sentinel before it opens
// a connection; it uses open connections without asking, until a server answers READONLY or closes them, or the
// Sentinel announces another master.
type sentinelRouter struct {
	service   *service
	state     *shared
	sentinels []pool
	current   int      // the server that the process takes for the master; -1 if it does not know
	chosen    int      // the Sentinel that it asks and listens to; -1 if none
	events    *tidings // of that Sentinel
}

func (s *service) newSentinelRouter(state *shared) *sentinelRouter {
	r := &sentinelRouter{service: s, state: state, current: -1, chosen: -1}
	for _, n := range s.sentinels {
		r.sentinels = append(r.sentinels, pool{server: n.Node()})
	}
	return r
}

// impatient cuts a limit down to what the client library itself would wait.
func (l limit) impatient() limit { return limitOf(l.process, min(l.left(), readTimeout)) }

func (r *sentinelRouter) master(p simulated.Process, l limit) (int, error) {
	if r.current >= 0 && r.state.pools[r.current].ready() {
		return r.current, nil
	}
	at, err := r.ask(p, l.impatient())
	if err != nil {
		return 0, err
	}
	r.switchTo(at)
	return at, nil
}

// ask asks the Sentinel that answered last. If it fails, all are asked, and the first that answers is chosen.
func (r *sentinelRouter) ask(p simulated.Process, l limit) (int, error) {
	if chosen := r.chosen; chosen >= 0 {
		at, err := r.askOne(p, l, chosen)
		if err == nil {
			return at, nil
		}
		if r.chosen == chosen {
			r.leave()
		}
	}
	found, done, open := -1, &sim.Signal{}, len(r.sentinels)
	for i := range r.sentinels {
		p.Go(func(child locks.Process) {
			q := child.(simulated.Process)
			at, err := r.askOne(q, limitOf(q, l.left()), i)
			open--
			if err == nil && found < 0 {
				found = at
				r.choose(q, i)
			}
			if err == nil || open == 0 {
				done.Fire()
			}
		})
	}
	p.Task().Wait(l.left(), done)
	if found < 0 {
		return 0, fmt.Errorf("no Sentinel answers: %w", locks.ErrNotDone)
	}
	return found, nil
}

func (r *sentinelRouter) askOne(p simulated.Process, l limit, i int) (int, error) {
	reply, err := r.sentinels[i].inquire(p, l, "SENTINEL", "get-master-addr-by-name", sentinel.MasterName)
	switch {
	case err != nil:
		return 0, err
	case len(reply.Elems) != 2:
		return 0, fmt.Errorf("%s: %v: %w", r.sentinels[i].server.Name, reply, locks.ErrNotDone)
	}
	return r.service.named(reply.Elems[0].Text), nil
}

// choose asks this Sentinel from now on, and listens to what it tells.
func (r *sentinelRouter) choose(p simulated.Process, i int) {
	if r.chosen >= 0 {
		return
	}
	r.chosen = i
	r.events = &tidings{router: r}
	r.events.listen(p, r.sentinels[i].server)
}

// leave gives up a Sentinel that does not answer.
func (r *sentinelRouter) leave() {
	r.events.close()
	r.chosen, r.events = -1, nil
}

// switchTo takes a server for the master. Connections to others are closed, also those that are waited on.
func (r *sentinelRouter) switchTo(at int) {
	if r.current == at {
		return
	}
	r.current = at
	for i := range r.state.pools {
		if i != at {
			r.state.pools[i].drop()
		}
	}
}

// answered closes a connection on which a server has said that it is not the master, and tries again as go-redis does
// (redis.go, process; error.go, isBadConn).
func (r *sentinelRouter) answered(p simulated.Process, at int, reply *redis.Reply, n int) bool {
	if reply.Code() == "READONLY" {
		r.state.pools[at].dropLast()
	}
	return passing(reply) && backOff(p, n)
}

// failed tries again, on another connection.
func (*sentinelRouter) failed(p simulated.Process, _, n int) bool { return backOff(p, n) }

// tidings is a connection on which a Sentinel tells of a new master. If it is lost it is opened again.
type tidings struct {
	router *sentinelRouter
	conn   *sim.Conn
	over   sim.Signal // the connection is
	closed bool       // for good
}

// listen keeps the connection open in a task of its own (go-redis's PubSub and its channel).
func (e *tidings) listen(p simulated.Process, at *sim.Node) {
	const pause = 100 * time.Millisecond
	p.Task().Go(func(t *sim.Task) {
		for ; !e.closed; t.Sleep(pause) {
			e.over = sim.Signal{}
			conn, err := t.Dial(at, e, readTimeout)
			if err != nil {
				continue
			}
			e.conn = conn
			request := redis.NewRequest([]string{"SUBSCRIBE", "+switch-master"}, "")
			request.Client = p.Client()
			if conn.Send(t, request) == nil {
				t.Wait(sim.Forever, &e.over)
			}
		}
	})
}

// Deliver handles the Sentinel's messages: the master's name, its old address and its new one.
func (e *tidings) Deliver(p sim.Payload) {
	m, ok := p.(*redis.Message)
	if !ok {
		return
	}
	if words := strings.Fields(m.Text); len(words) == 5 && !e.closed {
		e.router.switchTo(e.router.service.named(words[3]))
	}
}

// Closed makes the router open the connection again.
func (e *tidings) Closed() { e.over.Fire() }

func (e *tidings) close() {
	e.closed = true
	if e.conn != nil {
		e.conn.Close()
	}
	e.over.Fire()
}
