// Command rueidislock brings the lock of rueidis into a simulation, with its defaults, but for what the scenario says and for
// NOLOOP. Without that a holder is told of each of its own renewals, and renews again at once, and so on for as long as it holds
// (see FINDINGS.md): right, but so many requests that hardly a run comes to its end.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"reflect"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

func open(c guest.Config) (guest.Mutex, error) {
	option := rueidis.ClientOption{
		InitAddress: c.Servers, Sentinel: rueidis.SentinelOption{MasterSet: c.Sentinel}, ConnWriteTimeout: c.Timeout, DialFn: dial,
	}
	if c.Sentinel == "" && !c.Cluster {
		option.InitAddress = c.Servers[:1]
	}
	// Versions that dial with the context of the request say so with a field that others, which dial without, do not have.
	if field := reflect.ValueOf(&option).Elem().FieldByName("DialCtxFn"); field.IsValid() {
		field.Set(reflect.ValueOf(dialContext))
	}
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		KeyValidity: c.TTL, ExtendInterval: c.Renew, NoLoopTracking: true, ClientOption: option,
	})
	if err != nil {
		return guest.Mutex{}, err
	}
	var unlock context.CancelFunc
	type locked func(context.Context, string) (context.Context, context.CancelFunc, error)
	take := func(lock locked) func(context.Context) (guest.Lease, error) {
		return func(ctx context.Context) (guest.Lease, error) {
			// The lock lives in the context that it is taken in, and must outlive that of the waiting.
			life, end := context.WithCancel(context.Background())
			patient := context.AfterFunc(ctx, end)
			holding, cancel, err := lock(life, c.Key)
			if !patient() && err == nil {
				cancel()
				err = ctx.Err()
			}
			if err != nil {
				end()
				return guest.Lease{}, refused(err)
			}
			unlock = cancel
			return guest.Lease{Lost: holding.Done()}, nil
		}
	}
	return guest.Mutex{
		Lock: take(locker.WithContext), TryLock: take(locker.TryWithContext),
		Unlock: func(context.Context) error { unlock(); return nil },
	}, nil
}

// dial opens a connection, as long as the library's own dialer would take for it at most: that for Sentinels has no limit of
// its own.
func dial(address string, by *net.Dialer, secure *tls.Config) (net.Conn, error) {
	return dialContext(context.Background(), address, by, secure)
}

func dialContext(ctx context.Context, address string, by *net.Dialer, _ *tls.Config) (net.Conn, error) {
	if by.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, by.Timeout)
		defer cancel()
		ctx = limited
	}
	return guest.Dial(ctx, "tcp", address)
}

// refused tells a lock that somebody else has from servers that did not answer.
func refused(err error) error {
	if errors.Is(err, rueidislock.ErrNotLocked) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", guest.ErrNotAcquired, err)
	}
	return err
}
