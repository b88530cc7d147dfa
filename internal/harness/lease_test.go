package harness_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// TestRefusedTimesToLiveAreThoseOfTheServers: what scenarios are refused for is what the simulated servers refuse.
func TestRefusedTimesToLiveAreThoseOfTheServers(t *testing.T) {
	for _, d := range []lease.Dialect{lease.Etcd(), lease.Consul(), lease.Chubby(), lease.Hazelcast(), lease.HazelcastUnsafe()} {
		f := scenarios.Kind(d.Name).Facts()
		require.Equal(t, d.Name, f.Name)
		require.Equal(t, d.Strict, f.MaxTTL > 0, d.Name)
		if d.Strict {
			require.Equal(t, []time.Duration{d.MinTTL, d.MaxTTL}, []time.Duration{f.MinTTL, f.MaxTTL}, d.Name)
		}
	}
}

// leaseStories are what etcd, Consul and Chubby can do to a lock, by the kind of servers.
var leaseStories = map[string]map[string]string{
	"etcd": {
		"clients take the lock in the order in which they came": `
lock: {algorithm: etcd}
clients:
  a: {work: 5s}
  b: {start: 100ms, work: 1s}
  c: {start: 200ms, work: 1s}
  d: {start: 300ms, work: 1s}
expect: {mutual-exclusion: held, exclusion-at-service: held, fencing-order: held}
measures: {overtakes-max: 0}
`,
		"a client that gives up leaves the queue, and those behind it still wait for those before it": `
lock: {algorithm: etcd}
clients:
  a: {work: 8s}
  b: {start: 1s, work: 1s, wait: 2s}
  c: {start: 2s, work: 1s}
  d: {start: 2500ms, work: 1s, wait: try}
expect: {mutual-exclusion: held, exclusion-at-service: held}
measures: {acquisitions: 2}
`,
		"a process that is born again has another lease, and waits for the end of its first one": `
lock: {algorithm: etcd}
clients: {a: {work: 5s}, b: {start: 500ms, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, crash: a, restart: 500ms}]
expect: {mutual-exclusion: held, exclusion-at-service: held}
`,
		"all servers go down, and come back with the leases": `
lock: {algorithm: etcd}
clients: {a: {work: 10s}, b: {start: 1s, work: 1s, again: 100ms}}
faults: [{at: 3s, crash: etcd-1, kind: host, restart: 2s}]
styles: [careless, attentive]
expect: {mutual-exclusion: held, exclusion-at-service: held}
`,
		"disks that have lost everything break what was promised": `
lock: {algorithm: etcd}
clients: {a: {work: 20s}, b: {start: 5s, work: 1s}}
faults: [{at: 3s, crash: etcd-1, kind: host, restart: 1s, keep: nothing}]
expect: {mutual-exclusion: violated, exclusion-at-service: violated, fencing-order: violated}
`,
		"a lease that an operator revokes is told to nobody at once": `
lock: {algorithm: etcd}
clients: {a: {work: 20s}, b: {start: 1s, work: 1s}}
faults: [{at: 5s, end-session: a}]
styles: [careless, attentive]
expect: {mutual-exclusion: violated, exclusion-at-service: held}
`,
		"the answer to the transaction is lost, and what it has made is taken back": `
lock: {algorithm: etcd}
clients: {a: {work: 1s, again: 1s}, b: {start: 100ms, work: 3s}}
faults: [{before: {node: etcd-1, does: reply, what: acquire}, break: this, lose: reply}]
expect: {mutual-exclusion: held, exclusion-at-service: held}
measures: {acquisitions: 2, unknown-acquires: 1, wait-max-ns: {max: 3200ms}}
`,
		"a connection that breaks between two renewals costs no lease": `
lock: {algorithm: etcd, ttl: 4s}
clients: {a: {work: 20s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: receive, what: LeaseKeepAlive}, plus: 100ms, break: {from: a, to: etcd-1}, how: rst}]
styles: [attentive]
expect: {mutual-exclusion: held}
measures: {acquisitions: 2, wait-max-ns: {min: 18s, max: 20s}}
`,
		"two tasks of a process wait for each other on leases of their own": `
lock: {algorithm: etcd, ttl: 4s}
clients: {a: {work: 6s, tasks: 2}}
expect: {mutual-exclusion: held, exclusion-at-service: held, fencing-order: held}
measures: {acquisitions: 2, wait-max-ns: {min: 6s, max: 6100ms}}
`,
		"a broken watch is taken up again": `
lock: {algorithm: etcd}
clients: {a: {work: 5s}, b: {start: 1s, work: 1s}}
faults: [{at: 3s, break: {from: b, to: etcd-1}, how: rst}]
expect: {mutual-exclusion: held}
measures: {wait-max-ns: {min: 3900ms, max: 4200ms}}
`,
	},
	"consul": {
		"contention": `
lock: {algorithm: consul}
clients: {a: {work: 1s, sections: 3}, b: {start: 10ms, work: 1s, sections: 3}, c: {start: 20ms, work: 1s, sections: 3}}
expect: {mutual-exclusion: held, exclusion-at-service: held, fencing-order: held}
progress: 5s
`,
		"a session that a health check ends tells its holder within the lock-delay": `
lock: {algorithm: consul}
clients: {a: {work: 40s}, b: {start: 1s, work: 1s}}
faults: [{at: 5s, end-session: a}]
styles: [careless, attentive]
until: 90s
expect: {mutual-exclusion: {careless: violated, attentive: held}, exclusion-at-service: held}
`,
		"a lock that is only tried is refused while another has it, and within the lock-delay": `
lock: {algorithm: consul}
clients: {a: {work: 2s}, b: {start: 500ms, wait: try}, c: {start: 25s, wait: try}, d: {start: 40s, wait: try}}
faults: [{after: {node: a, does: acquired}, plus: 1s, crash: a}]
expect: {mutual-exclusion: held}
measures: {acquisitions: 2}
`,
		"a leader that restarts takes the query of a holder with it, who takes that for a loss, and cannot release": `
lock: {algorithm: consul}
clients: {a: {work: 20s}, b: {start: 1s, work: 1s, again: 100ms}}
faults: [{at: 5s, crash: consul-1, restart: 100ms}]
styles: [attentive]
until: 90s
expect: {mutual-exclusion: held, exclusion-at-service: held}
measures: {wait-max-ns: {min: 38s, max: 46s}}
`,
		"disks that have lost everything break what was promised": `
lock: {algorithm: consul}
clients: {a: {work: 20s}, b: {start: 5s, work: 1s}}
faults: [{at: 3s, crash: consul-1, kind: host, restart: 1s, keep: nothing}]
expect: {mutual-exclusion: violated, exclusion-at-service: violated, fencing-order: violated}
`,
	},
	"chubby": {
		"a client that stands still sees a connection open and close at once": `
lock: {algorithm: chubby, ttl: 12s, timeout: 600ms}
clients: {c: {start: 1200ms, tasks: 2, sections: 2, wait: 12s, retry: 3s, work: 24s}}
network: {latency: [1ms, 5ms]}
faults:
  - {before: {node: chubby-1, does: reply, what: EndSession, peer: c}, crash: chubby-1, restart: 6s}
  - {before: {node: chubby-1, does: reply, what: EndSession, peer: c}, pause: c, for: 6s}
expect: {exclusion-at-service: held}
`,
		"contention": `
lock: {algorithm: chubby}
clients: {a: {work: 1s, sections: 3}, b: {start: 10ms, work: 1s, sections: 3}, c: {start: 20ms, work: 1s, sections: 3}}
expect: {mutual-exclusion: held, exclusion-at-service: held, fencing-order: held}
progress: 5s
`,
		"a holder that cannot reach the cell is in jeopardy before it has lost the lock": `
lock: {algorithm: chubby}
clients: {a: {work: 60s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 3s, cut: {from: a, to: chubby-1}, for: 30s}]
styles: [careless, attentive]
expect: {mutual-exclusion: {careless: violated, attentive: held}, exclusion-at-service: held}
`,
		"a short absence is no jeopardy": `
lock: {algorithm: chubby}
clients: {a: {work: 30s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, cut: {from: a, to: chubby-1}, for: 3s}]
styles: [careless, attentive]
expect: {mutual-exclusion: held, exclusion-at-service: held}
measures: {wait-max-ns: {min: 28900ms, max: 29100ms}}
`,
		"a request that waits outlives its master": `
lock: {algorithm: chubby}
clients: {a: {work: 20s}, b: {start: 1s, work: 1s, wait: 30s}}
faults: [{at: 5s, promote: chubby-1}, {at: 15s, crash: chubby-1, restart: 1s}]
expect: {mutual-exclusion: held, exclusion-at-service: held}
measures: {acquisitions: 2}
`,
		"the lock of a dead holder is free when its session and the lock-delay are over": `
lock: {algorithm: chubby, lock-delay: 20s}
clients: {a: {work: 5s}, b: {start: 500ms, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, crash: a}]
expect: {mutual-exclusion: held, exclusion-at-service: held}
measures: {next-holder-after-crash-ns: {min: 28s, max: 32s}}
`,
	},
}

func TestStoriesOfLeases(t *testing.T) {
	for kind, stories := range leaseStories {
		for name, text := range stories {
			t.Run(kind+"/"+name, func(t *testing.T) { playStory(t, "servers: {kind: "+kind+"}\n"+text) })
		}
	}
}

// TestLeasesOfAnEtcdClientAreKeptInOneStep checks that clientv3's loops belong to the client: for any number of leases,
// granted at any time, it sends twice a second and checks once a second.
func TestLeasesOfAnEtcdClientAreKeptInOneStep(t *testing.T) {
	s, err := scenarios.Parse("story.yaml", []byte(`
name: story
title: A story
story: A process has three leases, and is cut off.
lock: {algorithm: handmade}
servers: {kind: etcd}
clients: {a: {wait: 60s}}
faults: [{at: 10s, cut: {from: a, to: etcd-1}, for: 60s}]
`))
	require.NoError(t, err)
	var granted, lost []locks.Monotonic
	p, err := harness.Compile(s.Cases()[0], harness.Options{Instead: &locks.Algorithm{
		Name: "handmade", Servers: "etcd", Authority: locks.OneNode,
		New: func(locks.Options) locks.Builder {
			return func(p locks.Process) (locks.Lock, error) {
				for range 3 {
					p.Go(func(p locks.Process) {
						id, _, err := p.Etcd().Grant(0, 8*time.Second)
						require.NoError(t, err)
						done := p.NewSignal()
						p.Etcd().KeepAlive(id, done)
						granted = append(granted, p.Monotonic())
						p.Wait(locks.Forever, done)
						lost = append(lost, p.Monotonic())
					})
					p.Sleep(300 * time.Millisecond)
				}
				refuse := func() (locks.Lease, error) { return locks.Lease{}, locks.ErrNotAcquired }
				return handmade{p: p, try: refuse}, nil
			}
		},
	}})
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(p, 1, true)
	require.NoError(t, err)
	require.Len(t, lost, 3)
	for _, at := range lost {
		require.Zero(t, at.Sub(granted[0])%time.Second)
	}
	var asked []trace.Instant
	for i := range result.Events {
		if e := &result.Events[i]; e.Does == trace.Send && e.Node == "a" && e.What == "LeaseKeepAlive" {
			asked = append(asked, e.At)
			require.Zero(t, e.At.Sub(asked[0])%(500*time.Millisecond))
		}
	}
	require.Greater(t, len(asked), 9)
}
