package servers

import (
	"cmp"
	"errors"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// port is the locks.Redis of one task. On independent servers it is a plain client: a call is one request, and what
// becomes of it is the lock's business. Where servers replicate each other a router finds the master, and has requests
// sent again if it is that of a library which does so.
type port struct {
	process simulated.Process
	state   *shared
	server  int // unless there is a router
}

// readTimeout is how long a client waits for an answer where the lock does not say, if there is a router, and for what
// the library asks on its own account (go-redis, options.go, ReadTimeout).
const readTimeout = 3 * time.Second

var errNoCommand = &locks.RedisError{Text: "ERR wrong number of arguments"}

// Do sends a command and waits for its reply.
func (r *port) Do(timeout time.Duration, args ...string) (locks.Reply, error) {
	if len(args) == 0 {
		return locks.Reply{}, errNoCommand
	}
	if r.state.router == nil {
		reply, err := r.ask(&r.state.pools[r.server], limitOf(r.process, timeout), args)
		if err != nil {
			return locks.Reply{}, err
		}
		return toLocks(reply)
	}
	replies, err := r.route(timeout, args)
	if err != nil {
		return locks.Reply{}, err
	}
	return toLocks(replies[0])
}

// Pipeline sends commands on one connection and waits for all replies.
func (r *port) Pipeline(timeout time.Duration, commands ...[]string) ([]locks.Reply, error) {
	for _, args := range commands {
		if len(args) == 0 {
			return nil, errNoCommand
		}
	}
	var replies []*redis.Reply
	var err error
	if r.state.router == nil {
		replies, err = r.askAll(&r.state.pools[r.server], limitOf(r.process, timeout), commands)
	} else {
		replies, err = r.route(timeout, commands...)
	}
	if err != nil {
		return nil, err
	}
	list := make([]locks.Reply, 0, len(replies))
	for _, one := range replies {
		reply, err := toLocks(one)
		if err != nil {
			return list, err
		}
		list = append(list, reply)
	}
	return list, nil
}

// route sends commands to whichever server the router takes for the master, and again if the router says so. Every
// attempt has the whole time, as in go-redis, whose time-outs are of reads. Several commands belong to one connection:
// they are not sent again once the first of them may have been executed.
func (r *port) route(timeout time.Duration, commands ...[]string) ([]*redis.Reply, error) {
	p, router := r.process, r.state.router
	var doubt error // why it is not known whether an earlier attempt was executed
	for n := 1; ; n++ {
		l := limitOf(p, cmp.Or(timeout, readTimeout))
		at, err := router.master(p, l)
		if err != nil {
			return nil, cmp.Or(doubt, err)
		}
		replies, err := r.askAll(&r.state.pools[at], l, commands)
		if err == nil {
			if !router.answered(p, at, replies[0], n) {
				return replies, nil
			}
			continue
		}
		attempt := n
		if errors.Is(err, locks.ErrUnknown) {
			doubt = err
			if len(commands) > 1 {
				attempt = lastAttempt
			}
		}
		if !router.failed(p, at, attempt) {
			return nil, cmp.Or(doubt, err)
		}
	}
}

// ask sends a command on a connection of a pool and waits for its reply.
func (r *port) ask(from *pool, l limit, args []string) (*redis.Reply, error) {
	turn := r.process.Turn()
	c, err := from.connection(r.process, l)
	if err != nil {
		return nil, err
	}
	return from.exchange(r.process, c, l, r.request(args, turn))
}

// askAll sends commands on one connection of a pool and waits for their replies.
func (r *port) askAll(from *pool, l limit, commands [][]string) ([]*redis.Reply, error) {
	turns := make([]uint64, len(commands))
	for i := range turns {
		turns[i] = r.process.Turn()
	}
	c, err := from.connection(r.process, l)
	if err != nil {
		return nil, err
	}
	requests := make([]sim.Payload, len(commands))
	for i, args := range commands {
		requests[i] = r.request(args, turns[i])
	}
	return from.batch(r.process, c, l, requests)
}

func (r *port) request(args []string, turn uint64) *redis.Request {
	request := redis.NewRequest(args, r.state.service.purposes.Of(args))
	request.Origin = r.process.Origin()
	request.Sent = turn
	return request
}

func toLocks(r *redis.Reply) (locks.Reply, error) {
	switch r.Type {
	case redis.ReplyError:
		return locks.Reply{}, &locks.RedisError{Text: r.Text}
	case redis.ReplyNil, redis.ReplyNilArray:
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
