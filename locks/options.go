package locks

import (
	"strconv"
	"time"
)

// Options configures a lock. The zero value of a field stands for the default in its comment.
type Options struct {
	Key   string        // the lock's name at the servers; "lock"
	TTL   time.Duration // life of a lease; 10 s
	Renew time.Duration // the watchdog's renewal interval; the lock's own default
	Retry Retry         // how a blocked Acquire retries
	// Timeout is how long one call to a server may take; by default the client's own limit, if any: none on
	// independent servers, but 50 ms for the Redlock family.
	Timeout time.Duration
	// Acks is how many replicas must have acknowledged a grant, for locks that wait for them; 1.
	Acks int
	// Library names the client library whose session handling is simulated, where there are several; the lock's
	// own default.
	Library string
	// LockDelay is how long the servers withhold a lock that was lost rather than released, where the client
	// may choose it; nil: the servers' default.
	LockDelay *time.Duration
	_         struct{}
}

// Retry says how a blocked Acquire retries.
type Retry struct {
	Delay  time.Duration // between two tries; 200 ms. Redlock without Jitter draws its delay from [0, Delay]
	Jitter time.Duration // the upper bound of a random addition to every delay
	Tries  int           // the maximum number of tries; 0: as many as the wait allows
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
