package live

import (
	"context"
	"time"

	"github.com/locksim/locksim/locks"
)

// redisPort is the locks.Redis of one task.
type redisPort struct {
	*machine
	server int
}

// client is that of the server that is now taken for this one.
func (r *redisPort) client() *redisClient {
	r.clients.Lock()
	defer r.clients.Unlock()
	return r.redis[r.server]
}

// within returns a context for a call.
func (m *machine) within(timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(m.ctx)
	}
	return context.WithTimeout(m.ctx, timeout)
}

// Do sends a command and waits for its reply.
func (r *redisPort) Do(timeout time.Duration, args ...string) (locks.Reply, error) {
	replies, err := r.Pipeline(timeout, args)
	if err != nil {
		return locks.Reply{}, err
	}
	return replies[0], nil
}

// Pipeline sends commands on one connection and waits for all replies.
func (r *redisPort) Pipeline(timeout time.Duration, commands ...[]string) ([]locks.Reply, error) {
	for _, args := range commands {
		if len(args) == 0 {
			return nil, &locks.RedisError{Text: "ERR wrong number of arguments"}
		}
	}
	var answers []redisAnswer
	var err error
	client := r.client()
	r.blocking(func() {
		ctx, cancel := r.within(timeout)
		defer cancel()
		answers, err = client.ask(ctx, commands)
	})
	list := make([]locks.Reply, 0, len(answers))
	for _, a := range answers {
		if a.refused != nil {
			return list, a.refused
		}
		list = append(list, a.reply)
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// subscription is a connection on which a channel is listened to.
type subscription struct {
	*machine
	client *redisClient
	conn   *redisConn
	next   *signal
	over   bool
}

// Subscribe opens a separate connection and subscribes to a channel on it.
func (r *redisPort) Subscribe(timeout time.Duration, channel string) (locks.Subscription, error) {
	s := &subscription{machine: r.machine, client: r.client(), next: newSignal()}
	var err error
	r.blocking(func() {
		ctx, cancel := r.within(timeout)
		defer cancel()
		s.conn, err = s.client.subscribe(ctx, channel)
	})
	if err != nil {
		return nil, err
	}
	r.alive.Go(s.listen)
	return s, nil
}

// listen fires signals until the connection is lost. It opens no other, on which nothing would be heard of what was
// published meanwhile.
func (s *subscription) listen() {
	for {
		_, err := s.conn.message()
		s.turn.Lock()
		s.over = err != nil
		s.next.Fire()
		if !s.over {
			s.next = newSignal()
		}
		s.turn.Unlock()
		if err != nil {
			s.Close()
			return
		}
	}
}

// Next returns a signal that fires with the next message, or with the end of the connection.
func (s *subscription) Next() locks.Signal { return s.next }

// Over reports whether the connection is lost.
func (s *subscription) Over() bool { return s.over }

// Close ends the subscription.
func (s *subscription) Close() { s.client.discard(s.conn) }
