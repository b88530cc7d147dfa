package minimal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// What several kinds of faults come to is one cause; what else goes wrong is one by itself.
func TestACauseIsWhatHappenedAndNotWhichFaultItTook(t *testing.T) {
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	for _, row := range []struct {
		what, scenario string
		property       checker.Property
		cause          string
	}{
		{"a pause", `
faults:
  - {after: {node: a, does: acquired}, pause: a, for: 12s}
`, checker.MutualExclusion, "a holder that continues past its lease"},
		{"long work", `
`, checker.MutualExclusion, "a holder that continues past its lease"},
		{"a late write", `
faults:
  - {after: {node: a, does: send, what: write}, delay: 12s}
`, checker.Resource, "a holder that continues past its lease"},
		{"an answer that is heard late", `
faults:
  - {before: {node: a, does: receive, what: acquire}, pause: a, for: 10500ms}
`, checker.MutualExclusion, "a lock that is over when Lock returns"},
		{"an eviction", `
faults:
  - {after: {node: a, does: acquired}, evict: redis-1}
`, checker.MutualExclusion, "eviction by a server"},
		{"a restart", `
servers: {persistence: none}
faults:
  - {after: {node: a, does: acquired}, crash: redis-1, restart: 100ms}
`, checker.ExclusionAtService, "crash of a server"},
		{"a restart that is over before a replica takes the place", `
servers: {masters: 3, replicas: 1, cluster: true, persistence: none}
faults:
  - {after: {node: a, does: acquired}, crash: redis-1, restart: 1ms}
`, checker.ExclusionAtService, "crash of a server"},
		{"a clock that jumps", `
faults:
  - {after: {node: a, does: acquired}, clock: redis-1, step: 20s}
`, checker.ExclusionAtService, "clock of a server that jumps ahead"},
		{"servers that are down", `
progress: 20s
faults:
  - {at: 0s, crash: redis-1}
`, checker.Availability, "servers out of reach"},
		{"servers that are cut off", `
progress: 20s
faults:
  - {at: 0s, cut: {from: "*", to: redis-1}}
`, checker.Availability, "servers out of reach"},
	} {
		t.Run(row.what, func(t *testing.T) {
			work := "1s"
			if row.what == "long work" {
				work = "12s"
			}
			s, err := scenarios.Parse("cause.yaml", []byte(`name: cause
lock: {algorithm: set-nx-lua}
clients:
  a: {work: `+work+`}
  b: {start: 10ms, work: 1s}
resource: {fencing: none}
styles: careless
`+row.scenario))
			require.NoError(t, err)
			require.Equal(t, row.cause, first(t, &r, s, row.property).Cause())
		})
	}
}

// What ends a hold by a connection is a cause by itself, and not the clock that only shifts the moment at which it does.
func TestWhatEndsAHoldEarlyIsTheCause(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for _, row := range []struct {
		scenario string
		property checker.Property
		cause    string
		title    string
	}{
		{`
lock: {algorithm: pg-advisory}
servers: {kind: postgres, idle-timeout: 5s}
clients: {a: {work: 5s}, b: {start: 1ms}}
network: {latency: 1ms}`, checker.MutualExclusion, "a connection that its servers end as idle", "The servers end an idle connection; "},
		{`
lock: {algorithm: pg-advisory}
servers: {kind: postgres, pool: 2}
clients: {a: {start: 10s, work: 10s}, b: {start: 20s}}
network: {latency: 1ms}`, checker.ExclusionAtService, "a pooler that lends connections", "Clients share connections by a pooler; "},
		{`
lock: {algorithm: pg-advisory}
servers: {kind: postgres}
clients: {a: {}, b: {start: 5ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, crash: postgres-1, restart: 1ms}]`, checker.MutualExclusion,
			"a holder that continues past its connection", "Postgres-1 crashes "},
		{`
lock: {algorithm: memcached-cas, ttl: 2s}
servers: {kind: memcached}
clients: {a: {sections: 2, work: 1s}, b: {start: 2.02391s}}
network: {latency: 1us}
clocks: {a: {rate: -11810ppm}}
seed: 0x2`, checker.ExclusionAtService, "a key that ends before its time", "The clock of a "},
		{`
lock: {algorithm: pg-advisory}
servers: {kind: postgres, pool: 2}
clients: {a: {}, b: {start: 5ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, crash: a, restart: 50s}]`, checker.Leak,
			"a pooler that lends connections, crash of the holder while it has the lock", "Client a crashes "},
		{`
lock: {algorithm: dynamodb-eventual, ttl: 3s, timeout: 5ms}
servers: {kind: object}
clients: {a: {work: 10s}, b: {start: 1ms}}
network: {latency: 1ms}
faults: [{after: {node: store-1, does: execute, what: renew}, pause: store-1, for: 5ms}]`, checker.MutualExclusion,
			"a lock that gives up renewing its lease", "Store-1 pauses; "},
		{`
lock: {algorithm: dynamodb-eventual, ttl: 3s}
servers: {kind: object}
clients: {a: {style: careful}}
network: {latency: 1ms}
faults:
  - {after: {node: store-1, does: execute, what: look}, nth: 2, crash: store-1, kind: host, restart: 5s}
  - {at: 20s, crash: a}`, checker.SilentLoss, "power loss of a server", "Store-1 loses power, "},
	} {
		s, err := scenarios.Parse("cause.yaml", []byte("name: cause\nresource: {fencing: none}\nstyles: careless"+row.scenario))
		require.NoError(t, err)
		found := first(t, &r, s, row.property)
		require.Equal(t, row.cause, found.Cause())
		require.Contains(t, found.Scenario.Title, row.title)
	}
}

// Who is told too late that its first write is done leaves its section, careful as it is, without the second.
func TestASectionMayBeLeftHalfDone(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	s, err := scenarios.Parse("half.yaml", []byte(`name: half
lock: {algorithm: redlock, ttl: 1s}
servers: {masters: 3}
clients:
  a: {sections: 2}
resource: {fencing: none, registers: 2}
network: {latency: 1ms}
faults:
  - {after: {node: storage, does: reply, what: write}, delay: 1s}
styles: careful
`))
	require.NoError(t, err)
	require.Equal(t, "a section that is left half done", first(t, &r, s, checker.Resource).Cause())
}
