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
	var session *concurrency.Session
	var mutex *concurrency.Mutex
	take := func(ctx context.Context, lock func(*concurrency.Mutex, context.Context) error) (guest.Lease, error) {
		if session == nil || over(session) {
			if session, err = concurrency.NewSession(client, concurrency.WithTTL(int(c.TTL/time.Second))); err != nil {
				return guest.Lease{}, err
			}
		}
		mutex = concurrency.NewMutex(session, c.Key)
		if err := lock(mutex, ctx); err != nil {
			if errors.Is(err, concurrency.ErrLocked) || ctx.Err() != nil {
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

// over reports whether a session has ended.
func over(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}
