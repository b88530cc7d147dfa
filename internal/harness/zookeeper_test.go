package harness_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// ensembleStories are what an ensemble can do to a lock.
var ensembleStories = map[string]string{
	"the lock of a dead holder is free when its session expires": `
lock: {algorithm: zk-sequential, ttl: 4s}
clients: {a: {work: 5s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 2s, crash: a}]
progress: 8s
expect: {mutual-exclusion: held, progress: held, exclusion-at-service: held}
measures: {wait-max-ns: {min: 4s, max: 8s}}
`,
	"a pause that outlasts the session": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 2s}, b: {start: 1s, work: 2s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, pause: a, for: 20s}]
styles: [careless, attentive, careful]
resource: {fencing: [none, fenced-write, fenced-read-write]}
expect:
  mutual-exclusion: violated
  fencing-order: held
  resource: {none: {careless: violated}, fenced-write: {careless: held}, fenced-read-write: {careless: held}}
`,
	"a pause that outlasts the session, and the next holder writes later": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 2s}, b: {start: 1s, work: 20s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, pause: a, for: 20s}]
resource: {fencing: [none, fenced-write, fenced-read-write]}
expect: {mutual-exclusion: violated, resource: {none: violated, fenced-write: violated, fenced-read-write: held}}
`,
	"a client that is cut off must stop before it knows that it has lost": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 30s}, b: {start: 1s, work: 10s}}
faults: [{after: {node: a, does: acquired}, plus: 3s, cut: {from: a, to: "zk-*"}, for: 40s}]
styles: [careless, attentive, careful]
expect: {mutual-exclusion: {careless: violated, attentive: violated, careful: held}}
`,
	"behind a server that is cut off nobody knows anything": `
lock: {algorithm: zk-sequential, ttl: 4s}
clients: {a: {work: 20s, servers: [zk-1, zk-2, zk-3]}, b: {start: 1s, work: 2s, servers: [zk-2]}}
faults: [{after: {node: a, does: acquired}, plus: 5s, cut: {from: zk-1, to: [zk-2, zk-3]}, for: 40s}]
styles: [careless, attentive, careful]
expect: {mutual-exclusion: violated, exclusion-at-service: held}
`,
	"a session outlives a short disconnection, and the lock with it": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 20s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 3s, cut: {from: a, to: "zk-*"}, for: 4s}]
styles: [careless, attentive, careful]
expect: {mutual-exclusion: held}
`,
	"a waiter that dies wakes the one behind it": `
lock: {algorithm: zk-sequential, ttl: 4s}
clients: {a: {work: 30s}, b: {start: 1s, work: 1s}, c: {start: 2s, work: 1s}}
faults: [{at: 5s, crash: b}]
expect: {mutual-exclusion: held}
variants:
  - {name: no-recheck, set: {lock: {algorithm: zk-sequential-no-recheck}}, expect: {mutual-exclusion: violated}}
`,
	"a predecessor that goes before it is watched wakes nobody, and needs not": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 2s}, b: {start: 1s, work: 1s}}
faults: [{before: {node: b, does: send, what: getData}, delay: 3s}]
progress: 5s
expect: {mutual-exclusion: held, progress: held}
`,
	"a release by name frees the lock of the next": `
lock: {algorithm: zk-ephemeral}
clients: {a: {work: 2s}, b: {start: 1s, work: 30s}, c: {start: 3s, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, pause: a, for: 20s}]
expect: {release-safety: violated}
variants:
  - {name: go, set: {lock: {library: go-zookeeper}}}
  - {name: own-node, set: {lock: {algorithm: zk-sequential, library: go-zookeeper}}, expect: {release-safety: held}}
`,
	"the leader dies while a create is in flight": `
lock: {algorithm: zk-sequential, ttl: 8s}
servers: {kind: zookeeper, leader: 1}
clients: {a: {work: 1s, again: 1s, servers: [zk-2, zk-3]}, b: {start: 1s, work: 1s, again: 1s}}
faults: [{after: {node: zk-1, does: reply, what: acquire}, nth: 4, crash: zk-1}]
progress: 10s
expect: {mutual-exclusion: held, progress: held}
variants:
  - {name: orphan, set: {lock: {algorithm: zk-sequential-unprotected}}, expect: {progress: violated, mutual-exclusion: vacuous}}
`,
	"a client that gives up without having learned of its create leaves no node behind": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 20s}, b: {start: 2s, wait: try, sections: 2, think: 200s, stays: true}, c: {start: 6s}}
until: 300s
faults:
  - {after: {node: "zk-*", does: reply, what: acquire, peer: b}, break: {from: b, to: "zk-*"}, how: rst, lose: reply}
  - {before: {node: "zk-*", does: execute, what: sync, peer: b}, break: {from: b, to: "zk-*"}, how: rst, lose: reply}
expect: {leak: held}
`,
	"a deletion that a server answers with an error is repeated": `
lock: {algorithm: zk-sequential}
clients: {a: {}, b: {start: 1ms, wait: try, again: 2.5s}, c: {start: 2ms}}
network: {latency: 1ms}
faults: [{before: {node: "zk-*", does: execute, what: release, peer: b}, error: throttledOp}]
expect: {leak: held}
`,
	"a holder enters again, and has left with its last release": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 2s, enters: 3, sections: 2}, b: {start: 500ms, work: 1s}}
progress: 10s
expect: {mutual-exclusion: held, exclusion-at-service: held, progress: held}
measures: {acquisitions: 7}
variants:
  - name: paused
    set: {faults: [{after: {node: a, does: acquired}, nth: 3, plus: 1s, pause: a, for: 20s}]}
    expect: {mutual-exclusion: violated, exclusion-at-service: held, progress: held}
`,
	"a key with a slash is a node below another": `
lock: {algorithm: zk-sequential, key: locks/orders}
clients: {a: {work: 5s}, b: {start: 500ms, work: 1s}}
expect: {mutual-exclusion: held}
measures: {acquisitions: 2}
variants:
  - {name: queue}
  - {name: one-node, set: {lock: {algorithm: zk-ephemeral}}}
`,
	"clients take the lock in the order in which they came": `
lock: {algorithm: zk-sequential}
clients:
  a: {work: 5s}
  b: {start: 100ms, work: 1s}
  c: {start: 200ms, work: 1s}
  d: {start: 300ms, work: 1s}
expect: {mutual-exclusion: held}
measures: {overtakes-max: 0}
`,
	"a write that comes after the session has ended": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 2s}, b: {start: 1s, work: 1s}}
faults:
  - {name: slow, before: {node: storage, does: receive, what: write, peer: a}, delay: 25s}
  - {after: {does: begin, what: slow}, cut: {from: a, to: "zk-*"}, for: 25s}
styles: [careless, careful]
resource: {fencing: [none, fenced-write]}
expect:
  mutual-exclusion: {careless: violated}
  resource: {none: violated, fenced-write: held}
`,
	"wall clocks are of no account": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 20s}, b: {start: 1s, work: 1s}}
faults:
  - {at: 5s, clock: leader, step: 1h}
  - {at: 6s, clock: a, step: -1h}
expect: {mutual-exclusion: held}
`,
	"numbers begin again when the lock's node is deleted": `
lock: {algorithm: zk-sequential-number-token}
clients: {a: {work: 1s, sections: 2, think: 130s}}
until: 200s
expect: {fencing-order: violated}
variants:
  - {name: czxid, set: {lock: {algorithm: zk-sequential}}, expect: {fencing-order: held}}
`,
	"a session that the servers end goes before its client hears of it": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 10s}, b: {start: 1s, work: 1s}}
faults: [{at: 5s, end-session: a}]
expect: {mutual-exclusion: violated, exclusion-at-service: held}
`,
	"a resource in ZooKeeper that is written together with a check needs no token": `
lock: {algorithm: zk-sequential, library: go-zookeeper}
clients: {a: {work: 2s}, b: {start: 1s, work: 20s}}
resource: {in: servers}
faults: [{after: {node: a, does: acquired}, plus: 1s, pause: a, for: 20s}]
expect: {mutual-exclusion: violated, resource: held}
`,
	"a change of leader takes no lock away": `
lock: {algorithm: zk-sequential}
clients: {a: {work: 10s}, b: {start: 1s, work: 1s}}
faults: [{at: 5s, promote: zk-1}]
progress: 15s
expect: {mutual-exclusion: held, progress: held}
`,
	"disks that lose what they have acknowledged lose the lock": `
lock: {algorithm: zk-sequential, ttl: 4s}
servers: {kind: zookeeper, persistence: lazy}
clients: {a: {work: 40s}, b: {start: 1s, work: 1s, again: 1s}}
faults: [{at: 5s, crash: zk-1, kind: host, restart: 1s}, {at: 5s, crash: zk-2, kind: host, restart: 1s}, {at: 5s, crash: zk-3, kind: host, restart: 1s}]
expect: {mutual-exclusion: violated, exclusion-at-service: violated}
`,
	"an interrupted connection tells only a careful client that its session may be over": `
lock: {algorithm: zk-ephemeral, ttl: 12s}
clients: {a: {work: 27s}}
faults: [{at: 12500ms, cut: {from: a, to: "zk-*"}, for: 30s}]
styles: [attentive, careful]
expect: {silent-loss: {attentive: vacuous, careful: held}}
`,
}

func TestStoriesOfAnEnsemble(t *testing.T) {
	for name, text := range ensembleStories {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(text, "servers: {kind") {
				text += "servers: {kind: zookeeper}\n"
			}
			playStory(t, text)
		})
	}
}

func TestKeyThatIsNoPathIsRefused(t *testing.T) {
	for _, key := range []string{"/lock", "lock/", "a//b", "a/../b", "."} {
		s, err := scenarios.Parse("story.yaml", []byte("name: story\ntitle: A story\nstory: See the test.\n"+
			"lock: {algorithm: zk-sequential, key: "+key+"}\nservers: {kind: zookeeper}\nclients: {a: {}}\n"+
			"expect: {mutual-exclusion: vacuous}\n"))
		require.NoError(t, err)
		_, err = harness.Compile(s.Cases()[0], harness.Options{})
		require.ErrorContains(t, err, "lock.key", key)
	}
}
