package harness_test

import (
	"testing"
)

// routerStories are how clients find the master.
var routerStories = map[string]string{
	"a call on a master that stands still ends when a Sentinel tells of another": `
servers: {replicas: 1, sentinels: 3, down-after: 2s, failover-timeout: 6s}
clients: {a: {sections: 2, work: 100ms, think: 2s, again: 100ms}}
faults: [{at: 2s, pause: redis-1}]
measures: {acquisitions: 2, wait-max-ns: {min: 2s, max: 5s}}
`,
	"a client that is cut off from its Sentinel asks the others": `
servers: {replicas: 1, sentinels: 3, down-after: 2s, failover-timeout: 6s}
clients: {a: {sections: 2, work: 100ms, think: 6s, again: 100ms}}
faults:
  - {at: 1s, cut: {from: a, to: [sentinel-1, sentinel-2]}}
  - {at: 2s, crash: redis-1}
measures: {acquisitions: 2, wait-max-ns: {max: 8s}}
`,
	"nobody is asked for the master while a connection to it is open": `
servers: {replicas: 1, sentinels: 3}
clients: {a: {sections: 20, work: 100ms, think: 100ms}}
faults: [{at: 1s, cut: {from: a, to: "sentinel-*"}}]
measures: {acquisitions: 20, refusals: 0, wait-max-ns: {max: 1s}}
`,
	"a lock that was replicated is released at the new master": `
servers: {replicas: 1, sentinels: 3, down-after: 2s, failover-timeout: 6s}
clients: {a: {work: 10s}, b: {start: 1s, work: 1s, again: 100ms}}
faults: [{at: 2s, pause: redis-1}]
expect: {mutual-exclusion: held}
measures: {acquisitions: 2, releases-misreported: 0}
`,
	"a node of a cluster that is master no longer sends clients on": `
servers: {masters: 3, replicas: 1, cluster: true}
clients: {a: {sections: 20, work: 100ms, think: 100ms}}
faults: [{at: 2s, promote: redis-4}]
measures: {acquisitions: 20, refusals: 0, wait-max-ns: {max: 1s}}
`,
	"a release that a dead master does not answer is sent again, to the new one": `
servers: {masters: 3, replicas: 1, cluster: true, down-after: 3s}
clients: {a: {work: 20s}, b: {start: 3s, work: 1s, retry: 100ms}}
faults: [{at: 2s, crash: redis-1, kind: host}]
measures: {acquisitions: 2, releases-misreported: 0, wait-max-ns: {max: 30s}}
`,
	"an answer that may soon be another is not the lock's to see": `
servers: {replicas: 1, sentinels: 3}
clients: {a: {wait: try, work: 1s}}
faults: [{before: {node: redis-1, does: execute, what: SET}, error: LOADING Redis is loading the dataset in memory}]
measures: {acquisitions: 1, refusals: 0}
`,
	"a request whose answer is lost is sent again, and meets its own key": `
servers: {replicas: 1, sentinels: 3}
clients: {a: {wait: try, work: 1s}}
faults: [{before: {node: redis-1, does: reply, what: SET, peer: a}, break: this, how: rst, lose: reply}]
measures: {acquisitions: 0, refusals: 1}
`,
	"a plain client does not send it again": `
servers: {replicas: 1}
clients: {a: {wait: try, work: 1s}}
faults: [{before: {node: redis-1, does: execute, what: SET}, error: LOADING Redis is loading the dataset in memory}]
measures: {acquisitions: 0, refusals: 1}
`,
	"a client that was told of a new master waits for the old one no longer than its time-out": `
servers: {replicas: 1}
clients: {a: {start: 1s, work: 1s}}
faults: [{at: 500ms, pause: redis-1}, {at: 2s, promote: redis-2}]
measures: {acquisitions: 1, wait-max-ns: {min: 3s, max: 4s}}
`,
	"a client of a cluster gets a new table when its master is dead": `
servers: {masters: 3, replicas: 1, cluster: true, down-after: 2s}
clients: {a: {sections: 2, work: 100ms, think: 2s, again: 100ms}}
faults: [{at: 2s, crash: redis-1}]
measures: {acquisitions: 2, wait-max-ns: {min: 2s, max: 8s}}
`,
}

func TestClientsFindTheMaster(t *testing.T) {
	for name, text := range routerStories {
		t.Run(name, func(t *testing.T) { playStory(t, "lock: {algorithm: set-nx-lua, ttl: 60s}\n"+text) })
	}
}
