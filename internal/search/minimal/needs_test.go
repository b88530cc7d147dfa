package minimal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
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
			plan, err := harness.Compile(s.Cases()[0], harness.Options{})
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

// A boundary of what is no part of what goes wrong is an artefact of the scenario, and so is one that is about as long as
// messages take.
func TestArtefactsAreNoBoundaries(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	boundaries := func(p checker.Property, text string) (what []string) {
		s, err := scenarios.Parse("need.yaml", []byte("name: need\ntitle: A violation\nlock: {algorithm: set-nx-lua-fenced, ttl: 10s}\n"+
			"network: {latency: 1ms}\n"+text))
		require.NoError(t, err)
		plan, err := harness.Compile(s.Cases()[0], harness.Options{})
		require.NoError(t, err)
		result, err := r.Run(plan, s.Seed, false)
		require.NoError(t, err)
		x := search.FirstOf(p, &result.Report)
		require.NotNil(t, x)
		v := search.Violation{Case: s.Cases()[0], Seed: s.Seed, Property: p, Kind: x.Kind}
		for _, n := range minimal.Boundary(&r, v, minimal.Options{}) {
			what = append(what, n.What)
		}
		return what
	}
	require.Contains(t, boundaries(checker.MutualExclusion, "clients: {a: {work: 12s}, b: {start: 1s, work: 1s}}\n"), "work of a")
	require.NotContains(t, boundaries(checker.MutualExclusion,
		"clients: {c: {work: 3s}, a: {start: 1s, work: 12s}, b: {start: 14s, work: 1s}}\n"), "work of c", "only a and b hold at once")
	require.NotContains(t, boundaries(checker.Resource, "clients: {a: {work: 12s}, b: {start: 11996ms, work: 10ms}}\n"+
		"resource: {fencing: fenced-write}\n"), "work of b", "its write must come a message later than the write of a")
}
