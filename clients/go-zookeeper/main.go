// Command go-zookeeper brings the lock of go-zookeeper into a simulation, with its defaults; it logs errors only. The library
// tells of a session that is interrupted or lost only where it tells of connections, so that is where this program listens.
// One zk.Lock is used for all sections, as applications keep it; a new one takes its place only where waiting was given up,
// since the old one waits on.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

func open(c guest.Config) (guest.Mutex, error) {
	var news notices
	conn, _, err := zk.Connect(c.Servers, c.TTL, zk.WithDialer(dial), zk.WithLogInfo(false), zk.WithEventCallback(news.hear))
	if err != nil {
		return guest.Mutex{}, err
	}
	unlocked := func() *zk.Lock { return zk.NewLock(conn, "/"+c.Key, zk.WorldACL(zk.PermAll)) }
	lock := unlocked()
	return guest.Mutex{
		Lock: func(ctx context.Context) (guest.Lease, error) {
			asked, done := lock, make(chan error, 1)
			go func() { done <- asked.Lock() }()
			select {
			case err := <-done:
				return news.begin(conn.State()), named(err)
			case <-ctx.Done():
				lock = unlocked()
				go giveBack(asked, done)
				return guest.Lease{}, fmt.Errorf("%w: %w", guest.ErrNotAcquired, ctx.Err())
			}
		},
		Unlock: func(context.Context) error { return named(lock.Unlock()) },
	}, nil
}

// giveBack releases a lock that nobody wants any more once Lock has it, which cannot be told to stop. Like an application that
// knows of no other way to be rid of the lock, it repeats an Unlock that failed.
func giveBack(lock *zk.Lock, done <-chan error) {
	if <-done != nil {
		return
	}
	for err := lock.Unlock(); err != nil && !errors.Is(err, zk.ErrNoNode); err = lock.Unlock() {
		time.Sleep(time.Second)
	}
}

// named says in guest's words what an error means. ErrDeadlock is what a lock says that it believes to hold still: it has
// asked nobody.
func named(err error) error {
	switch {
	case errors.Is(err, zk.ErrDeadlock):
		return fmt.Errorf("%w: %w", guest.ErrNotAcquired, err)
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNotLocked):
		return fmt.Errorf("%w: %w", guest.ErrNotHeld, err)
	}
	return err
}

func dial(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return guest.Dial(ctx, network, address)
}

// notices are what a holder is told of its connection and its session.
type notices struct {
	mu              sync.Mutex
	suspended, lost chan struct{}
}

// begin returns a lease that hears of what happens from now on, and of what is the matter already.
func (n *notices) begin(now zk.State) guest.Lease {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.suspended, n.lost = make(chan struct{}), make(chan struct{})
	lease := guest.Lease{Suspended: n.suspended, Lost: n.lost}
	if now != zk.StateHasSession {
		tell(&n.suspended)
	}
	return lease
}

// hear is called by the library with all that happens.
func (n *notices) hear(e zk.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch e.State {
	case zk.StateDisconnected:
		tell(&n.suspended)
	case zk.StateExpired:
		tell(&n.lost)
	}
}

// tell closes a channel that nobody has closed yet.
func tell(c *chan struct{}) {
	if *c != nil {
		close(*c)
		*c = nil
	}
}
