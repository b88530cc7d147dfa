package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// explained plays a scenario, with another lock in the place of its own unless that is nil, and returns what its report and its stories
// say, on one line.
func explained(t *testing.T, text string, instead *faulty) string {
	t.Helper()
	var options harness.Options
	if !strings.Contains(text, "network:") {
		text += "\nnetwork: {latency: 1ms}"
	}
	s, err := scenarios.Parse("told.yaml", []byte("name: told\nexpect: any\n"+strings.TrimSpace(text)+"\n"))
	require.NoError(t, err)
	if instead != nil {
		lock, ok := locks.Catalogue().Find(s.Lock.Algorithm)
		require.True(t, ok)
		lock.Authority = instead.authority
		if instead.constant {
			lock.Key = nil
		}
		lock.New = func(locks.Options) locks.Builder {
			return func(p locks.Process) (locks.Lock, error) { return &attempts{faulty: instead, p: p}, nil }
		}
		options.Instead = &lock
	}
	plan, err := harness.Compile(s.Cases()[0], options)
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(plan, s.Seed, true)
	require.NoError(t, err)
	run := account.Of(plan, result)
	var told bytes.Buffer
	require.NoError(t, reports.Text(&told, []reports.Run{run}, reports.TextOptions{Width: 200}))
	text = told.String()
	text = text[strings.LastIndex(text, "  ① "):strings.LastIndex(text, "Measured: ")] // the list of events and what follows it
	for property := range checker.PropertyCount {
		text += " " + reports.Story(&run, property)
	}
	return strings.Join(strings.Fields(text), " ")
}

// TestWhatIsSaidOfARunIsTrue has runs of which something else was said.
func TestWhatIsSaidOfARunIsTrue(t *testing.T) {
	for _, c := range []struct {
		name, scenario string
		says, never    []string
	}{
		{
			"a grant that came before, of a Lock that returned with a later one", `
lock: {algorithm: redlock-py, ttl: 1s}
servers: {masters: 3}
clients: {a: {}, b: {start: 500ms, wait: 100ms, again: 250ms}}
network: {latency: 100µs, links: [{from: b, to: [redis-1, redis-3], latency: 5ms}]}
clocks: {b: {rate: 5620ppm}, redis-2: {rate: 5540ppm}}
faults: [{after: {node: a, does: start}, stall: {from: a, to: redis-3, oneway: true}, for: 1s}]`,
			[]string{"redis-1 and redis-2 grant the lock to a with a lease of 1 s at ②. a's key expires too early on redis-2 at ④, and redis-2 and redis-3 grant the lock to b"},
			[]string{"to b at ⑥, although it is promised to a until 9.16 µs later. redis-1"},
		}, {
			"a release of a refused try that is not answered", `
lock: {algorithm: redlock-py}
servers: {masters: 3}
clients: {a: {}, b: {start: 1ms}}
faults: [{after: {node: a, does: acquired}, pause: redis-1}]
progress: 80s`,
			[]string{"b's EVAL to redis-1 is not answered, Lock does not return, and b waits forever"}, []string{"last request"},
		}, {
			"a request for a lease that is not answered", `
lock: {algorithm: etcd-no-recheck, ttl: 2s}
servers: {kind: etcd}
clients: {a: {again: 500ms}}
faults: [{after: {node: etcd-1, does: receive}, nth: 2, crash: etcd-1, kind: host, restart: 1ms}, {before: {node: etcd-1, does: execute}, error: "etcdserver: request timed out"}]
progress: 16s`,
			[]string{"a's LeaseGrant to etcd-1 is not answered, Lock does not return, and a waits forever"}, nil,
		}, {
			"a request for a list that is not answered", `
lock: {algorithm: s3-epoch, ttl: 3s}
servers: {kind: object}
clients: {a: {}}
faults: [{before: {node: store-1, does: reply, what: look}, crash: store-1, kind: host, restart: 1ms}]
progress: 24s`,
			[]string{"a's list to store-1 is not answered, Lock does not return, and a waits forever"}, []string{"is executed"},
		}, {
			"two releases of one moment, of which the later one deletes another's", `
lock: {algorithm: s3-lockfile, ttl: 15s, timeout: 5ms}
servers: {kind: object}
clients: {a: {sections: 2, think: 2s}, b: {start: 1ms}}
faults: [{after: {node: store-1, does: receive, what: release}, pause: store-1, for: 2s}]`,
			[]string{"store-1 goes on at ⑦ and grants the lock to b at ⑧, and a's late release (delete) deletes b's object at ⑨"}, nil,
		}, {
			"clients of a new master that are all", `
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {replicas: 1}
clients: {a: {work: 3s}, b: {start: 2s, work: 1s}}
faults: [{at: 0s, stall: {from: redis-1, to: redis-2}, for: 60s}, {at: 1s, promote: redis-2, redirect: [a, b], demote: 100ms}]`,
			[]string{"redis-2 is made master at ⑤ without a's key and grants the lock to b at ⑦"}, []string{"only"},
		}, {
			"clients of a new master that are some", `
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {replicas: 1}
clients: {a: {work: 3s}, b: {start: 2s, work: 1s}}
faults: [{at: 0s, stall: {from: redis-1, to: redis-2}, for: 60s}, {at: 1s, promote: redis-2, redirect: b, demote: 100ms}]`,
			[]string{"redis-2 is made master (only b learns of it) at ⑤ without a's key and grants the lock to b at ⑦"}, nil,
		}, {
			"what one task is told when another acquires the lock, and writes of one moment", `
lock: {algorithm: etcd-shared-lease, ttl: 10s}
servers: {kind: etcd}
clients: {a: {tasks: 2, work: 2s}}`,
			[]string{
				"a/0 acquires the lock with a lease of 10 s and token 2 at ②, and a/1's Txn is answered with a/0's value. a/1 believes",
				"a/0 writes with token 2: accepted as version 1 ⑦ 2.011s a/1 writes with token 2: accepted as version 2, DAMAGE",
				"the resource was consistent until ⑦",
			}, nil,
		}, {
			"one who waits for itself", `
lock: {algorithm: set-nx-lua, ttl: 5s}
clients: {a: {enters: 2, work: 1s}}
progress: 3s`,
			[]string{"asks for it again at ②. a holds it itself, and waits too long"}, []string{"still holds"},
		}, {
			"a renewal that is refused gives no earlier end", `
lock: {algorithm: watchdog, ttl: 10s, renew: 8s}
clients: {a: {work: 30s}, b: {start: 500ms, work: 5s, retry: 100ms}}
faults: [{before: {node: redis-1, does: execute, what: renew}, error: "LOADING Redis is loading the dataset in memory"}]`,
			[]string{"Its renewal on redis-1 is answered with an error at 8.01 s, and a's lease expires at 10 s"},
			[]string{"earlier end", "a's key expires"},
		}, {
			"nobody keeps out a request that is on its way", `
lock: {algorithm: mysql-get-lock, timeout: 1s}
servers: {kind: mysql}
clients: {a: {enters: 2, again: 2500ms}, b: {start: 5ms}}
faults: [{before: {node: mysql-1, does: execute, what: acquire}, nth: 2, delay: 1s}]`,
			[]string{"asks for it again, and its request for the lock on mysql-1 is delayed by 1 s"}, []string{"keeps it out", "believes nothing"},
		}, {
			"a clock of a server that is fast gives no shorter lease", `
lock: {algorithm: set-nx-lua, ttl: 10s}
clocks: {redis-1: {rate: 50%}}
clients: {a: {work: 30s}, b: {start: 500ms, work: 1s}}`,
			[]string{"a acquires the lock with a lease of 10 s. Its key expires too early at 6.67 s"}, []string{"renews", "6.6667 s"},
		}, {
			"an end that a clock of a client sets late is not renewed", `
lock: {algorithm: s3-lease, ttl: 15s}
servers: {kind: object}
progress: 2m
clients: {a: {sections: 2, work: 20s}, b: {start: 1ms, sections: 2, work: 30s}, c: {start: 2ms}}
faults: [{after: {node: a, does: release}, clock: b, step: 20s}, {after: {node: b, does: receive, what: read}, delay: 20s}]`,
			[]string{"b acquires the lock with a lease of 15 s at 76 s. "}, []string{"renews"},
		}, {
			"refreshes dated by a clock that was set back end a lease", `
lock: {algorithm: gcs, ttl: 3s}
servers: {kind: object}
clients: {a: {work: 5s}, b: {start: 1ms}}
faults: [{after: {node: a, does: acquired}, clock: a, step: -5s}]`,
			[]string{"with a lease of 3 s, and the clock of a jumps back by 5 s. a's renewal (patch-if-meta) gives its object an earlier end at 1 s, and a's lease expires."},
			[]string{"1.002 s", "a's object expires"},
		}, {
			"a release that has not arrived is on its way", `
network: {latency: 572ms}
lock: {algorithm: set-nx-lua, ttl: 10s}
progress: 5s
clients: {a: {work: 1s, unlock-again: 1s}, b: {start: 500ms, work: 3s, retry: 50ms}}
faults: [{after: {node: redis-1, does: execute, what: release, peer: a}, break: this, how: rst, lose: reply}]`,
			[]string{"a's key stays: the release (EVAL) of a's Unlock, sent at 6.72 s, is executed only at 7.29 s, and b waits too long"}, []string{"Unlock gets no answer"},
		}, {
			"a key that an old snapshot brings back was not left by Unlock", `
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {persistence: rdb}
progress: 5s
clients: {a: {work: 2s}, b: {start: 500ms, work: 3s}, c: {start: 4s, work: 1s}}
faults: [{at: 1s, snapshot: redis-1}, {at: 3s, crash: redis-1, restart: 200ms}]`,
			[]string{"redis-1 has a's key again at ⑬", "a's key stays until it expires at 10 s, and c waits too long"}, []string{"(integer) 1", "a's key is made"},
		}, {
			"a pause that delays the first renewal does not keep it from being sent", `
lock: {algorithm: watchdog, renew: 8s}
clients: {a: {work: 10s}, b: {start: 1ms}}
faults: [{after: {node: a, does: acquired}, pause: a, for: 2s}]`,
			[]string{"and its lease expires at ⑥ before a sends its first renewal (EVAL)"}, []string{"sends no renewal"},
		}, {
			"a lock is lost when its key is evicted, and not when its lease would have ended", `
lock: {algorithm: watchdog, ttl: 10s, renew: 8s}
clients: {a: {work: 25s}, b: {start: 1s, work: 12s}}
faults: [{at: 3s, evict: redis-1}]`,
			[]string{"Not told: a lost the lock at 3s and, not told of it, believed that it held until 25.01s.", "a is not told of its loss and"},
			[]string{"lost the lock at 10"},
		}, {
			"a lease is as long as the one that is given", `
lock: {algorithm: etcd, ttl: 1s}
servers: {kind: etcd}
clients: {a: {work: 5s}, b: {start: 500ms, work: 1s}}
faults: [{after: {node: a, does: receive, what: LeaseKeepAlive}, nth: 2, pause: a, for: 1200ms}]`,
			[]string{"and a lease of 2 s, which it renews"}, []string{"a lease of 1 s"},
		}, {
			"a renewal is sent at one time and not answered by another", `
lock: {algorithm: azure-blob-lease, ttl: 15s, renew: 5s}
servers: {kind: object}
clients: {a: {work: 30s}, b: {start: 1s, work: 15s}}
faults: [{at: 7s, cut: {from: a, to: store-1}, for: 33s}]`,
			[]string{"Its last renewal (renew-lease) is sent at 10.01s and is not answered in time"}, nil,
		}, {
			"an answer to a renewal is told when it comes", `
lock: {algorithm: reentrant, ttl: 1s}
clients: {a: {work: 2s}}
faults: [{after: {node: a, does: acquired}, evict: redis-1}]`,
			[]string{"a's last renewal (EVAL) is answered (integer) 0 at 339.333ms"}, nil,
		}, {
			"releases on several servers at once are told one by one", `
lock: {algorithm: redlock-extend, ttl: 10s}
servers: {masters: 3}
clients: {a: {work: 25s}, b: {start: 1s, work: 1s}}
faults: [{at: 0s, same-random: [a, b]}]`,
			[]string{"Released another's lock: a's, by b on redis-1 at ④. • Released another's lock: a's, by b on redis-2 at ⑤."}, nil,
		}, {
			"a write overwrites the one before it", `
lock: {algorithm: set-nx-lua, ttl: 20s}
clients: {a: {work: 8s}, b: {start: 500ms, work: 8s, retry: 50ms}, c: {start: 600ms, work: 8s, retry: 70ms}}
faults: [{at: 2s, evict: redis-1}, {at: 3s, evict: redis-1}]`,
			[]string{"b overwrites at ⑮ what a wrote at ⑫", "c overwrites at ⑱ what b wrote at ⑮"}, nil,
		}, {
			"a lock is free since its release, and who died in the queue has asked before", `
lock: {algorithm: redisson-fair, ttl: 10s}
progress: 4s
clients: {a: {work: 3s}, b: {start: 500ms, work: 1s}, c: {start: 1s, work: 1s}}
faults: [{at: 2s, crash: b}]`,
			[]string{"and b asks for the lock at 500ms. c asks for the lock at 1s", "and a releases the lock at ⑥. c waits too long"}, nil,
		}, {
			"a client that asks for its own lock waits for itself", `
lock: {algorithm: set-nx-lua, ttl: 10s}
progress: 15s
clients: {a: {work: 1s, enters: 2}, b: {start: 500ms, work: 1s, retry: 50ms}}`,
			[]string{"asks for it again, while its own key keeps it out. Its lease expires at ③"}, nil,
		}, {
			"a release by a wrong clock is told before what it causes", `
lock: {algorithm: mongo-upsert, ttl: 3s}
servers: {kind: object}
progress: 24s
clients: {a: {}, b: {start: 1ms}}
faults: [{after: {node: a, does: acquired}, clock: a, step: 50s}]`,
			[]string{"and a releases the lock. Each time b's put-if-over is answered E11000 duplicate key error"}, nil,
		}, {
			"a fault takes what a disk would have kept", `
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {persistence: everysec}
clients: {a: {work: 6s}, b: {start: 500ms, work: 3s, retry: 100ms}}
faults: [{at: 5s, crash: redis-1, restart: 200ms, keep: nothing}]`,
			[]string{"without a's key, since none of its writes survive"}, []string{"reached its disk"},
		}, {
			"a key that ends as it was told is not too early, though other servers have renewed theirs", `
lock: {algorithm: redlock-extend, ttl: 10s, renew: 8s}
servers: {masters: 3}
clients: {a: {work: 30s}, b: {start: 500ms, work: 5s, retry: 100ms}}
faults: [{before: {node: redis-*, does: execute, what: renew}, error: "LOADING Redis is loading the dataset in memory"}]`,
			nil, []string{"earlier end", "too early"},
		}, {
			"a lease dated when its renewal was sent is not cut short by a later one", `
lock: {algorithm: gcs, ttl: 3s, timeout: 5ms}
servers: {kind: object}
clients: {a: {}, b: {start: 1ms, sections: 2, work: 6s}, c: {start: 3s, work: 100ms}}
faults: [{after: {node: b, does: acquired}, pause: store-1, for: 500ms}]
seed: 0x4`,
			[]string{"b's last renewal (patch-if-meta) is answered 412 Precondition Failed"}, []string{"earlier end"},
		}, {
			"what late renewals do to another's entry is told once", `
lock: {algorithm: gcs, ttl: 3s}
servers: {kind: object}
styles: careless
clients: {a: {work: 10s}, b: {start: 1ms, work: 200ms}, c: {start: 2ms}}
faults: [{after: {node: a, does: acquired}, pause: a, for: 4s}]`,
			[]string{"prolongs b's object at ⑪ as if it were its own. b writes version 1 at ⑫; a is not told of its loss"}, nil,
		}, {
			"whose belief relies on a grant that has ended", `
lock: {algorithm: hazelcast-fenced, ttl: 10s}
servers: {kind: hazelcast}
clients: {a: {work: 8s}, b: {start: 1s, work: 1s}}
faults: [{at: 2s, clock: hazelcast-1, step: 11s}]`,
			[]string{", and b believes that it holds the lock at ⑦: the lock states no deadline and gives no notice of loss. b reads"}, []string{" and believes"},
		}, {
			"a renewal that arrives at the very end gives no earlier end", `
lock: {algorithm: watchdog}
servers: {replicas: 1}
clients: {a: {work: 30s}, b: {start: 1s, work: 1s}}
network: {latency: 500ms}
faults: [{at: 12s, promote: redis-2, demote: 1s}]`,
			[]string{"a's lease expires at ⑥. redis-2 grants the lock to b at ⑦"}, []string{"earlier end"},
		}, {
			"a replica that takes a master's place may lack a renewal, and not the key", `
lock: {algorithm: watchdog}
servers: {replicas: 1}
clients: {a: {work: 30s}, b: {start: 1s, work: 1s}}
faults: [{at: 2s, cut: {from: redis-1, to: redis-2}, for: 60s}, {at: 15s, promote: redis-2}]`,
			[]string{
				"redis-2 is made master at ⑤. a's key expires on redis-2 at ⑥, since the renewal (EVAL) that redis-1 executed at 8.005s has not reached it",
				"a's key expires: a renewal on redis-1 has not reached it",
			},
			[]string{"without a's key", "too early"},
		}, {
			"a replica that has been made master ends a key at the end that it knows", `
lock: {algorithm: watchdog, ttl: 10s}
servers: {replicas: 1}
clients: {a: {work: 20s}, b: {start: 1s, work: 1s}}
faults: [{at: 7.9s, cut: {from: redis-1, to: redis-2}, for: 60s}, {at: 9.5s, promote: redis-2, redirect: b}]`,
			[]string{"a's key expires on redis-2 at ⑥, since the renewal (EVAL)"}, []string{"without a's key", "too early"},
		}, {
			"a clock jumps before what it ends", `
lock: {algorithm: mysql-lease-row}
servers: {kind: mysql}
clients: {a: {work: 300ms}, b: {start: 1ms}}
faults: [{after: {node: a, does: acquired}, clock: mysql-1, step: 10s}]`,
			[]string{"jump forward by 10s ④ 6ms mysql-1 a's lock expires", "jumps forward by 10 s at ③. a's lock expires too early at ④"}, nil,
		}, {
			"a client begins to believe when its lease is over, and not before", `
lock: {algorithm: set-nx-lua, ttl: 3s}
clients: {a: {work: 1s}, b: {start: 4s, work: 1s}}
network: {latency: 1ms, links: [{from: a, to: redis-1, latency: 3s}]}`,
			[]string{"a the lease is over ⑧ 12s a believes that it holds"}, []string{"still believes"},
		}, {
			"who was granted the lock first is told first", `
lock: {algorithm: watchdog, ttl: 10s}
servers: {replicas: 1}
clients: {a: {}, b: {start: 1ms}}
faults: [{after: {node: b, does: start}, promote: redis-2, redirect: b}]`,
			[]string{"redis-1 grants the lock to a with a lease of 10 s at ②. redis-2 grants the lock to b at ③"}, nil,
		}, {
			"a lock meets its own change", `
lock: {algorithm: dynamodb, ttl: 15s}
servers: {kind: object}
clients: {a: {work: 20s}, b: {start: 1ms}}
faults: [{before: {node: a, does: receive, what: renew}, break: this, how: rst}]`,
			[]string{"is answered 412 Precondition Failed, since an earlier one of its own was executed, whose answer it had not got"}, nil,
		}, {
			"a section is given up when a write is not answered", `
lock: {algorithm: etcd-shared-lease, timeout: 5ms}
servers: {kind: etcd}
clients: {a: {sections: 2}}
resource: {registers: 2, in: servers}
faults: [{after: {node: a, does: access, what: write}, pause: etcd-1, for: 5ms}]`,
			[]string{"a gets no answer to its write of register 0 in time and releases the lock at ⑦, and its write of register 0 arrives at ⑧"}, nil,
		}, {
			"a client has not asked before itself", `
lock: {algorithm: redisson-fair}
clients: {a: {work: 10s}, b: {start: 1ms}}
progress: 80s
faults: [{after: {node: a, does: acquired}, crash: b, restart: 1ms}]`,
			[]string{"an earlier life of b asked before b, died while it waited"}, []string{"but b asked before b"},
		}, {
			"no lease ends whose entry was replaced before", `
lock: {algorithm: k8s-lease, ttl: 10s}
servers: {kind: object}
styles: careless
clocks: {b: {rate: 100%}}
clients: {a: {work: 30s}, b: {start: 1ms}}
faults: [{after: {node: a, does: acquired}, pause: a, for: 20s}]`,
			[]string{"a what it was promised is over, and a still believes"}, []string{"a the lease is over"},
		}, {
			"an object whose lease is over stays until it is replaced", `
lock: {algorithm: dynamodb, ttl: 10s}
servers: {kind: object}
progress: 9s
clients: {a: {}, b: {start: 1ms}}
faults: [{after: {node: a, does: release}, cut: {from: a, to: store-1}, for: 60s}]`,
			[]string{"a's object stays until it is replaced at 11 s"}, []string{"expires"},
		}, {
			"the last request for the lock has made the entry that is gone when all is over", `
lock: {algorithm: memcached-cas, ttl: 2s}
servers: {kind: memcached}
progress: 16s
clients: {a: {}}
faults: [{after: {node: memcached-1, does: execute, what: acquire}, crash: memcached-1, kind: host, restart: 1ms}]`,
			[]string{"a's add to memcached-1 is not answered, Lock does not return, and a waits forever"}, []string{"gone already", "is executed"},
		}, {
			"a dead connection keeps out who waits forever", `
lock: {algorithm: pg-advisory}
servers: {kind: postgres}
progress: 80s
clients: {a: {}}
faults: [{after: {node: a, does: acquired}, crash: a, kind: host, restart: 1ms}]`,
			[]string{"a/0's lock stays: postgres-1 does not know that a/0's connection is dead, and a/1 waits forever"}, []string{"is executed"},
		}, {
			"a release that is answered with an error leaves its lock to who waits forever", `
lock: {algorithm: pg-advisory}
servers: {kind: postgres}
progress: 80s
clients: {a: {sections: 2}, b: {start: 1ms, stays: true}}
faults: [{before: {node: postgres-1, does: execute, what: release, peer: b}, error: "canceling statement due to user request"}]`,
			[]string{"b's lock stays: the release (pg_advisory_unlock) of b's Unlock is answered with an error, and a waits forever"}, []string{"is executed"},
		}, {
			"who deletes an object as over is told", `
lock: {algorithm: gcs-generation, ttl: 15s}
servers: {kind: object}
clients: {a: {work: 1s}, b: {start: 1ms}, c: {start: 2ms}}
faults: [{after: {node: a, does: acquired}, clock: c, step: 20s}]`,
			[]string{"a's object was deleted by another", "c's delete-if-meta deletes a's object at ⑤, and store-1 grants the lock to b at ⑥"}, nil,
		}, {
			"a session that servers end does not expire", `
lock: {algorithm: zk-sequential, ttl: 10s}
servers: {kind: zookeeper}
clients: {a: {work: 10s}, b: {start: 1s, work: 1s}}
faults: [{at: 3s, end-session: a}]`,
			[]string{"The servers end the session of a at ④, and a's session ends at ⑤"}, []string{"session expires"},
		}, {
			"a lease is as long as it is, whatever clock dates its end", `
lock: {algorithm: s3-lease, ttl: 15s}
servers: {kind: object}
clients: {a: {work: 10s}, b: {start: 1ms}}
faults: [{after: {node: a, does: start}, clock: a, step: -10s}]`,
			[]string{"a acquires the lock with a lease of 15 s"}, []string{"4.999 s"},
		}, {
			"what comes of a request whose answer is lost is told once", `
lock: {algorithm: s3-lockfile}
servers: {kind: object}
progress: 15s
clients: {a: {wait: try}, b: {start: 10s, work: 1s}}
faults: [{after: {node: store-1, does: execute, what: acquire}, break: this, lose: reply}]`,
			[]string{"a's put-if-absent to store-1 is executed, and one connection of store-1 breaks at ② before the answer has arrived", "which keeps out b. •"},
			[]string{"never arrives"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := explained(t, c.scenario, nil)
			for _, says := range c.says {
				require.Contains(t, told, says)
			}
			for _, never := range c.never {
				require.NotContains(t, told, never)
			}
		})
	}
}
