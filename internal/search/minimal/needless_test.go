package minimal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
)

func TestOnlyWhatMakesNoDifferenceIsNeedless(t *testing.T) {
	for _, c := range []struct {
		name, scenario string
		needless       []string
	}{
		{"an application that works on past its lease", `
lock: {algorithm: redlock, ttl: 5s}
servers: {masters: 3}
clients: {a: {work: 8s}, b: {start: 1s, work: 1s}}
clocks: {redis-2: {rate: 100ppm}}
faults: [{name: down, at: 6s, crash: redis-3, restart: 1s}]`, []string{"redis-2", "down"}},
		{"a clock that is ahead", `
lock: {algorithm: s3-lease, ttl: 10s}
servers: {kind: object}
clients: {a: {work: 5s}, b: {start: 1s, work: 1s}}
clocks: {b: {offset: 12s}}
faults: [{name: gc, at: 200ms, pause: a, for: 100ms}]`, []string{"gc"}},
		{"two faults of which each would do", `
lock: {algorithm: watchdog, ttl: 10s}
clients: {a: {work: 14s}, b: {start: 2s, work: 1s}}
faults: [{name: gc, at: 1s, pause: a, for: 12s}, {name: cut, at: 1s, cut: {from: a, to: redis-1}, for: 12s}]`, []string{}},
		{"a crash after which another server is made the master", `
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {replicas: 1}
clients: {a: {work: 5s}, b: {start: 2s, work: 1s}}
faults:
  - {name: lag, at: 0s, stall: {from: redis-1, to: redis-2}}
  - {name: down, at: 1s, crash: redis-1}
  - {name: failover, at: 1500ms, promote: redis-2}`, []string{}},
	} {
		s, err := scenarios.Parse("needless.yaml", []byte("name: needless\ntitle: A violation\n"+c.scenario))
		require.NoError(t, err, c.name)
		plan, err := harness.Compile(s.Cases()[0], harness.Options{})
		require.NoError(t, err)
		var r harness.Runner
		defer r.Close()
		result, err := r.Run(plan, s.Seed, true)
		require.NoError(t, err)
		require.NotEmpty(t, result.Report.Violations, c.name)
		require.Equal(t, c.needless, minimal.Needless(&r, plan, s.Seed, &result, minimal.Options{}), c.name)
	}
}
