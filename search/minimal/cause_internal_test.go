package minimal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/scenarios"
)

// Those who ask at the same moments, and wait for the same time, meet again. Of servers that are down nobody has a vote.
func TestVotesThatAreSplitAreACause(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	causes := func(name string, p checker.Property) []string {
		s, err := scenarios.Load(name)
		require.NoError(t, err)
		red, err := newReducer(&r, violationOf(t, &r, s, p, ""), Options{Context: t.Context()})
		require.NoError(t, err)
		return newCast(red.now, red.seen).causes()
	}
	require.Equal(t, []string{splitVotes}, causes("redlock-split-vote", checker.Progress))
	require.Equal(t, []string{outOfReach}, causes("redlock-majority-down", checker.Availability))
}
