// Package guest makes a program that imports it a client inside a simulation: the program is compiled for
// WebAssembly, and its library runs there unchanged.
//
// Call [Register] from an init function with a function that makes the library's lock; configure the library to
// open its connections with [Dial]. A complete client:
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
//
// Stability: the API of this package keeps working within a major version.
package guest

import (
	"context"
	"time"

	"github.com/locksim/locksim/locks"
)

// Config is the configuration of a client: its name, the lock's servers, the lock, and its parameters.
type Config struct {
	// Name is the name of the client process.
	Name string
	// Servers are the addresses of the lock's servers, in the scenario's order. No name in them needs to be resolved:
	// [Dial] does that.
	Servers []string
	// Sentinel is the name of the master at the Redis Sentinels whose addresses Servers are; "" if they are not Sentinels.
	// Only a program that declares sentinel (see docs/libraries.md) is given Sentinels: they tell it who is the master.
	Sentinel string
	// Cluster says that Servers are the nodes of a Redis Cluster, masters and replicas. Only a program that declares cluster is
	// given them.
	Cluster bool
	// Key is the name of the lock.
	Key string
	// TTL is the time to live of a lease, or of a session that its client does not renew.
	TTL time.Duration
	// Timeout is how long one call to a server may take; 0 is the library's default, as in the fields below.
	Timeout time.Duration
	// Renew is the time between two renewals of a lease.
	Renew time.Duration
	// Retry says how often, and how soon, the client requests a lock again that another client holds.
	Retry locks.Retry
	// LockDelay is how long the servers are to keep a lock from others that was lost rather than released; nil is their own
	// default. Only servers of some kinds do so, such as Consul's.
	LockDelay *time.Duration
}

// Mutex is the interface to the library's lock.
type Mutex struct {
	// Lock requests the lock and waits for it until ctx ends.
	Lock func(ctx context.Context) (Lease, error)
	// TryLock requests the lock once without waiting; Lock is used if it is nil.
	TryLock func(ctx context.Context) (Lease, error)
	// Unlock releases the lock.
	Unlock func(ctx context.Context) error
	// Extend prolongs the lease, and returns its new end; zero if the library does not say. If renewal is configured,
	// the client calls it every Config.Renew during its critical section, and gives up when it fails with ErrNotHeld
	// or when the last known lease has expired: if the library states no end, that is one TTL after Lock returned, or
	// after the call of the last successful Extend. Nil if the library cannot extend leases, or does so by itself.
	Extend func(ctx context.Context) (until time.Time, err error)
	// Valid asks the servers whether the lock is still held, which careful clients do before each access; nil
	// if the library has no such function.
	Valid func(ctx context.Context) error
}

// Lease is the library's information about an acquired lock.
type Lease struct {
	// Value identifies the holder at the servers. It may be empty.
	Value string
	// Token is the fencing token; 0 if there is none.
	Token uint64
	// Until is when the lease ends unless renewed; zero if the library does not say. It is on the monotonic clock if it
	// is derived from time.Now, and on the wall clock otherwise, for example after Round or UTC or if made from a number.
	Until time.Time
	// Lost is closed when the library tells the holder that it no longer holds the lock; nil if it never does.
	// The Done channel of a context can be used.
	Lost <-chan struct{}
	// Suspended is closed when the connection that keeps the lease is interrupted; nil if the library does not report it.
	Suspended <-chan struct{}
}

// The errors of Lock and Unlock, to be wrapped or returned unchanged. Any other error leaves open what the
// servers have done.
var (
	// ErrNotAcquired says that another client holds the lock, or that too few servers granted it.
	ErrNotAcquired = locks.ErrNotAcquired
	// ErrNotHeld says that the client that released the lock did not hold it.
	ErrNotHeld = locks.ErrNotHeld
)

// registered makes the program's lock.
var registered func(Config) (Mutex, error)

// connecting opens the library's connections before the lock is made; nil if the program cannot.
var connecting func(Config) error

// Register registers the function that opens the program's lock. Call it once, from an init function. Open is
// called at the start of every process, and again after each of its crashes.
func Register(open func(Config) (Mutex, error)) {
	if registered != nil {
		panic("guest: Register is called twice")
	}
	registered = open
	register()
}

// RegisterConnecting registers a lock whose library can open its connections before the lock is used. Call it instead of [Register].
//
// Clients makes the library's clients of the servers; of its Config only Servers, Sentinel, Cluster and Timeout are set. Open makes
// the lock on them. A process that begins with connections (`connected` in a scenario) calls connect in between, in a preparation in
// which nothing fails: connect has the clients open their connections and set them up. It may send nothing else but what a server
// forgets with the connection, such as HELLO, CLIENT, SELECT and PING of Redis. What it leaves in memory is what every such process
// begins with. Other processes, and those that are started again after a crash, do not call it.
func RegisterConnecting[T any](clients func(Config) (T, error), connect func(context.Context, T) error, open func(Config, T) (Mutex, error)) {
	var made *T
	of := func(c Config) (T, error) {
		if made != nil {
			return *made, nil
		}
		return clients(Config{Servers: c.Servers, Sentinel: c.Sentinel, Cluster: c.Cluster, Timeout: c.Timeout})
	}
	connecting = func(c Config) error {
		all, err := of(c)
		if err == nil {
			made, err = &all, connect(context.Background(), all)
		}
		return err
	}
	Register(func(c Config) (Mutex, error) {
		all, err := of(c)
		if err != nil {
			return Mutex{}, err
		}
		return open(c, all)
	})
}
