package servers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/backend/leased"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

var play = harness.Options{Locks: locks.Catalogue().With(leased.Lock())}

const story = `
name: leased
lock: {algorithm: leased, ttl: 2s}
servers: {kind: leased}
clients: {a: {work: 1s}, b: {start: 500ms, work: 1s}}
resource: {fencing: [none, fenced-read-write]}
`

// TestALeaseExcludesUntilItsHolderOutsleepsIt: a scenario names the backend as any other, a pause after the lease breaks
// exclusion, and the numbers of leases fence the resource.
func TestALeaseExcludesUntilItsHolderOutsleepsIt(t *testing.T) {
	for _, c := range []struct {
		faults    string
		exclusion checker.Verdict
	}{
		{"", checker.Held},
		{"faults: [{after: {node: a, does: acquired}, pause: a, for: 3s}]", checker.Violated},
	} {
		s, err := scenarios.Parse("leased.yaml", []byte(story+c.faults))
		require.NoError(t, err)
		var r harness.Runner
		defer r.Close()
		for _, each := range s.Cases() {
			plan, err := harness.Compile(each, play)
			require.NoError(t, err)
			result, err := r.Run(plan, 1, true)
			require.NoError(t, err)
			require.Equal(t, c.exclusion, result.Report.Verdicts[checker.MutualExclusion], "%v", result.Report)
			if each.Fencing.NeedsToken() {
				require.NotEqual(t, checker.Violated, result.Report.Verdicts[checker.Resource])
			}
		}
	}
}

// TestItIsFuzzedAsAnyOther draws scenarios of all kinds of faults, which play without an error.
func TestItIsFuzzedAsAnyOther(t *testing.T) {
	lock := leased.Lock()
	model := search.Wide(&lock, search.Kinds())
	var r harness.Runner
	defer r.Close()
	violated := 0
	for n := range uint64(100) {
		search.Play(&r, search.Generate(search.Seeded(n), model), play, func(_ scenarios.Case, result *harness.Result, err error) bool {
			require.NoError(t, err)
			if result.Report.Verdicts[checker.MutualExclusion] == checker.Violated {
				violated++
			}
			return true
		})
	}
	require.Positive(t, violated)
}
