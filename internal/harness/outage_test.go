package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
)

// TestPermanentLossOfWhatEveryLockNeedsIsNoLackOfProgress has clients wait for servers that are gone for good: if no lock
// could acquire there, progress is vacuous; if a lock could, one that does not violates progress, and one that does keeps it.
func TestPermanentLossOfWhatEveryLockNeedsIsNoLackOfProgress(t *testing.T) {
	const one = "lock: {algorithm: set-nx-lua, ttl: 10s, timeout: 1s}\n"
	const five = "lock: {algorithm: redlock, ttl: 10s}\nservers: {masters: 5}\n"
	const pair = "clients: {a: {work: 1s}, b: {start: 500ms, work: 1s}}\n"
	const zk = "lock: {algorithm: zk-sequential, ttl: 4s}\nservers: {kind: zookeeper}\n"
	const sentinels = "lock: {algorithm: set-nx-lua, ttl: 5s, timeout: 1s}\nservers: {replicas: 1, sentinels: 3, down-after: 5s}\n"
	crash := func(nodes ...string) string {
		text := "faults:\n"
		for _, node := range nodes {
			text += "- {at: 100ms, crash: " + node + "}\n"
		}
		return text
	}
	for _, c := range []struct {
		name, text string
		verdict    checker.Verdict
		reason     string
	}{
		{"the only server crashes", one + pair + crash("redis-1"), checker.Vacuous, "it cannot reach the only master any more"},
		{"the only server pauses", one + pair + "faults: [{at: 100ms, pause: redis-1}]\n", checker.Vacuous, "only master"},
		{"the only database", "lock: {algorithm: mysql-row}\nservers: {kind: mysql}\n" + pair + crash("mysql-1"), checker.Vacuous,
			"the only server is gone"},
		{"everybody is cut off", one + pair + "faults: [{at: 100ms, cut: {from: '*', to: redis-1}}]\n", checker.Vacuous, "only master"},
		{"one of two is cut off", one + "clients: {a: {work: 3s}, b: {start: 500ms, work: 1s}, c: {start: 600ms, work: 1s}}\n" +
			"faults: [{at: 550ms, cut: {from: b, to: redis-1}}]\n", checker.Held, ""},
		{"a majority", five + pair + crash("redis-1", "redis-2", "redis-3"), checker.Vacuous, "a majority of the servers"},
		{"a minority", five + pair + crash("redis-1", "redis-2"), checker.Held, ""},
		{"a minority, and a lock that cannot bear it", "lock: {algorithm: redlock-py, ttl: 10s}\nservers: {masters: 5}\n" + pair +
			"faults: [{at: 100ms, pause: redis-3}]\n", checker.Violated, ""},
		{"a majority of an ensemble", zk + pair + crash("zk-1", "zk-2"), checker.Vacuous, "a majority of the servers is gone"},
		{"a minority of an ensemble", zk + pair + crash("zk-1"), checker.Held, ""},
		{"a master with a replica that nobody promotes", "lock: {algorithm: set-nx-lua, ttl: 10s, timeout: 1s}\nservers: {replicas: 1}\n" +
			pair + crash("redis-1"), checker.Vacuous, "only master"},
		{"a master that Sentinels replace", sentinels + pair + crash("redis-1"), checker.Held, ""},
		{"a dead holder without a lease", "lock: {algorithm: setnx}\n" + pair + crash("a"), checker.Violated, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := playOnce(t, "name: x\nprogress: 30s\nuntil: 120s\n"+c.text)
			require.Equal(t, c.verdict.String(), result.Report.Verdicts[checker.Progress].String())
			require.Contains(t, result.Report.Reasons[checker.Progress], c.reason)
		})
	}
}
