package minimal_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// blamed makes the violation of a property in a case of a named scenario minimal, and returns whom it blames.
func blamed(t *testing.T, scenario, lock string, p checker.Property, style string) minimal.Blame {
	t.Helper()
	s, err := scenarios.Load(scenario)
	if text, ok := blamedStories[scenario]; ok {
		s, err = scenarios.Parse(scenario+".yaml", []byte(text))
	}
	require.NoError(t, err)
	name, variant, _ := strings.Cut(lock, " ")
	algorithm, ok := locks.Catalogue().Find(name)
	require.True(t, ok)
	whole := algorithm.New
	wrapped := func(wrap func(locks.Lock, locks.Process, locks.Options) locks.Lock) {
		algorithm.New = func(o locks.Options) locks.Builder {
			return func(p locks.Process) (locks.Lock, error) {
				l, err := whole(o)(p)
				return wrap(l, p, o), err
			}
		}
	}
	switch variant { // as a library may do it
	case "":
	case "without a reference lock": // the catalogue has no such lock that renews
		algorithm.Name, algorithm.Renews, algorithm.Authority = "alone", true, locks.Majority
		algorithm.New = func(o locks.Options) locks.Builder { o.Renew = o.TTL / 10; return whole(o) }
	case "with a tenth of the lease":
		algorithm.Name = "short-lease"
		algorithm.New = func(o locks.Options) locks.Builder { o.TTL /= 10; return whole(o) }
	case "without its 2 ms":
		algorithm.Name = "exact"
		wrapped(func(l locks.Lock, _ locks.Process, _ locks.Options) locks.Lock { return laterDeadline{l} })
	case "that repeats its release with a DEL":
		algorithm.Name = "repeats"
		wrapped(func(l locks.Lock, p locks.Process, o locks.Options) locks.Lock {
			return repeatedRelease{l, p.Redis(0), o}
		})
	case "that states a deadline a second too late":
		algorithm.Name, algorithm.Deadline = "late", locks.OnMonotonic
		wrapped(func(l locks.Lock, p locks.Process, o locks.Options) locks.Lock {
			return lateDeadline{l, p, o.TTL + time.Second}
		})
	case "of one server":
		algorithm.Name, algorithm.Authority = "one", locks.OneNode
	default:
		t.Fatalf("there is no variant %q", variant)
	}
	var r harness.Runner
	defer r.Close()
	for _, c := range s.Cases() {
		if c.Style.String() != style {
			continue
		}
		plan, err := harness.Compile(c, harness.Options{Instead: &algorithm})
		require.NoError(t, err)
		result, err := r.Run(plan, c.Scenario.Seed, false)
		require.NoError(t, err)
		if first := search.FirstOf(p, &result.Report); first != nil {
			cx, err := minimal.Reduce(&r, search.Violation{
				Case: c, Seed: c.Scenario.Seed, Property: p, Kind: first.Kind,
				Options: harness.Options{Instead: &algorithm},
			}, minimal.Options{})
			require.NoError(t, err)
			t.Logf("%s\n%s", cx.Blame.Sentence(), cx.Scenario.YAML())
			return cx.Blame
		}
	}
	t.Fatalf("%s of %s is not violated in %s with %s clients", p, lock, scenario, style)
	return minimal.Blame{}
}

// laterDeadline is a lock whose holders continue for two milliseconds longer.
type laterDeadline struct{ locks.Lock }

func (l laterDeadline) Acquire(wait time.Duration) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(wait)
	lease.Deadline.At += int64(2 * time.Millisecond)
	return lease, err
}

// lateDeadline is a lock that states a deadline of its own.
type lateDeadline struct {
	locks.Lock
	p  locks.Process
	in time.Duration
}

func (l lateDeadline) Acquire(wait time.Duration) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(wait)
	lease.Deadline = locks.MonotonicDeadline(l.p.Monotonic().Add(l.in))
	return lease, err
}

// repeatedRelease is a lock that deletes whatever is there if its release got no answer.
type repeatedRelease struct {
	locks.Lock
	redis   locks.Redis
	options locks.Options
}

func (l repeatedRelease) Release(lease locks.Lease) error {
	err := l.Lock.Release(lease)
	if errors.Is(err, locks.ErrUnknown) {
		_, err = l.redis.Do(l.options.Timeout, "DEL", l.options.Key)
	}
	return err
}

// blamedStories are violations that are kept or shared by a few milliseconds.
var blamedStories = map[string]string{
	"late-answer": `
name: late-answer
title: The answer to a's request comes when the lease is over
lock: {algorithm: set-nx-lua, ttl: 1s, timeout: 5s}
clients:
  a: {work: 100ms}
  b: {start: 1.5s, work: 3s}
network: {latency: 1ms}
faults:
  - {before: {node: redis-1, does: reply, what: acquire, peer: a}, delay: 2s}
expect: {mutual-exclusion: violated}`,
	"brief-work": `
name: brief-work
title: Work of half a lease
lock: {algorithm: set-nx-ex-del}
clients: {a: {work: 5s}, b: {start: 1ms}}
network: {latency: 1ms}
expect: {mutual-exclusion: violated}`,
	"evicted": `
name: evicted
title: The key is evicted, and a's section is over a moment after b has the lock
lock: {algorithm: set-nx-ex-del}
clients:
  a: {work: 2ms}
  b: {start: 1ms, retry: {delay: 3ms}}
network: {latency: 1ms}
faults:
  - {after: {node: a, does: acquired}, evict: redis-1}
expect: {exclusion-at-service: violated}`,
	"stands-still": `
name: stands-still
title: The holder is paused for two leases
lock: {algorithm: watchdog}
clients: {a: {work: 15s}, b: {start: 1ms}}
network: {latency: 1ms}
faults:
  - {after: {node: a, does: acquired}, pause: a, for: 20s}
expect: {mutual-exclusion: violated}`,
	"forgetful": `
name: forgetful
title: A paused holder shows no token to a resource that would refuse it
lock: {algorithm: set-nx-lua-fenced, ttl: 10s}
clients: {a: {work: 1s, forgets-token: true}, b: {start: 500ms, work: 1s}}
resource: {fencing: fenced-read-write}
network: {latency: 1ms}
faults:
  - {before: {node: a, does: access, what: write}, pause: a, for: 15s}
expect: {resource: violated}`,
	"two-orders": `
name: two-orders
title: Two clients take two locks in opposite orders
lock: {algorithm: zk-sequential, ttl: 10s}
servers: {kind: zookeeper}
locks: {x: {}, y: {}}
clients:
  a: {takes: [x, y], between: 1s}
  b: {takes: [y, x], between: 1s, start: 500ms}
network: {latency: 1ms}
progress: 5s
expect: {progress: violated}`,
	"one-order-and-a-crash": `
name: one-order-and-a-crash
title: The locks are taken in one order by a and b, and a crash keeps them from both
lock: {algorithm: set-nx-lua, ttl: 10s}
locks: {x: {}, y: {}}
clients:
  a: {takes: [y, x], between: 1s}
  b: {takes: [y, x], between: 1s, start: 500ms}
network: {latency: 1ms}
progress: 5s
faults:
  - {after: {node: a, does: acquired}, crash: a}
expect: {progress: violated}`,
	"fast-clocks": `
name: fast-clocks
title: Two clocks are faster than any Redlock allows for, and b comes when redlock's own deadline is over
lock: {algorithm: redlock, ttl: 10s}
servers: {masters: 3}
clients: {a: {work: 10s}, b: {start: 9899ms}}
resource: {fencing: none}
network: {latency: 1us}
clocks: {redis-2: {rate: 11000ppm}, redis-3: {rate: 11000ppm}}
styles: careful
expect: {mutual-exclusion: violated}`,
	"rather-fast-clocks": `
name: rather-fast-clocks
title: Two clocks are as fast as Redlock allows for
lock: {algorithm: redlock, ttl: 10s}
servers: {masters: 3}
clients: {a: {work: 10s}, b: {start: 9950ms}}
resource: {fencing: none}
network: {latency: 1us}
clocks: {redis-2: {rate: 9000ppm}, redis-3: {rate: 9000ppm}}
styles: careful
expect: {mutual-exclusion: violated}`,
	"hangs": `
name: hangs
title: The work of a never ends, and its lease is renewed
lock: {algorithm: watchdog, ttl: 1s}
clients: {a: {work: forever}, b: {start: 1ms}}
network: {latency: 1ms}
progress: 8s
expect: {progress: violated}`,
	"fast-store": `
name: fast-store
title: The store's clock ends a lease 30 us early
lock: {algorithm: azure-blob-lease, ttl: 3s}
servers: {kind: object}
clients: {a: {work: 1s}, b: {start: 4s}}
network: {latency: 1us}
clocks: {store-1: {rate: 10ppm}}
faults: [{after: {node: a, does: release}, pause: a, for: 5s}]
expect: {exclusion-at-service: violated}`,
	"fast-observer": `
name: fast-observer
title: The next one counts the lease by a clock that is fast, and looks at the moment at which that matters
lock: {algorithm: dynamodb, ttl: 3s, renew: 970ms}
servers: {kind: object}
clients: {a: {work: 1s}, b: {start: 1ms}}
network: {latency: 1ms}
clocks: {b: {rate: 20000ppm}}
faults: [{after: {node: a, does: release}, stall: {from: a, to: store-1, oneway: true}, for: 5s}]
expect: {exclusion-at-service: violated}`,
	"far-storage": `
name: far-storage
title: The way to the storage is disturbed for 100 s
lock: {algorithm: watchdog}
clients: {a: {work: 1s, write: 500ms}, b: {start: 1ms}}
network: {latency: 1ms}
progress: 50s
faults:
  - {after: {node: a, does: acquired}, stall: {from: a, to: storage}, for: 100s}
expect: {availability: violated}`,
	"evicted-while-writing": `
name: evicted-while-writing
title: The key is evicted when a has sent its first write, and the next renewal tells a to stop
lock: {algorithm: redlock-extend, ttl: 3s, renew: 1s}
clients: {a: {work: 3s, write: 994500us}, b: {start: 1ms}}
resource: {fencing: none, registers: 2}
network: {latency: 1ms}
faults: [{after: {node: a, does: access, what: write}, evict: redis-1}]
styles: attentive
expect: {resource: violated}`,
	"overrun": `
name: overrun
title: The work of a is longer than its lease, whose deadline the lock states
lock: {algorithm: s3-lease}
servers: {kind: object}
clients: {a: {work: 12s}, b: {start: 1s, wait: try, again: 100ms}}
network: {latency: 1ms}
expect: {mutual-exclusion: violated}`,
	"overrun-in-a-row": `
name: overrun-in-a-row
title: The work of a is longer than its lease, which is in a row
lock: {algorithm: mysql-lease-row}
servers: {kind: mysql}
clients: {a: {work: 12s}, b: {start: 1s}}
network: {latency: 1ms}
expect: {mutual-exclusion: violated}`,
	"two-masters": `
name: two-masters
title: Only a learns of the new master, on which it renews its key; the old one grants the lock when its own key is over
lock: {algorithm: watchdog, ttl: 1s}
servers: {replicas: 1}
clients: {a: {work: 2s}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, promote: redis-2, redirect: a}]
expect: {mutual-exclusion: violated}`,
	"set-back": `
name: set-back
title: The key of a holder that has died stays, since the server's clock is set back
lock: {algorithm: set-nx-lua}
clients: {a: {work: 5s}, b: {start: 500ms, work: 1s}}
network: {latency: 1ms}
progress: 30s
faults: [{at: 1s, clock: redis-1, step: -1h}, {at: 2s, crash: a}]
expect: {progress: violated}`,
	"jump-of-one-of-three": `
name: jump-of-one-of-three
title: The clock of one of two servers with a's key jumps; the third has none by luck
lock: {algorithm: redlock-extend, ttl: 1s}
servers: {masters: 3}
clients: {a: {work: 100ms}, b: {start: 1ms}}
network: {latency: [1ms, 5ms]}
faults: [{after: {node: a, does: acquired}, clock: redis-2, step: 1s}]
expect: {mutual-exclusion: violated}`,
	"late-grant": `
name: late-grant
title: The answer by which a acquires the lock comes when its lease is over
lock: {algorithm: reentrant, ttl: 1s, timeout: 3s}
clients: {a: {work: 500ms}, b: {start: 100ms, work: 1s}}
network: {latency: 1ms}
faults: [{before: {node: redis-1, does: reply, what: acquire, peer: a}, delay: 1500ms}]
expect: {resource: violated}`,
	"own-change": `
name: own-change
title: The answer to a renewal is lost, and the lock meets its own change when it repeats it
lock: {algorithm: dynamodb, ttl: 15s}
servers: {kind: object}
clients: {a: {work: 20s}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{before: {node: a, does: receive, what: renew}, break: this, how: rst}]
expect: {mutual-exclusion: violated}`,
	"own-change-unheeded": `
name: own-change-unheeded
title: Renewals are held up, and the lock takes its own change for another's
lock: {algorithm: gcs-generation, ttl: 15s, timeout: 5ms}
servers: {kind: object}
clients: {a: {work: 50s}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, stall: {from: a, to: store-1, oneway: true}, for: 2s}]
expect: {mutual-exclusion: violated, resource: violated}`,
	"late-first-renewal": `
name: late-first-renewal
title: A pause of two seconds has the first renewal come too late
lock: {algorithm: watchdog, renew: 8s}
clients: {a: {work: 10s}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, pause: a, for: 2s}]
expect: {mutual-exclusion: violated}`,
	"too-few": `
name: too-few
title: What the primary sends waits, and a failover makes another one the primary that has not heard of the lock
lock: {algorithm: mongo-ttl-w1, ttl: 1m}
servers: {kind: mongodb}
clients: {a: {work: 20s}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: start}, stall: {from: mongod-1, to: "mongod-*", oneway: true}, for: 20s}]
styles: careful
expect: {mutual-exclusion: violated}`,
	"stale-queue": `
name: stale-queue
title: b's lease ends while the service stands still, and b takes the lock without having its key
lock: {algorithm: etcd-no-recheck}
servers: {kind: etcd}
clients: {a: {work: 20s}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, pause: etcd-1, for: 10s}]
expect: {mutual-exclusion: violated}`,
	"paused-holder": `
name: paused-holder
title: The holder is paused for longer than its lease, of which no deadline is stated
lock: {algorithm: redlock-extend, ttl: 1s}
servers: {masters: 3}
clients: {a: {}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, pause: a, for: 2s}]
styles: careful
expect: {mutual-exclusion: violated}`,
	"works-long": `
name: works-long
title: The holder works, and renews its lease, for longer than others may wait
lock: {algorithm: redlock-extend, ttl: 1s}
servers: {masters: 3}
clients: {a: {work: forever}, b: {start: 1ms}}
network: {latency: 1ms}
progress: 8s
expect: {progress: violated}`,
	"set-back-when-free": `
name: set-back-when-free
title: The server's clock is set back after the release, of which the row tells the time
lock: {algorithm: shedlock-db-time}
servers: {kind: mysql}
clients: {a: {sections: 2}}
network: {latency: 1ms}
faults: [{after: {node: a, does: released}, clock: mysql-1, step: -100s}]
progress: 80s
expect: {progress: violated}`,
	"resource-lost": `
name: resource-lost
title: ZooKeeper keeps the resource, too, and loses both
lock: {algorithm: zk-sequential}
servers: {kind: zookeeper, persistence: lazy}
clients: {a: {work: 50s, write: 0s}, b: {start: 1ms}}
resource: {in: servers}
network: {latency: 1ms}
faults: [{at: 30s, crash: zk-2, kind: host, restart: 1ms}, {at: 20s, crash: zk-1, kind: host, restart: 10s}]
styles: attentive
expect: {resource: violated}`,
	"stale-lease": `
name: stale-lease
title: The holder is paused until its lease is over before it learns that it has it
lock: {algorithm: dynamodb, ttl: 3s}
servers: {kind: object}
clients: {a: {}, b: {start: 50ms, sections: 3, work: 300ms, think: 600ms}}
network: {latency: 1ms}
faults:
  - {before: {node: a, does: send, what: acquire}, break: this}
  - {after: {node: a, does: send, what: acquire}, nth: 2, pause: a, for: 5s}
expect: {mutual-exclusion: violated}`,
	"overrun-in-a-row-careful": `
name: overrun-in-a-row-careful
title: The holder works until the deadline
lock: {algorithm: mysql-lease-row}
servers: {kind: mysql}
clients: {a: {work: 20s}, b: {start: 1ms}}
network: {latency: 1ms}
styles: careful
expect: {mutual-exclusion: violated}`,
	"same-owners": `
name: same-owners
title: Two clients draw the same random numbers, and one releases the lock a millisecond before the other
lock: {algorithm: mongo-ttl-w1, ttl: 1m}
servers: {kind: mongodb}
clients: {a: {work: 1ms}, b: {}}
network: {latency: 1ms}
faults: [{at: 0s, same-random: [a, b]}]
expect: {release-safety: violated}`,
	"paused-write": `
name: paused-write
title: The holder is paused when it has begun its write, and sends it when its session is over
lock: {algorithm: hazelcast-fenced}
servers: {kind: hazelcast}
clients: {a: {}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: access, what: write}, pause: a, for: 20s}]
expect: {resource: violated}`,
	"ended-session": `
name: ended-session
title: The servers end a's session while its read is under way, and it writes before it is told
lock: {algorithm: zk-sequential}
servers: {kind: zookeeper}
clients: {a: {work: 5ms}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, end-session: a}]
expect: {resource: violated}`,
	"jump-ends-session": `
name: jump-ends-session
title: A server's clock jumps ahead and ends a session
lock: {algorithm: hazelcast-fenced, ttl: 2s}
servers: {kind: hazelcast}
clients: {a: {work: 1s}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: hazelcast-1, does: reply, what: acquire}, clock: hazelcast-1, step: 2s}]
expect: {mutual-exclusion: violated}`,
	"fast-store-leases-again": `
name: fast-store-leases-again
title: The store's clock ends a lease 4 us early for a client that asks at that moment
lock: {algorithm: azure-blob-lease, ttl: 15s}
servers: {kind: object}
clients: {a: {work: 5s}, b: {start: 15s}}
resource: {in: servers}
network: {latency: 1us}
clocks: {store-1: {rate: 10ppm}}
faults: [{after: {node: a, does: acquired}, pause: a, for: 10s}]
expect: {exclusion-at-service: violated}`,
	"late-answer-to-release": `
name: late-answer-to-release
title: The answer to a's release is late, when b has the lock
lock: {algorithm: set-nx-lua, timeout: 1s}
clients: {a: {work: 100ms}, b: {start: 1ms, work: 3s}}
network: {latency: 1ms}
faults:
  - {before: {node: redis-1, does: reply, what: release, peer: a}, delay: 2s}
expect: {release-safety: violated}`,
}

func TestFindingsSayWhosePromiseWasBroken(t *testing.T) {
	for i, x := range []struct {
		scenario, lock string
		property       checker.Property
		style          string
		want           minimal.Party
	}{
		{"lease-overrun", "set-nx-lua", checker.MutualExclusion, "careless", minimal.AnyLock},
		{"lease-overrun", "set-nx-ex-del", checker.MutualExclusion, "careless", minimal.AnyLock},
		{"lease-overrun", "set-nx-ex-del", checker.ReleaseSafety, "careless", minimal.ThisLock},
		{"redlock-gc-pause", "redlock", checker.MutualExclusion, "careless", minimal.Application},
		{"redlock-clock-jump", "redlock", checker.MutualExclusion, "careless", minimal.Server},
		{"redlock-crash-restart", "redlock", checker.MutualExclusion, "careless", minimal.Server},
		{"brief-work", "set-nx-ex-del with a tenth of the lease", checker.MutualExclusion, "careless", minimal.ThisLock},
		{"two-orders", "zk-sequential", checker.Progress, "careless", minimal.Application},
		{"one-order-and-a-crash", "set-nx-lua", checker.Progress, "careless", minimal.AnyLock},
		{"late-answer", "set-nx-lua", checker.MutualExclusion, "careless", minimal.ThisLock},
		{"evicted", "set-nx-ex-del", checker.ExclusionAtService, "careless", minimal.Server},
		{"zk-gc-pause", "zk-sequential", checker.MutualExclusion, "careless", minimal.AnyLock},
		{"zk-gc-pause", "zk-sequential-no-recheck", checker.MutualExclusion, "careless", minimal.AnyLock},
		{"redlock-py-same-value", "redlock-py", checker.ReleaseSafety, "careless", minimal.ThisLock},
		{"stands-still", "watchdog without a reference lock", checker.MutualExclusion, "careless", minimal.AnyLock},
		{"forgetful", "set-nx-lua-fenced", checker.Resource, "careless", minimal.Application},
		{"token-passed-on", "set-nx-lua-fenced", checker.Resource, "careless", minimal.Application},
		{"fast-clocks", "redlock without its 2 ms", checker.MutualExclusion, "careful", minimal.Server},
		{"rather-fast-clocks", "redlock-no-drift", checker.MutualExclusion, "careful", minimal.ThisLock},
		{"rather-fast-clocks", "redlock-no-drift", checker.ExclusionAtService, "careful", minimal.ThisLock}, // it promises more than it may
		{"hangs", "watchdog", checker.Progress, "careless", minimal.Application},
		{"fast-store", "azure-blob-lease", checker.ExclusionAtService, "careless", minimal.Server}, // k8s-lease goes by its clients' clocks
		{"fast-observer", "dynamodb", checker.ExclusionAtService, "careless", minimal.AnyLock},     // k8s-lease sees the last renewal later
		{"far-storage", "watchdog without a reference lock", checker.Availability, "careless", minimal.Application},
		{"evicted-while-writing", "redlock-extend of one server", checker.Resource, "attentive", minimal.Server},
		{"overrun", "s3-lease", checker.MutualExclusion, "careless", minimal.Application}, // k8s-lease renews
		{"overrun-in-a-row", "mysql-lease-row", checker.MutualExclusion, "careless", minimal.AnyLock},
		{"two-masters", "watchdog", checker.MutualExclusion, "careless", minimal.Server},
		{"two-masters", "watchdog", checker.ExclusionAtService, "careless", minimal.Server}, // set-nx-lua asks no other master
		{"set-back", "set-nx-lua", checker.Progress, "careless", minimal.Server},
		{"jump-of-one-of-three", "redlock-extend", checker.MutualExclusion, "careless", minimal.Server}, // redlock has more luck
		{"late-grant", "reentrant", checker.MutualExclusion, "careless", minimal.ThisLock},
		{"late-grant", "reentrant", checker.Resource, "careless", minimal.ThisLock},
		{"late-answer-to-release", "set-nx-lua that repeats its release with a DEL", checker.ReleaseSafety, "careless", minimal.ThisLock},
		{"own-change", "dynamodb", checker.MutualExclusion, "careless", minimal.ThisLock},
		{"own-change-unheeded", "gcs-generation", checker.MutualExclusion, "careless", minimal.ThisLock},
		{"own-change-unheeded", "gcs-generation", checker.Resource, "careless", minimal.ThisLock},
		{"late-first-renewal", "watchdog", checker.MutualExclusion, "careless", minimal.AnyLock}, // set-nx-lua does not renew, and is no better
		{"same-owners", "mongo-ttl-w1", checker.ReleaseSafety, "careless", minimal.AnyLock},      // mongo-ttl is slower by a message to a secondary
		{"too-few", "mongo-ttl-w1", checker.MutualExclusion, "careful", minimal.ThisLock},        // a write may wait for a majority
		{"stale-queue", "etcd-no-recheck", checker.MutualExclusion, "careless", minimal.ThisLock},
		{"paused-holder", "redlock-extend", checker.MutualExclusion, "careful", minimal.AnyLock}, // redlock is said to stop within a pause
		{"works-long", "redlock-extend", checker.Progress, "careless", minimal.Application},
		{"set-back-when-free", "shedlock-db-time", checker.Progress, "careless", minimal.Server},
		{"resource-lost", "zk-sequential", checker.Resource, "attentive", minimal.Server},
		{"stale-lease", "dynamodb", checker.MutualExclusion, "careless", minimal.Unclear}, // k8s-lease may do the same
		{"overrun-in-a-row-careful", "mysql-lease-row that states a deadline a second too late", checker.MutualExclusion, "careful", minimal.ThisLock},
		{"paused-write", "hazelcast-fenced", checker.Resource, "careless", minimal.AnyLock},
		{"ended-session", "zk-sequential", checker.Resource, "careless", minimal.AnyLock},
		{"jump-ends-session", "hazelcast-fenced", checker.MutualExclusion, "careless", minimal.Server},
		{"fast-store-leases-again", "azure-blob-lease", checker.ExclusionAtService, "careless", minimal.Server},
	} {
		if i%long.Every(3, 1) != 0 {
			continue
		}
		got := blamed(t, x.scenario, x.lock, x.property, x.style)
		assert.Equal(t, x.want, got.Party, "%s of %s in %s: %s", x.property, x.lock, x.scenario, got.Sentence())
		assert.NotContains(t, got.Text, "connection", "a lease in a row is a lease")
	}
}
