package minimal

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

func TestWorkEndsWhenItsContextIsDone(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	s, err := scenarios.Load("fencing-33-34")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	red, err := newReducer(&r, violationOf(t, &r, s, checker.MutualExclusion, ""), Options{Context: ctx})
	require.NoError(t, err)
	cancel()
	before := red.runs
	red.reduce()
	require.Equal(t, before, red.runs)
}

// A run tells by itself that a holder went on too long, but not whether the eviction in it was needed.
func TestOnlyAStoryExplainsMore(t *testing.T) {
	require.NotContains(t, stories, failover)
	for _, told := range stories {
		require.True(t, (&form{causes: []string{told}}).isStory(), told)
		require.False(t, (&form{causes: []string{told, "eviction by server"}}).isStory(), told)
	}
}
