package harness_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/locks"
)

// stories are small scenarios about what the world does, not about what a lock is worth: each once came out wrong.
var stories = map[string]string{
	"a restart that keeps all brings back the key of the last maker": `
lock: {algorithm: set-nx-lua, ttl: 30s}
servers: {persistence: always}
clients: {a: {work: 3s, sections: 3}, b: {work: 1s, start: 1ms, retry: 100ms}}
faults: [{after: {node: a, does: acquired}, nth: 3, plus: 1s, crash: redis-1, restart: 500ms, keep: all}]
expect: {exclusion-at-service: held, mutual-exclusion: held, release-safety: vacuous}
`,
	"a server without persistence restores no key, even if an earlier crash kept all": `
lock: {algorithm: set-nx-lua, ttl: 60s}
clients: {a: {work: 3s}, b: {start: 12s, work: 1s, retry: 100ms}}
faults:
  - {at: 1s, crash: redis-1, restart: 100ms, keep: all}
  - {at: 10s, crash: redis-1, restart: 100ms}
expect: {mutual-exclusion: vacuous}
measures: {wait-max-ns: {max: 1s}}
`,
	"a failover lasts until the old master is told, by when its keys keep nobody out": `
lock: {algorithm: set-nx-lua-wait, ttl: 1s}
servers: {replicas: 1}
clients: {a: {sections: 2, wait: 5ms, again: 250ms}, b: {start: 1ms}}
network: {latency: 1ms}
clocks: {redis-1: {rate: 4400ppm}}
faults: [{after: {node: a, does: release}, promote: redis-2, redirect: b, demote: 10s}]
expect: {leak: held}
`,
	"a holder cannot be told while packets of an outage are still under way": `
lock: {algorithm: etcd, ttl: 2s}
servers: {kind: etcd}
resource: {in: servers}
clients: {a: {}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, cut: {from: a, to: etcd-1}, for: 3s}]
expect: {silent-loss: vacuous}
`,
	"a crash before the flush loses what it would have made durable": `
lock: {algorithm: set-nx-lua, ttl: 20s}
servers: {persistence: everysec}
clients: {a: {work: 10s}, b: {start: 100ms, work: 1s, retry: 200ms}}
faults: [{before: {node: redis-1, does: fsync}, crash: redis-1, kind: host, restart: 500ms}]
expect: {mutual-exclusion: violated}
`,
	"a crash after the flush does not": `
lock: {algorithm: set-nx-lua, ttl: 20s}
servers: {persistence: everysec}
clients: {a: {work: 10s}, b: {start: 100ms, work: 1s, retry: 200ms}}
faults: [{after: {node: redis-1, does: fsync}, crash: redis-1, kind: host, restart: 500ms}]
expect: {mutual-exclusion: held}
`,
	"a clock that is set back before the key expires lets it live on": `
lock: {algorithm: set-nx-lua, ttl: 5s}
clients: {a: {work: 8s}, b: {start: 100ms, work: 1s, retry: 200ms}}
faults: [{before: {node: redis-1, does: expire}, clock: redis-1, step: -20s}]
expect: {mutual-exclusion: held}
`,
	"a waiter that stands still for good accuses nobody": `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 1s}, b: {start: 100ms, work: 1s, retry: 200ms}}
progress: 5s
faults: [{at: 500ms, pause: b}]
expect: {progress: held}
`,
	"a token belongs to the grant that Lock returned with, not to a late one of the same acquisition": `
lock: {algorithm: set-nx-lua-fenced, timeout: 1s}
clients: {a: {work: 1s, retry: 1s}, b: {start: 500ms, work: 1s, sections: 2, retry: 1s}}
network: {latency: 1ms}
faults: [{before: {node: redis-1, does: execute, what: acquire, peer: b}, delay: 5s}]
expect: {fencing-order: held}
`,
	"a fault that would have healed is an excuse, also if the run ends before": `
lock: {algorithm: set-nx-lua, timeout: 1s}
clients: {a: {again: 2.5s, work: 1s}, b: {work: 1s}}
network: {latency: 1ms}
progress: 80s
until: 400s
faults:
  - {name: held-up, at: 0s, stall: {from: a, to: redis-1}, for: 100s}
  - {after: {does: begin, what: held-up}, plus: 100s, crash: a}
expect: {progress: held}
`,
	"a client that enters again after a loss has a watchdog again": `
lock: {algorithm: reentrant, ttl: 3s}
clients: {a: {enters: 2, work: 10s}, b: {start: 4s, work: 1s, again: 100ms}}
faults:
  - {before: {node: redis-1, does: execute, what: acquire, peer: a}, nth: 2, delay: 2s}
  - {at: 500ms, evict: redis-1}
measures: {wait-max-ns: {min: 7s}}
`,
	"a pause of 4 s within 5 s of waiting fits into a lease of 8 s": `
lock: {algorithm: set-nx-lua, ttl: 8s}
clients: {a: {work: 5s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, pause: a, for: 4s}]
expect: {mutual-exclusion: held}
`,
	"a pause of 4 s prolongs 5 s of computing beyond a lease of 8 s": `
lock: {algorithm: set-nx-lua, ttl: 8s}
clients: {a: {work: 5s, cpu-bound: true}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, pause: a, for: 4s}]
expect: {mutual-exclusion: violated, exclusion-at-service: held}
`,
	"a client's own lease ends, whatever the scenario's is": `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 5s, lock: {ttl: 2s}}, b: {start: 1s, work: 1s}}
expect: {mutual-exclusion: violated, exclusion-at-service: held}
`,
	"a client's own lease lasts, whatever the scenario's is": `
lock: {algorithm: set-nx-lua, ttl: 2s}
clients: {a: {work: 5s, lock: {ttl: 10s}}, b: {start: 1s, work: 1s}}
expect: {mutual-exclusion: held, exclusion-at-service: held}
`,
	"a client's own lock deletes what the others have": `
lock: {algorithm: set-nx-lua, ttl: 2s}
clients: {old: {work: 5s, lock: {algorithm: set-nx-ex-del}}, new: {start: 1s, work: 10s, lock: {ttl: 20s}}, c: {start: 2s, work: 1s}}
expect: {mutual-exclusion: violated, release-safety: violated}
`,
	"a client's own lock renews its lease, and the scenario's does not": `
lock: {algorithm: set-nx-lua, ttl: 2s}
clients: {a: {work: 5s, lock: {algorithm: watchdog, renew: 500ms}}, b: {start: 1s, work: 1s}}
expect: {mutual-exclusion: held, exclusion-at-service: held}
`,
	"a lock that does not renew is not asked to keep its lease, beside one that does": `
lock: {algorithm: set-nx-lua, ttl: 2s}
clients: {a: {work: 5s}, b: {start: 6s, work: 5s, lock: {algorithm: watchdog, renew: 500ms}}}
expect: {silent-loss: held}
`,
	"a lock that renews is to keep its lease, beside one that does not": `
lock: {algorithm: set-nx-lua, ttl: 20s}
clients: {a: {start: 30s, work: 1s}, b: {work: 8s, lock: {algorithm: watchdog, ttl: 1s, renew: 300ms}}}
faults: [{at: 2s, evict: redis-1}]
styles: [careless]
expect: {silent-loss: violated}
`,
	"what one lock has no token for is not fenced": `
lock: {algorithm: set-nx-lua-fenced, ttl: 2s}
clients: {a: {work: 5s}, b: {start: 1s, work: 5s, lock: {algorithm: set-nx-lua}}}
expect: {mutual-exclusion: violated, fencing-order: not-judged}
`,
	"an old key that a power loss brings back is its maker's": `
lock: {algorithm: set-nx-lua, ttl: 1s}
servers: {persistence: everysec}
clients: {a: {work: 2s}, b: {start: 100ms, retry: 50ms, work: 3s}}
network: {latency: 1ms}
faults:
  - {name: lights-out, after: {node: b, does: acquired}, plus: 50ms, crash: redis-1, kind: host, restart: 100ms}
  - {after: {does: begin, what: lights-out}, clock: redis-1, step: -10s}
  - {after: {node: a, does: acquired}, break: {from: a, to: redis-1}}
expect: {release-safety: vacuous, mutual-exclusion: violated}
`,
}

func TestStoriesOfTheWorld(t *testing.T) {
	for name, text := range stories {
		t.Run(name, func(t *testing.T) { playStory(t, text) })
	}
}

// renewed is a lock of three keys, at least two of which must be won, or of one, which a task renews.
func renewed(script locks.Script, authority locks.Authority) *locks.Algorithm {
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		each := func(f func(r locks.Redis) bool) (n int) {
			for i := range p.RedisNodes() {
				if f(p.Redis(i)) {
					n++
				}
			}
			return n
		}
		var stop locks.Signal
		release := func(l locks.Lease) error {
			each(func(r locks.Redis) bool {
				_, err := locks.Eval(r, 50*time.Millisecond, locks.Script{Body: compareAndDelete}, []string{o.Key}, l.Value)
				return err == nil
			})
			return nil
		}
		return handmade{
			try: func() (locks.Lease, error) {
				lease := locks.Lease{Value: p.RandomValue()}
				votes := each(func(r locks.Redis) bool {
					reply, err := r.Do(50*time.Millisecond, "SET", o.Key, lease.Value, "NX", "PX", "10000")
					return err == nil && reply.OK()
				})
				if votes <= p.RedisNodes()/2 {
					return lease, refusedIf(true, release(lease))
				}
				stop = p.NewSignal()
				p.Go(func(p locks.Process) {
					for p.Wait(3*time.Second, stop) < 0 {
						for i := range p.RedisNodes() {
							_, _ = locks.Eval(p.Redis(i), 50*time.Millisecond, script, []string{o.Key}, lease.Value)
						}
					}
				})
				return lease, nil
			},
			release: func(l locks.Lease) error {
				stop.Fire()
				return release(l)
			},
		}
	})
	a.Authority = authority
	a.Scripts = []locks.Script{script}
	return a
}

// TestRenewalProlongsThePromise plays a renewed lock whose servers forget it after its first lease would have ended.
func TestRenewalProlongsThePromise(t *testing.T) {
	extend := locks.Script{Name: "renew", Body: `if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('pexpire', KEYS[1], 10000)
end
return 0`}
	const one = `
clients: {a: {work: 25s}, b: {start: 1s, work: 1s}}
faults: [{at: 15s, crash: redis-1, restart: 1ms}]`
	const three = `
servers: {masters: 3}
clients: {a: {work: 25s}, b: {start: 1s, work: 1s}}
faults: [{at: 15s, crash: redis-1, restart: 1ms}, {at: 15s, crash: redis-2, restart: 1ms}]`
	require.Equal(t, 20, verdicts(t, renewed(extend, locks.OneNode), one)[checker.ExclusionAtService][checker.Violated])
	require.Equal(t, 20, verdicts(t, renewed(extend, locks.Majority), three)[checker.ExclusionAtService][checker.Violated])
}

// TestRenewalThatTakesAnothersKeyIsNoRenewal plays a lock whose renewal does not look whose the key is.
func TestRenewalThatTakesAnothersKeyIsNoRenewal(t *testing.T) {
	steal := locks.Script{Name: "renew", Body: `return redis.call('set', KEYS[1], ARGV[1], 'PX', 10000)`}
	found := verdicts(t, renewed(steal, locks.OneNode), `
clients: {a: {work: 25s}, b: {start: 1s, work: 5s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, stall: {from: a, to: redis-1}, for: 12s}]`)
	require.Equal(t, 20, found[checker.ExclusionAtService][checker.Violated])
}
