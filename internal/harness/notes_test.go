package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoteSaysWhyALockWasNotAcquired checks the notes of clients that give up, and their moments.
func TestNoteSaysWhyALockWasNotAcquired(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"an error of the servers": {`
lock: {algorithm: set-nx-lua}
clients: {a: {work: 1s, wait: try}}
faults: [{before: {node: redis-1, does: execute, what: acquire}, error: "LOADING it is busy"}]
`, []string{"a is refused: redis SET lock: LOADING it is busy"}},
		"no answer": {`
lock: {algorithm: set-nx-lua, timeout: 50ms}
clients: {a: {work: 1s, wait: try}}
faults: [{before: {node: redis-1, does: reply, what: acquire}, break: this, lose: reply}]
`, []string{"a has no answer: redis SET lock: redis-1: outcome unknown"}},
		"an error that the client asks again after": {`
lock: {algorithm: set-nx-lua, timeout: 50ms}
clients: {a: {work: 1s, wait: try, again: 1s}}
faults: [{before: {node: redis-1, does: execute, what: acquire}, error: "LOADING it is busy"}]
`, nil},
		"others have the lock": {`
lock: {algorithm: set-nx-lua}
clients: {a: {work: 5s}, b: {start: 1s, work: 1s, wait: try}}
`, nil},
		"a TTL that the servers raise": {`
servers: {kind: etcd}
lock: {algorithm: etcd, ttl: 1500ms}
clients: {a: {work: 1s}}
`, []string{"a asks for a TTL of 1.5s and is given 2s"}},
		"a time-out that an ensemble lowers": {`
servers: {kind: zookeeper, tick: 500ms}
lock: {algorithm: zk-sequential, ttl: 30s}
clients: {a: {work: 1s}}
`, []string{"a asks for a TTL of 30s and is given 10s"}},
	} {
		t.Run(name, func(t *testing.T) {
			result := playOnce(t, "name: story\ntitle: A story\nstory: See the test.\n"+c.text)
			var said []string
			for _, n := range result.History.Notes {
				said = append(said, n.Node+" "+n.Text)
			}
			require.Equal(t, c.want, said)
		})
	}
}
