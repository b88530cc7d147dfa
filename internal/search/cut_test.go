package search_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// TestAnEarlyEndHidesNoViolation ends drawn runs after a few leases. Where the verdict nevertheless is that a property held, it
// is not violated either in the same run with an end ten times as late.
func TestAnEarlyEndHidesNoViolation(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	drawn := []string{"setnx", "set-nx-lua", "zk-sequential-number-token", "etcd", "consul",
		"memcached-add", "mysql-get-lock", "pg-advisory"}
	early, said := 0, 0
	for _, lock := range locks.Catalogue().All() {
		if !slices.Contains(drawn, lock.Name) {
			continue
		}
		model := search.Wide(&lock, search.Kinds())
		for n := range uint64(112) {
			s := search.Generate(search.Seeded(n), model)
			cases := s.Cases()
			c := cases[int(n)%len(cases)]
			s.Until = s.Lock.TTL * time.Duration([]int{2, 3, 5, 8, 12, 20, 30}[n%7])
			short := playedUntil(t, &r, c, s.Until)
			if short.History.Quiescent {
				continue
			}
			if early++; short.History.Cut != "" {
				continue
			}
			said++
			long := playedUntil(t, &r, c, 10*s.Until)
			for p, v := range short.Report.Verdicts {
				if v == checker.Held || v == checker.Vacuous {
					require.NotEqual(t, checker.Violated, long.Report.Verdicts[p], "%v is %v at %v, but %v\n%s", checker.Property(p),
						v, s.Until, search.FirstOf(checker.Property(p), &long.Report), s.YAML())
				}
			}
		}
	}
	require.Greater(t, early, 100)
	require.Positive(t, said)
}

func playedUntil(t *testing.T, r *harness.Runner, c scenarios.Case, until time.Duration) harness.Result {
	t.Helper()
	s := *c.Scenario
	s.Until, c.Scenario = until, &s
	p, err := harness.Compile(c, harness.Options{})
	require.NoError(t, err)
	result, err := r.Run(p, s.Seed, false)
	require.NoError(t, err)
	return result
}

// replicaGivesUpLate has a replica whose master loses its power in the handshake: it waits for an answer for 60 s (repl-timeout),
// and until then nobody acquires a lock that waits for replicas.
const replicaGivesUpLate = `name: replica-gives-up-late
lock: {algorithm: set-nx-lua-wait, ttl: 1s, timeout: 50ms}
servers: {replicas: 1, persistence: always}
clients:
  a: {sections: 2, retry: 250ms}
faults:
  - {at: 10ms, crash: redis-1, kind: host, restart: 100ms}
  - {at: 2s, crash: redis-1, kind: host, restart: 1s}
until: 40s
`

func TestARunThatItsEndCutsOffIsPlayedLonger(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	s, err := scenarios.Parse("x.yaml", []byte(replicaGivesUpLate))
	require.NoError(t, err)
	short := playedUntil(t, &r, s.Cases()[0], s.Until)
	require.NotEmpty(t, short.History.Cut, "the twin: it is cut off")
	search.Play(&r, s, harness.Options{}, func(_ scenarios.Case, result *harness.Result, err error) bool {
		require.NoError(t, err)
		require.Empty(t, result.History.Cut)
		require.NotContains(t, result.Report.Verdicts, checker.Undecided)
		return true
	})
	require.Equal(t, 400*time.Second, s.Until, "the end that is saved")
}
