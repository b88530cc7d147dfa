package harness_test

import (
	"fmt"
	"testing"

	"github.com/locksim/locksim/locks"
)

// databaseStories are what every lock in a database or in memcached must live through.
var databaseStories = map[string]string{
	"three who take turns exclude each other": `
clients: {a: {work: 1s, sections: 3, think: 10ms}, b: {work: 1s, sections: 3}, c: {start: 500ms, work: 1s, sections: 3}}
progress: 5s
expect: {mutual-exclusion: held, progress: held}
measures: {acquisitions: 9}
`,
	"a try does not wait": `
clients: {a: {work: 5s, wait: try}, b: {start: 1s, work: 1s, wait: try}, c: {start: 7s, work: 1s, wait: try}}
expect: {mutual-exclusion: held}
measures: {acquisitions: 2, refusals: 1, wait-max-ns: {max: 100ms}}
`,
	"a client that may not wait forever gives up in time": `
clients: {a: {work: 5s}, b: {start: 1s, work: 1s, wait: 2s}, c: {start: 1500ms, work: 1s, wait: 20s}}
expect: {mutual-exclusion: held}
measures: {acquisitions: 2, refusals: 1}
`,
	"a holder that dies is succeeded": `
clients: {a: {work: 30s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 2s, crash: a}]
progress: 12s
expect: {mutual-exclusion: held, progress: held}
`,
	"who waits while the server restarts asks again": `
clients: {a: {work: 1s, sections: 4, again: 100ms}, b: {work: 1s, sections: 4, again: 100ms}}
faults: [{at: 2500ms, crash: %[1]s-1, restart: 1s}]
progress: 12s
expect: {progress: held}
`,
	"an answer that does not come is not waited for, and the lock is not lost": `
clients: {a: {work: 1s, again: 100ms}, b: {start: 1s, work: 1s, again: 100ms}, c: {start: 2s, work: 1s, again: 100ms}}
faults: [{name: lost, before: {node: %[1]s-1, does: reply, what: acquire}, break: this, lose: reply}]
progress: 12s
expect: {progress: held}
`,
	"an error is a try that failed": `
clients: {a: {work: 1s}, b: {start: 500ms, work: 1s}}
faults: [{before: {node: %[1]s-1, does: execute, what: acquire}, error: "1040 Too many connections"}]
progress: 5s
expect: {progress: held}
`,
}

func TestStoriesOfDatabases(t *testing.T) {
	for _, lock := range locks.Catalogue().All() {
		switch lock.Servers {
		default:
			continue
		case "mysql", "postgres", "memcached":
		}
		for name, text := range databaseStories {
			t.Run(lock.Name+"/"+name, func(t *testing.T) {
				head := "lock: {algorithm: %[2]s}\nservers: {kind: %[1]s}\n"
				playStory(t, fmt.Sprintf(head+text, lock.Servers, lock.Name))
			})
		}
	}
}
