package locktest

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
)

// sightings is what a lock was seen to do in a run.
type sightings struct {
	kinds      []string    // of servers that it asked for a client of, in this order
	nodes      []int       // numbers of the Redis servers that it turned to
	keys       []candidate // of what may be the lock's
	lives      []time.Duration
	asked      []locks.Monotonic // when requests were sent
	acquired   []acquired
	refused    []error
	patience   time.Duration // the shortest time for which an answer of Redis was waited for
	unbuilt    error         // what the builder returned in the place of a lock
	unreleased error         // what the first Release that failed said
	guards     bool
	verifies   bool
	wall       bool   // clients compare the times of wall clocks
	waits      bool   // for replicas to have what it wrote
	version    string // of the servers that have the commands which it sends; "": all have
}

// acquired is a lease that the lock has returned.
type acquired struct {
	called, returned, released locks.Monotonic // released is 0 if it was not
	first                      locks.Monotonic // when its first request was sent
	requests                   int             // that Acquire sent
	lease                      locks.Lease
}

// candidate is a key that may be the one whose maker holds, with the authority that would have it so.
type candidate struct {
	key       string
	authority locks.Authority
}

func note[T comparable](list *[]T, x T) {
	if !slices.Contains(*list, x) {
		*list = append(*list, x)
	}
}

// mostKeys is after how many keys no more are noted: a lock whose statements name other values each time has its key among
// the first.
const mostKeys = 64

func (s *sightings) sees(key string, authority locks.Authority) {
	if len(s.keys) < mostKeys {
		note(&s.keys, candidate{key, authority})
	}
}

// recorder is a process, as a lock sees it, that notes what the lock does.
type recorder struct {
	locks.Process
	seen *sightings
}

// recorded has a builder's locks watched.
func recorded(build locks.Builder, seen *sightings) locks.Builder {
	return func(p locks.Process) (locks.Lock, error) {
		lock, err := build(&recorder{p, seen})
		if err != nil {
			seen.unbuilt = err
			return nil, err
		}
		_, seen.guards = lock.(locks.Guard)
		_, seen.verifies = lock.(locks.Verifier)
		return &recordedLock{lock, p, seen}, nil
	}
}

// Go has the task watched, too.
func (r *recorder) Go(fn func(p locks.Process)) locks.Signal {
	return r.Process.Go(func(p locks.Process) { fn(&recorder{p, r.seen}) })
}

func (r *recorder) asks(kind string) { note(&r.seen.kinds, kind) }

func (r *recorder) sends() { r.seen.asked = append(r.seen.asked, r.Monotonic()) }

// RedisNodes notes nothing: who only counts servers does not turn to them.
func (r *recorder) RedisNodes() int {
	r.asks("redis")
	return r.Process.RedisNodes()
}

// Redis notes commands.
func (r *recorder) Redis(i int) locks.Redis {
	r.asks("redis")
	return &redisRecorder{r.Process.Redis(i), r, i}
}

// ZooKeeper notes sessions and nodes.
func (r *recorder) ZooKeeper() locks.ZooKeeper {
	r.asks("zookeeper")
	return &zooKeeperRecorder{r.Process.ZooKeeper(), r}
}

// Etcd notes leases and keys.
func (r *recorder) Etcd() locks.Etcd {
	r.asks("etcd")
	return &etcdRecorder{r.Process.Etcd(), r}
}

// Consul notes sessions and keys.
func (r *recorder) Consul() locks.Consul {
	r.asks("consul")
	return &consulRecorder{r.Process.Consul(), r}
}

// Chubby notes sessions and locks.
func (r *recorder) Chubby() locks.Chubby {
	r.asks("chubby")
	return &chubbyRecorder{r.Process.Chubby(), r}
}

// Memcached notes items.
func (r *recorder) Memcached() locks.Memcached {
	r.asks("memcached")
	return &memcachedRecorder{r.Process.Memcached(), r}
}

// SQL notes statements.
func (r *recorder) SQL() locks.SQL {
	r.asks("sql")
	return &sqlRecorder{r.Process.SQL(), r}
}

// Other notes objects, and what Hazelcast is asked. Of other kinds of servers it notes the kind alone: what their client is asked is not known here.
func (r *recorder) Other(kind string) any {
	r.asks(kind)
	client := r.Process.Other(kind)
	switch c := client.(type) {
	case locks.Objects:
		return &objectRecorder{c, r}
	case locks.Hazelcast:
		return &hazelcastRecorder{c, r}
	default:
		return client
	}
}

// recordedLock notes leases.
type recordedLock struct {
	locks.Lock
	p    locks.Process
	seen *sightings
}

// Acquire notes how it ended.
func (l *recordedLock) Acquire(wait time.Duration) (locks.Lease, error) {
	a := acquired{called: l.p.Monotonic(), requests: -len(l.seen.asked)}
	lease, err := l.Lock.Acquire(wait)
	if err != nil {
		l.seen.refused = append(l.seen.refused, err)
		return lease, err
	}
	a.returned, a.lease, a.first = l.p.Monotonic(), lease, a.called
	if a.requests += len(l.seen.asked); a.requests > 0 {
		a.first = l.seen.asked[len(l.seen.asked)-a.requests]
	}
	l.seen.acquired = append(l.seen.acquired, a)
	return lease, nil
}

// Release notes that it is called.
func (l *recordedLock) Release(lease locks.Lease) error {
	for i := range slices.Backward(l.seen.acquired) {
		if a := &l.seen.acquired[i]; a.released == 0 {
			a.released = l.p.Monotonic()
			break
		}
	}
	err := l.Lock.Release(lease)
	if l.seen.unreleased == nil {
		l.seen.unreleased = err
	}
	return err
}

type redisRecorder struct {
	locks.Redis
	r    *recorder
	node int
}

func (c *redisRecorder) note(args []string) {
	c.r.seen.waits = c.r.seen.waits || len(args) > 0 && strings.EqualFold(args[0], "WAIT")
	c.r.seen.needs(args)
	c.r.sends()
	note(&c.r.seen.nodes, c.node)
	for _, key := range keysOf(args) {
		c.r.seen.sees(key, locks.OneNode)
	}
}

// needs notes the version of the servers from which on they have a command.
func (s *sightings) needs(args []string) {
	command := strings.ToUpper(append(args, "")[0])
	has := func(word string) bool {
		return slices.ContainsFunc(args[min(len(args), 3):], func(arg string) bool { return strings.EqualFold(arg, word) })
	}
	switch {
	case command == "DELEX" || command == "SET" && has("IFNE"):
		s.version = "redis-8.4"
	case command == "DELIFEQ" || command == "SET" && has("IFEQ") && s.version == "":
		s.version = "valkey-9.0"
	}
}

// keysOf returns the keys that a command names.
func keysOf(args []string) []string {
	if len(args) < 2 {
		return nil
	}
	switch strings.ToUpper(args[0]) {
	case "EVAL", "EVALSHA":
		n := 0
		if len(args) > 2 && len(args[2]) == 1 {
			n = int(args[2][0] - '0')
		}
		return args[min(3, len(args)):min(3+max(n, 0), len(args))]
	case "SCRIPT", "WAIT", "PUBLISH", "TIME", "INFO":
		return nil
	}
	return args[1:2]
}

// waits notes for how long the lock waits for an answer.
func (c *redisRecorder) waits(timeout time.Duration) {
	if seen := c.r.seen; timeout > 0 && (seen.patience == 0 || timeout < seen.patience) {
		seen.patience = timeout
	}
}

// Do notes the command.
func (c *redisRecorder) Do(timeout time.Duration, args ...string) (locks.Reply, error) {
	c.note(args)
	c.waits(timeout)
	return c.Redis.Do(timeout, args...)
}

// Pipeline notes the commands.
func (c *redisRecorder) Pipeline(timeout time.Duration, commands ...[]string) ([]locks.Reply, error) {
	for _, args := range commands {
		c.note(args)
	}
	c.waits(timeout)
	return c.Redis.Pipeline(timeout, commands...)
}
