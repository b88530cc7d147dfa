package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// playStory holds a story to what it expects, in all of its cases and with some seeds. Its text has no head: its name
// is the test's. What it does not mention is not what it is about.
func playStory(t *testing.T, text string) {
	t.Helper()
	const head = "name: story\ntitle: A story\nstory: See the name of the test.\n"
	s, err := scenarios.Parse("story.yaml", []byte(head+text))
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	for _, c := range s.Cases() {
		p, err := harness.Compile(c, harness.Options{})
		require.NoError(t, err)
		for seed := range uint64(30) {
			result, err := r.Run(p, seed, false)
			require.NoError(t, err)
			about := *c.Scenario
			about.Expect = c.Waiving(&result.Report)
			c.Scenario = &about
			require.Empty(t, c.Compare(result.History, &result.Report), "%v, seed %d", c, seed)
		}
	}
}

// playOnce plays the first case of a scenario with one seed.
func playOnce(t *testing.T, text string) harness.Result {
	t.Helper()
	s, err := scenarios.Parse("x.yaml", []byte(text))
	require.NoError(t, err)
	return playFirst(t, s)
}

func playFirst(t *testing.T, s *scenarios.Scenario) harness.Result {
	t.Helper()
	return playKeeping(t, s, false)
}

// playKeeping plays the first case of a scenario, and keeps its trace or not.
func playKeeping(t *testing.T, s *scenarios.Scenario, keep bool) harness.Result {
	t.Helper()
	p, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(p, 1, keep)
	require.NoError(t, err)
	return result
}
