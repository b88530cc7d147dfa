package peers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// simulation is the work as locksim plays it: on servers with faults to come, observed, and judged by the checker.
type simulation struct {
	plan   *harness.Plan
	runner harness.Runner
}

func simulate(t testing.TB, w work) *simulation {
	s, err := scenarios.Parse("peers.yaml", []byte(w.scenario()))
	require.NoError(t, err)
	plan, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	return &simulation{plan: plan}
}

// run plays the work with a seed and looks for what the hand-written test looks for.
func (s *simulation) run(t testing.TB, seed uint64) (o outcome) {
	result, err := s.runner.Run(s.plan, seed, false)
	require.NoError(t, err)
	for _, m := range result.Report.Measures {
		switch m.Name {
		case "acquisitions":
			o.grants = m.Value
		case "double-holders":
			o.doubles = m.Value
		}
	}
	require.NotEqual(t, checker.Violated, result.Report.Verdicts[checker.MutualExclusion])
	return o
}
