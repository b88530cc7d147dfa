package harness

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/redis"
)

// pool is a process's connections to one server. As in the common client libraries a call takes an idle connection,
// or opens one; a call that times out closes its own.
type pool struct {
	server *sim.Node
	idle   []*redisConn
}

// redisConn is one connection, and the call that uses it.
type redisConn struct {
	conn    *sim.Conn
	over    bool
	reply   *redis.Response
	settled sim.Signal // the reply is there, or will never come
}

// Deliver takes the reply.
func (c *redisConn) Deliver(p sim.Payload) {
	c.reply = p.(*redis.Response)
	c.settled.Fire()
}

// Closed ends the wait for a reply.
func (c *redisConn) Closed() {
	c.over = true
	c.settled.Fire()
}

// redisPort is the locks.Redis of one task.
type redisPort struct {
	process *process
	pool    *pool
}

// Do sends a command and waits for its reply.
func (r *redisPort) Do(timeout time.Duration, args ...string) (locks.Reply, error) {
	if len(args) == 0 {
		return locks.Reply{}, &locks.RedisError{Text: "ERR wrong number of arguments"}
	}
	p := r.process
	began := p.Monotonic()
	c, err := r.connection(timeout)
	if err != nil {
		return locks.Reply{}, r.failed(locks.ErrNotDone, err)
	}
	request := redis.NewRequest(args, p.world.purpose(args))
	id, asking := p.concern()
	p.world.sent++
	request.Tag, request.Client, request.Sent, request.Asking = int(id), p.client.name, p.world.sent, asking
	c.reply, c.settled = nil, sim.Signal{}
	if err := c.conn.Send(p.task, request); err != nil {
		return locks.Reply{}, r.failed(locks.ErrNotDone, err)
	}
	left := sim.Forever
	if timeout > 0 {
		left = timeout - p.Monotonic().Sub(began)
	}
	p.task.Wait(left, &c.settled)
	if c.reply == nil {
		c.conn.Close()
		return locks.Reply{}, r.failed(locks.ErrUnknown, nil)
	}
	r.pool.idle = append(r.pool.idle, c)
	return toLocks(&c.reply.Reply)
}

// connection takes an idle connection of the pool, or opens one.
func (r *redisPort) connection(timeout time.Duration) (*redisConn, error) {
	for n := len(r.pool.idle); n > 0; n = len(r.pool.idle) {
		c := r.pool.idle[n-1]
		r.pool.idle = r.pool.idle[:n-1]
		if !c.over {
			return c, nil
		}
	}
	c := &redisConn{}
	conn, err := r.process.task.Dial(r.pool.server, c, timeout)
	c.conn = conn
	return c, err
}

func (r *redisPort) failed(outcome, cause error) error {
	if cause == nil {
		return fmt.Errorf("%s: %w", r.pool.server.Name, outcome)
	}
	return fmt.Errorf("%s: %w: %w", r.pool.server.Name, outcome, cause)
}

func toLocks(r *redis.Reply) (locks.Reply, error) {
	switch r.Type {
	case redis.ReplyError:
		return locks.Reply{}, &locks.RedisError{Text: r.Text}
	case redis.ReplyNil:
		return locks.Reply{Nil: true}, nil
	case redis.ReplyArray:
		array := make([]locks.Reply, len(r.Elems))
		for i := range r.Elems {
			array[i], _ = toLocks(&r.Elems[i])
		}
		return locks.Reply{Array: array}, nil
	default:
		return locks.Reply{Str: r.Text, Int: r.Int}, nil
	}
}
