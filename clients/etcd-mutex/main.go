// Command etcd-mutex brings concurrency.Mutex of etcd's own Go library into a simulation, with its defaults: the tasks of a process
// share a client, and each has a session of its own, and another one when that has ended.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc"

	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

func open(c guest.Config) (guest.Mutex, error) {
	dial := func(ctx context.Context, address string) (net.Conn, error) { return guest.Dial(ctx, "tcp", address) }
	client, err := clientv3.New(clientv3.Config{
		Endpoints: c.Servers, DialTimeout: c.Timeout, DialOptions: []grpc.DialOption{grpc.WithContextDialer(dial)},
	})
	if err != nil {
		return guest.Mutex{}, err
	}
	sessions := sessions{client: client, ttl: int(c.TTL / time.Second)}
	var mutex *concurrency.Mutex
	take := func(ctx context.Context, lock func(*concurrency.Mutex, context.Context) error) (guest.Lease, error) {
		session, err := sessions.current(ctx)
		if err != nil {
			return guest.Lease{}, err
		}
		mutex = concurrency.NewMutex(session, c.Key)
		if err := lock(mutex, ctx); err != nil {
			if errors.Is(err, concurrency.ErrLocked) {
				err = fmt.Errorf("%w: %w", guest.ErrNotAcquired, err)
			}
			return guest.Lease{}, err
		}
		return guest.Lease{Token: uint64(mutex.Header().Revision), Lost: session.Done()}, nil
	}
	return guest.Mutex{
		Lock: func(ctx context.Context) (guest.Lease, error) { return take(ctx, (*concurrency.Mutex).Lock) },
		TryLock: func(ctx context.Context) (guest.Lease, error) {
			return take(ctx, (*concurrency.Mutex).TryLock)
		},
		Unlock: func(ctx context.Context) error { return mutex.Unlock(ctx) },
	}, nil
}

// sessions are those of a task, one after the other.
type sessions struct {
	client *clientv3.Client
	ttl    int // in seconds
	last   *concurrency.Session
	making chan made // the next one; nil: none is being made
}

// made is what came of making a session.
type made struct {
	session *concurrency.Session
	err     error
}

// current returns a session that has not ended. Making one takes no context that ends with it, so that somebody whose time is over
// leaves it to go on, for the next one who asks.
func (s *sessions) current(ctx context.Context) (*concurrency.Session, error) {
	if s.last != nil && !over(s.last) {
		return s.last, nil
	}
	if s.making == nil {
		making := make(chan made, 1)
		s.making = making
		go func() {
			session, err := concurrency.NewSession(s.client, concurrency.WithTTL(s.ttl))
			making <- made{session, err}
		}()
	}
	select {
	case m := <-s.making:
		s.last, s.making = m.session, nil
		return m.session, m.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", guest.ErrNotAcquired, ctx.Err())
	}
}

// over reports whether a session has ended.
func over(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}
