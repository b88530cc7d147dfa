package locks

import (
	"strconv"
	"time"
)

// Options configures a lock. The zero value of a field stands for the default that its comment names.
type Options struct {
	Key   string        // the lock's name at the servers; "lock"
	TTL   time.Duration // life of a lease; 10 s
	Renew time.Duration // how long a watchdog waits before it renews; the lock's own default
	Retry Retry         // how a blocked Acquire asks again
	// Timeout is how long one call to a server may take; the client's own limit if there is one, which is none on
	// independent servers, but 50 ms for the Redlock family.
	Timeout time.Duration
	// Acks is how many replicas must have acknowledged a grant, for locks that ask; 1.
	Acks int
	// Library names the client library whose handling of sessions is followed, where there are several; the lock's own
	// default.
	Library string
	// LockDelay is how long the servers keep a lock from others that was lost rather than released, where the client
	// may choose it; nil: the servers' default.
	LockDelay *time.Duration
	_         struct{}
}

// Retry says how a blocked Acquire asks again.
type Retry struct {
	Delay  time.Duration // between two tries; 200 ms. Redlock without Jitter draws its delay from [0, Delay]
	Jitter time.Duration // up to this much is added at random to every delay
	Tries  int           // give up after so many tries; 0: as many as the wait allows
}

// The defaults that all locks share; a lock that differs says so in its own file.
const (
	defaultKey   = "lock"
	defaultTTL   = 10 * time.Second
	defaultDelay = 200 * time.Millisecond
)

func (o Options) withDefaults() Options {
	if o.Key == "" {
		o.Key = defaultKey
	}
	if o.TTL == 0 {
		o.TTL = defaultTTL
	}
	if o.Retry.Delay == 0 {
		o.Retry.Delay = defaultDelay
	}
	return o
}

func itoa(n int) string { return strconv.Itoa(n) }

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
