package remedy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/remedy"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// listed are the remedies of a scenario in brief. Each must be a change that the scenario's file takes.
func listed(t *testing.T, text string, style history.Style, mode history.Fencing) (list []string) {
	t.Helper()
	text = "name: x\ntitle: A scenario\n" + text
	s, err := scenarios.Parse("x.yaml", []byte(text))
	require.NoError(t, err)
	lock, ok := locks.Catalogue().Find(s.Lock.Algorithm)
	require.True(t, ok)
	for _, x := range remedy.Of(s, &lock, style, mode) {
		require.NotEmpty(t, x.What)
		changed, err := scenarios.Parse("x.yaml", []byte(text), x.Changes...)
		require.NoError(t, err, x.Brief)
		require.NotEqual(t, string(s.YAML()), string(changed.YAML()), "%s changes nothing", x.Brief)
		list = append(list, x.Brief)
	}
	return list
}

// TestRemediesAreWhatIsNotSoAlready lists what is left of a scenario in which much could be better, and of one in which little could.
func TestRemediesAreWhatIsNotSoAlready(t *testing.T) {
	require.Equal(t, []string{
		"a's token shown", "b's renewals in time", "b's writes before its Unlock", "attentive clients", "careful clients",
		"fencing check-then-write", "fencing fenced-read-write", "fencing token-equality", "fencing compare-and-set",
		"persistence everysec", "persistence always", "min-replicas 1",
	}, listed(t, `
lock: {algorithm: set-nx-lua-fenced}
servers: {kind: redis, replicas: 1}
clients: {a: {work: 1s, forgets-token: true, style: careless}, b: {work: 1s, renews-late: 1s, passes-token: 1s}}
resource: {fencing: fenced-write}
`, history.Careless, history.FencedWrite))
	require.Equal(t, []string{"fencing token-equality", "fencing compare-and-set"}, listed(t, `
lock: {algorithm: set-nx-lua}
servers: {kind: redis, persistence: always}
clients: {a: {work: 1s}}
`, history.Careful, history.Unfenced))
	require.Equal(t, []string{"renewals every", "careful clients", "fencing token-equality", "fencing compare-and-set"}, listed(t, `
lock: {algorithm: watchdog}
servers: {kind: redis, persistence: always}
clients: {a: {work: 1s}}
`, history.Attentive, history.Unfenced))
	require.Contains(t, listed(t, `
lock: {algorithm: zk-sequential}
servers: {kind: zookeeper}
clients: {a: {work: 1s}}
`, history.Careful, history.Unfenced), "data on the lock's servers")
}

// TestTheOrderOfLocksIsARemedyWhereThereAreTwo orders, and not where clients take them in one.
func TestTheOrderOfLocksIsARemedyWhereThereAreTwo(t *testing.T) {
	const text, one = `
lock: {algorithm: set-nx-lua}
locks: {x: {}, y: {}, z: {}}
clients: {a: {takes: [x, z]}, b: {}, c: {takes: `, "one order of locks for all clients"
	require.Contains(t, listed(t, text+"[z, y]}}", history.Careless, history.Unfenced), one)
	require.NotContains(t, listed(t, text+"[y, z]}}", history.Careless, history.Unfenced), one)
}
