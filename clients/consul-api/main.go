// Command consul-api brings the lock of Consul's own Go library into a simulation, with its defaults. Each critical section has a
// lock of its own, and so a session of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

// dialTimeout is that of the library's own dialer (hashicorp/go-cleanhttp, DefaultPooledTransport).
const dialTimeout = 30 * time.Second

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return guest.Dial(ctx, network, address)
}

func open(c guest.Config) (guest.Mutex, error) {
	config := api.DefaultConfig()
	config.Address, config.Transport.DialContext = c.Servers[0], dial
	client, err := api.NewClient(config)
	if err != nil {
		return guest.Mutex{}, err
	}
	var held *api.Lock
	take := func(ctx context.Context, options api.LockOptions) (guest.Lease, error) {
		options.Key, options.SessionTTL = c.Key, c.TTL.String()
		if c.LockDelay != nil { // the library takes 0 for Consul's default: none is a millisecond
			options.LockDelay = max(*c.LockDelay, time.Millisecond)
		}
		lock, err := client.LockOpts(&options)
		if err != nil {
			return guest.Lease{}, err
		}
		lost, err := lock.Lock(ctx.Done())
		switch {
		case err != nil:
			return guest.Lease{}, err
		case lost == nil: // it was told to stop, or its time was over
			return guest.Lease{}, fmt.Errorf("%w: Lock has stopped waiting", guest.ErrNotAcquired)
		}
		held = lock
		return guest.Lease{Lost: lost}, nil
	}
	return guest.Mutex{
		Lock: func(ctx context.Context) (guest.Lease, error) {
			if end, limited := ctx.Deadline(); limited {
				return take(ctx, api.LockOptions{LockTryOnce: true, LockWaitTime: time.Until(end)})
			}
			return take(ctx, api.LockOptions{})
		},
		TryLock: func(ctx context.Context) (guest.Lease, error) {
			return take(ctx, api.LockOptions{LockTryOnce: true, LockWaitTime: time.Millisecond})
		},
		Unlock: func(context.Context) error {
			err := held.Unlock()
			if errors.Is(err, api.ErrLockNotHeld) {
				return fmt.Errorf("%w: %w", guest.ErrNotHeld, err)
			}
			return err
		},
	}, nil
}
