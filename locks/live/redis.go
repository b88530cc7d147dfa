package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/locksim/locksim/locks"
)

// redisClient is go-redis's client of one server, or of a master that Sentinels name. It does not send a command again:
// what became of it is the lock's business.
type redisClient struct{ of *redis.Client }

// dialTimeout is how long the opening of a connection may take where a lock does not say (go-redis, options.go).
const dialTimeout = 5 * time.Second

// errNoConnection marks what happened before anything was sent.
type errNoConnection struct{ error }

func (e errNoConnection) Unwrap() error { return e.error }

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, errNoConnection{err}
	}
	return conn, nil
}

// silence keeps go-redis from writing to the standard error: what failed is told by the errors.
type silence struct{}

// Printf writes nothing; it implements go-zookeeper's logger.
func (silence) Printf(string, ...any) {}

type redisSilence struct{}

// Printf writes nothing; it implements go-redis's logger.
func (redisSilence) Printf(context.Context, string, ...any) {}

var silenced = sync.OnceFunc(func() { redis.SetLogger(redisSilence{}) })

func newRedisClient(address string) *redisClient {
	silenced()
	return &redisClient{redis.NewClient(&redis.Options{
		Addr: address, Dialer: dial, Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialerRetries: 1,
		ContextTimeoutEnabled: true, ReadTimeout: -1, WriteTimeout: -1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
}

func newSentinelClient(master string, sentinels []string, routes map[string]string) *redisClient {
	silenced()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if other, ok := routes[address]; ok {
			address = other
		}
		return dial(ctx, network, address)
	}
	return &redisClient{redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: master, SentinelAddrs: sentinels, Dialer: dial, Protocol: 2, DisableIdentity: true,
		MaxRetries: -1, DialerRetries: 1, ReadTimeout: -1, WriteTimeout: -1, ContextTimeoutEnabled: true,
	})}
}

func (c *redisClient) close() error { return c.of.Close() }

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
	var reply any
	var err error
	client := r.client()
	r.blocking(func() {
		ctx, cancel := r.within(timeout)
		defer cancel()
		reply, err = client.of.Do(ctx, words(args)...).Result()
	})
	return answer(reply, err)
}

// Pipeline sends commands on one connection and waits for all replies.
func (r *redisPort) Pipeline(timeout time.Duration, commands ...[]string) ([]locks.Reply, error) {
	var sent []*redis.Cmd
	client := r.client()
	r.blocking(func() {
		ctx, cancel := r.within(timeout)
		defer cancel()
		batch := client.of.Pipeline()
		for _, args := range commands {
			sent = append(sent, batch.Do(ctx, words(args)...))
		}
		_, _ = batch.Exec(ctx) // every command has its own outcome
	})
	var list []locks.Reply
	for _, command := range sent {
		reply, err := answer(command.Result())
		switch refused := (*locks.RedisError)(nil); {
		case errors.As(err, &refused):
			return list, err
		case err != nil:
			return nil, err
		}
		list = append(list, reply)
	}
	return list, nil
}

func words(args []string) []any {
	list := make([]any, len(args))
	for i, arg := range args {
		list[i] = arg
	}
	return list
}

// answer tells a command's outcome in the words of the locks. A failure before there was a connection means certainly
// not done; every other failure leaves the outcome unknown.
func answer(reply any, err error) (locks.Reply, error) {
	var refused redis.Error
	switch before := (errNoConnection{}); {
	case err == nil:
		return replyOf(reply), nil
	case errors.Is(err, redis.Nil):
		return locks.Reply{Nil: true}, nil
	case errors.As(err, &refused):
		return locks.Reply{}, &locks.RedisError{Text: refused.Error()}
	case errors.As(err, &before), errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return locks.Reply{}, fmt.Errorf("%w: %w", locks.ErrNotDone, err)
	default:
		return locks.Reply{}, fmt.Errorf("%w: %w", locks.ErrUnknown, err)
	}
}

func replyOf(reply any) locks.Reply {
	switch reply := reply.(type) {
	case nil:
		return locks.Reply{Nil: true}
	case string:
		return locks.Reply{Str: reply}
	case int64:
		return locks.Reply{Int: reply}
	case []any:
		list := make([]locks.Reply, len(reply))
		for i, element := range reply {
			list[i] = replyOf(element)
		}
		return locks.Reply{Array: list}
	default:
		return locks.Reply{Str: fmt.Sprint(reply)}
	}
}

// subscription is a connection on which a channel is listened to.
type subscription struct {
	*machine
	pubsub *redis.PubSub
	next   *signal
	over   bool
}

// Subscribe opens a separate connection and subscribes to a channel on it.
func (r *redisPort) Subscribe(timeout time.Duration, channel string) (locks.Subscription, error) {
	s := &subscription{machine: r.machine, next: newSignal()}
	client := r.client()
	var err error
	r.blocking(func() {
		ctx, cancel := r.within(timeout)
		defer cancel()
		s.pubsub = client.of.Subscribe(ctx, channel)
		_, err = s.pubsub.Receive(ctx)
	})
	if err != nil {
		_, err = answer(nil, err)
		return nil, errors.Join(err, s.pubsub.Close())
	}
	r.alive.Go(s.listen)
	return s, nil
}

// listen fires signals until the connection is lost: go-redis would open another, on which nothing is heard of what was
// published meanwhile.
func (s *subscription) listen() {
	for {
		_, err := s.pubsub.ReceiveMessage(context.Background())
		s.turn.Lock()
		s.over = err != nil
		s.next.Fire()
		if !s.over {
			s.next = newSignal()
		}
		s.turn.Unlock()
		if err != nil {
			_ = s.pubsub.Close()
			return
		}
	}
}

// Next returns a signal that fires with the next message, or with the end of the connection.
func (s *subscription) Next() locks.Signal { return s.next }

// Over reports whether the connection is lost.
func (s *subscription) Over() bool { return s.over }

// Close ends the subscription.
func (s *subscription) Close() { _ = s.pubsub.Close() }
