package peers

import (
	"fmt"
	"time"
)

// work is what both sides do: clients that take a lock on five servers, hold it for a while and release it, over and over.
type work struct {
	clients int
	cycles  int           // of each client
	hold    time.Duration // the length of a section
	latency time.Duration // of a message, one way
	delay   time.Duration // between two tries of a client that waits, and up to as much again
	lease   time.Duration
}

// servers is how many there are.
const servers = 5

// alone is one client that nobody holds up; contended are three that wait for one another.
var (
	alone = work{
		clients: 1, cycles: 100, hold: 5 * time.Millisecond, latency: time.Millisecond, delay: 50 * time.Millisecond,
		lease: 10 * time.Second,
	}
	contended = work{
		clients: 3, cycles: 10, hold: 5 * time.Millisecond, latency: time.Millisecond, delay: 50 * time.Millisecond,
		lease: 10 * time.Second,
	}
)

// grants is how often the lock is taken.
func (w work) grants() int { return w.clients * w.cycles }

// scenario is the work as locksim plays it, with the lock that asks all servers at once, as redsync does.
func (w work) scenario() string {
	return fmt.Sprintf(`
name: peers
lock: {algorithm: redlock-parallel, ttl: %[1]v}
servers: {kind: redis, masters: %[2]d}
network: {latency: %[3]v}
clients:
  a: {count: %[4]d, sections: %[5]d, work: %[6]v, retry: {delay: %[7]v, jitter: %[7]v}}
until: 10m
expect: {mutual-exclusion: held}
`, w.lease, servers, w.latency, w.clients, w.cycles, w.hold, w.delay)
}
