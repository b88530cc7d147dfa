package minimal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
)

func TestTheBoundaryOfAStoryAsItIs(t *testing.T) {
	s, err := scenarios.Load("fencing-33-34")
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	v := search.Violation{Case: s.Cases()[0], Seed: s.Seed, Property: checker.Resource, Kind: "lost update"}
	needs := minimal.Boundary(&r, v, minimal.Options{Runs: 400})
	require.Len(t, needs, 1)
	require.Equal(t, "pause of a", needs[0].What)
	require.Empty(t, needs[0].Most, "that the run ends is no boundary")
	for size, violated := range needs[0].Tried(int64(s.Lock.TTL)) {
		tried, err := scenarios.Load(s.Name)
		require.NoError(t, err)
		if size == 0 {
			continue
		}
		tried.Until = tried.End() + time.Duration(size)
		require.True(t, needs[0].Turn(tried, size))
		plan, err := harness.Compile(tried.Cases()[0], harness.Options{})
		require.NoError(t, err)
		result, err := r.Run(plan, s.Seed, false)
		require.NoError(t, err)
		require.Equal(t, violated, result.Report.Verdicts[checker.Resource] == checker.Violated, "%d", size)
	}
	require.Empty(t, minimal.Boundary(&r, v, minimal.Options{Runs: 20}), "too few runs to say anything for certain")
	v.Property = checker.Progress
	require.Empty(t, minimal.Boundary(&r, v, minimal.Options{}), "it is not violated")
}

// TestTheEndOfTheRunIsNoBoundary has a violation that an earlier end of the run hides, with and without a fault: how late the run
// must end says nothing of the lock. A boundary of something else is told beside it.
func TestTheEndOfTheRunIsNoBoundary(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for text, told := range map[string]string{
		"clients: {a: {work: 95s}, b: {start: 1s, work: 1s}}\n": "work of a",
		"clients: {a: {work: 2s}, b: {start: 1s, work: 1s}}\n" +
			"faults: [{after: {node: a, does: acquired}, pause: a, for: 95s}]\n": "pause of a",
	} {
		s, err := scenarios.Parse("until.yaml", []byte("name: until\ntitle: A violation\nlock: {algorithm: set-nx-lua, ttl: 90s}\n"+
			"network: {latency: 1ms}\nuntil: 120s\n"+text))
		require.NoError(t, err)
		v := search.Violation{Case: s.Cases()[0], Seed: s.Seed, Property: checker.MutualExclusion, Kind: "double holder"}
		c, err := minimal.Reduce(&r, v, minimal.Options{})
		require.NoError(t, err)
		for _, needs := range [][]minimal.Need{minimal.Boundary(&r, v, minimal.Options{}), c.Needs} {
			require.Len(t, needs, 1)
			require.Equal(t, told, needs[0].What)
		}
	}
}
