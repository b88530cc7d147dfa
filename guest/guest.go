// Package guest is what a program imports to be a client inside a simulation: it is compiled for WebAssembly, and its
// library runs there as it is.
//
// Call [Register] from an init function with what makes the library's lock; give the library [Dial] to open its
// connections with. A whole client:
//
//	func main() {}
//
//	func init() { guest.Register(open) }
//
//	func open(c guest.Config) (guest.Mutex, error) {
//		client := redis.NewClient(&redis.Options{Addr: c.Servers[0], Dialer: guest.Dial})
//		locker, lock := redislock.New(client), (*redislock.Lock)(nil)
//		return guest.Mutex{
//			Lock: func(ctx context.Context) (l guest.Lease, err error) {
//				asked := time.Now()
//				if lock, err = locker.Obtain(ctx, c.Key, c.TTL, nil); errors.Is(err, redislock.ErrNotObtained) {
//					err = guest.ErrNotAcquired
//				}
//				return guest.Lease{Until: asked.Add(c.TTL)}, err
//			},
//			Unlock: func(ctx context.Context) error { return lock.Release(ctx) },
//		}, nil
//	}
//
// Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o client.wasm .
//
// In that form main never runs. Clocks, randomness and connections are the simulation's, and Go's scheduler has one
// thread; all else is the program's own code. It also compiles for other systems, so that editors and go vet know it,
// but cannot be run there.
package guest

import (
	"context"
	"time"

	"github.com/locksim/locksim/locks"
)

// Config is what a client is told: who it is, whom to ask for which lock, and how.
type Config struct {
	// Name is that of the client process.
	Name string
	// Servers are the addresses of the lock's servers, in the scenario's order. They are numbers, so that nobody has to
	// ask for names.
	Servers []string
	// Key is what the lock is called.
	Key string
	// TTL is how long a lease lives, or a session without its client.
	TTL time.Duration
	// Timeout is how long one call to a server may take; 0 is the library's own, as with what follows.
	Timeout time.Duration
	// Renew is the time between two renewals of a lease.
	Renew time.Duration
	// Retry says how often, and how soon, a lock is asked for again that somebody else holds.
	Retry locks.Retry
}

// Mutex is the library's lock, as it is used here.
type Mutex struct {
	// Lock asks for the lock and waits for it until ctx ends.
	Lock func(ctx context.Context) (Lease, error)
	// TryLock asks once; Lock if it is nil.
	TryLock func(ctx context.Context) (Lease, error)
	// Unlock gives the lock back.
	Unlock func(ctx context.Context) error
	// Extend prolongs the lease, and returns when it then ends; zero if the library does not say. A client that is told to
	// renew calls it after every Config.Renew while it works, and gives up when it fails with ErrNotHeld or when the lease
	// is over that it knows of: if the library states no end, a whole lease after Lock returned, or after the last Extend
	// that succeeded was called. Nil if the library has nothing of the kind, or does it by itself.
	Extend func(ctx context.Context) (until time.Time, err error)
	// Valid asks the servers whether the lock is still held, which careful clients do before each access; nil if the
	// library has nothing of the kind.
	Valid func(ctx context.Context) error
}

// Lease is what the library tells of a lock that it has got.
type Lease struct {
	// Value is what the servers know the holder by. It may be empty.
	Value string
	// Token is the fencing token; 0 if there is none.
	Token uint64
	// Until is when the lease ends unless renewed; zero if the library does not say. It counts on the monotonic clock
	// if it comes from time.Now, and else, as after Round, UTC or from a number, on the wall clock.
	Until time.Time
	// Lost is closed when the library tells the holder that it holds no longer; nil if it never does. The Done of a
	// context fits.
	Lost <-chan struct{}
	// Suspended is closed when the connection that keeps the lease is interrupted; nil if the library does not tell.
	Suspended <-chan struct{}
}

// What Lock and Unlock can fail with, to be wrapped or returned as they are. After another error it is not known what
// the servers have done.
var (
	// ErrNotAcquired says that somebody else holds the lock, or that too few servers granted it.
	ErrNotAcquired = locks.ErrNotAcquired
	// ErrNotHeld says that the lock was not held by the one who released it.
	ErrNotHeld = locks.ErrNotHeld
)

// registered makes the program's lock.
var registered func(Config) (Mutex, error)

// Register makes known how the program takes its lock. It is to be called once, from an init function. Open is called
// in every process when that begins, and again after each of its crashes.
func Register(open func(Config) (Mutex, error)) {
	if registered != nil {
		panic("guest: Register is called twice")
	}
	registered = open
	register()
}
