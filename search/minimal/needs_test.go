package minimal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search/minimal"
)

// itsBoundariesAreTrue plays both sides of every boundary, by the counterexample's file, and returns how many there are.
func itsBoundariesAreTrue(t *testing.T, r *harness.Runner, c *minimal.Counterexample) int {
	t.Helper()
	for _, need := range c.Needs {
		sentence := need.Sentence("it holds")
		require.Contains(t, string(minimal.File(c)), "\n# "+sentence+"\n")
		for size, violated := range need.Tried(int64(c.Scenario.Lock.TTL)) {
			s, err := scenarios.Parse("need.yaml", minimal.File(c))
			require.NoError(t, err)
			if size == 0 {
				continue // not a size that a fault may have
			}
			require.True(t, need.Turn(s, size))
			plan, err := harness.Compile(s.Cases()[0], nil)
			require.NoError(t, err)
			result, err := r.Run(plan, s.Seed, false)
			require.NoError(t, err)
			found := result.Report.Verdicts[c.Property]
			require.Equal(t, violated, found == checker.Violated, "%s But with %d it is %s:\n%s", sentence, size, found,
				minimal.File(c))
		}
	}
	return len(c.Needs)
}
