package servers

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// pool is a process's connections to one Redis server. As in the common client libraries a call takes an idle
// connection, or opens one; a call that times out closes its own.
type pool struct {
	server *sim.Node
	idle   []*simulated.Line
	busy   []*simulated.Line

	firstIdle, firstBusy [1]*simulated.Line // where they begin: nearly always there is one
}

// limit is when a call has to be over, on the process's monotonic clock.
type limit struct {
	process simulated.Process
	ends    locks.Monotonic
	none    bool
}

func limitOf(p simulated.Process, timeout time.Duration) limit {
	if timeout <= 0 {
		return limit{process: p, none: true}
	}
	return limit{process: p, ends: p.Monotonic().Add(timeout)}
}

// left is how much of the time is left; at least a nanosecond, since 0 is none at all for those who are asked to wait.
func (l limit) left() time.Duration {
	if l.none {
		return sim.Forever
	}
	return max(l.ends.Sub(l.process.Monotonic()), 1)
}

// connection takes an idle connection of the pool, or opens one.
func (from *pool) connection(p simulated.Process, l limit) (*simulated.Line, error) {
	if from.ready() {
		n := len(from.idle) - 1
		c := from.idle[n]
		from.idle = from.idle[:n]
		return c, nil
	}
	return simulated.Open(p.Task(), from.server, l.left())
}

// ready forgets idle connections that are over, up to one that is not. It reports whether there is one.
func (from *pool) ready() bool {
	for n := len(from.idle); n > 0; n-- {
		if !from.idle[n-1].Over {
			return true
		}
		from.idle = from.idle[:n-1]
	}
	return false
}

// exchange sends a request on a connection of the pool and waits for its reply.
func (from *pool) exchange(p simulated.Process, c *simulated.Line, l limit, r *redis.Request) (*redis.Reply, error) {
	from.lend(c)
	answer, err := c.Call(p.Task(), r, l.left())
	from.giveBack(c, err)
	if err != nil {
		return nil, err
	}
	return &answer.(*redis.Response).Reply, nil
}

// inquire asks a server on the client library's own account, for no lock.
func (from *pool) inquire(p simulated.Process, l limit, args ...string) (*redis.Reply, error) {
	c, err := from.connection(p, l)
	if err != nil {
		return nil, err
	}
	request := redis.NewRequest(args, "")
	request.Client = p.Client()
	return from.exchange(p, c, l, request)
}

// batch sends requests on a connection of the pool and waits for their replies.
func (from *pool) batch(p simulated.Process, c *simulated.Line, l limit, requests []sim.Payload) ([]*redis.Reply, error) {
	from.lend(c)
	answers, err := c.Batch(p.Task(), requests, l.left())
	replies := make([]*redis.Reply, len(answers))
	for i, answer := range answers {
		replies[i] = &answer.(*redis.Response).Reply
	}
	from.giveBack(c, err)
	return replies, err
}

// lend notes that a connection is used.
func (from *pool) lend(c *simulated.Line) { from.busy = append(from.busy, c) }

// giveBack puts a connection back into the pool that has been used, unless that failed.
func (from *pool) giveBack(c *simulated.Line, err error) {
	if last := len(from.busy) - 1; from.busy[last] == c { // nearly always there is one
		from.busy = from.busy[:last]
	} else {
		from.busy = slices.DeleteFunc(from.busy, func(other *simulated.Line) bool { return other == c })
	}
	if err == nil {
		from.idle = append(from.idle, c)
	}
}

// drop closes the connections of the pool, and with them what is being asked on them.
func (from *pool) drop() {
	for _, c := range slices.Concat(from.idle, from.busy) {
		c.Close()
	}
	from.idle = nil
}

// dropLast closes the connection that was used last.
func (from *pool) dropLast() {
	if n := len(from.idle) - 1; n >= 0 {
		from.idle[n].Close()
		from.idle = from.idle[:n]
	}
}
