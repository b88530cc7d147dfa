package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// drawn generates scenarios of all kinds of faults that the menu's servers know, and plays them.
func drawn(t *testing.T, menu search.Menu, each func(*scenarios.Scenario)) {
	t.Helper()
	var r harness.Runner
	defer r.Close()
	for n := range uint64(200) {
		s := search.Generate(search.Seeded(n), menu)
		read, err := scenarios.Parse("drawn.yaml", s.YAML())
		require.NoError(t, err, "%s", s.YAML())
		require.Equal(t, s.Faults, read.Faults)
		search.Play(&r, s, harness.Options{}, func(_ scenarios.Case, _ *harness.Result, err error) bool {
			require.NoError(t, err)
			return true
		})
		each(s)
	}
}

// TestBlindStrategiesHangNothingOnSteps: what has a moment of its own is at any time, what happens to a message is at the n-th
// of a client, whatever it says.
func TestBlindStrategiesHangNothingOnSteps(t *testing.T) {
	for _, strategy := range []search.Strategy{search.Swarm, search.Uniform} {
		for _, menu := range []search.Menu{
			{Lock: "set-nx-lua", Replicas: []int{0, 2}, Persistence: []string{"rdb"}}, {Lock: "zk-sequential"},
			{Lock: "pg-advisory"}, {Lock: "redlock", Masters: []int{3}},
		} {
			menu.Strategy, menu.Faults, menu.Drift, menu.Most = strategy, search.Kinds(), 1_000, 6
			menu.Storage = []search.Kind{search.Delay, search.Break, search.Error}
			moments, messages := 0, 0
			drawn(t, menu, func(s *scenarios.Scenario) {
				for _, f := range s.Faults {
					if f.Trigger.When == sim.At {
						moments++
						continue
					}
					messages++
					require.Contains(t, []sim.ActionKind{sim.Delay, sim.Break, sim.Error}, f.Action.Kind)
					require.Empty(t, f.Trigger.Step.What)
					require.Equal(t, sim.Before, f.Trigger.When)
				}
			})
			require.Positive(t, moments)
			require.Positive(t, messages)
		}
	}
}

// TestUniformScenariosMayHaveAnyKind, where those of a swarm have only those of their own draw.
func TestUniformScenariosMayHaveAnyKind(t *testing.T) {
	kinds := []search.Kind{search.ClientPause, search.ServerCrash, search.Cut, search.ServerAhead}
	crowded := func(strategy search.Strategy) (scenariosOfAll int) {
		menu := search.Menu{Lock: "set-nx-lua", Faults: kinds, Most: 24, Strategy: strategy}
		drawn(t, menu, func(s *scenarios.Scenario) {
			has := map[sim.ActionKind]bool{}
			for _, f := range s.Faults {
				has[f.Action.Kind] = true
			}
			if len(s.Faults) >= 12 && len(has) == len(kinds) {
				scenariosOfAll++
			}
		})
		return scenariosOfAll
	}
	require.Greater(t, crowded(search.Uniform), 4*crowded(search.Swarm))
}

func TestStrategiesHaveNames(t *testing.T) {
	require.Equal(t, "step-keyed", search.Menu{}.Strategy.String())
	require.Equal(t, "swarm", search.Swarm.String())
	require.Equal(t, "uniform", search.Uniform.String())
}
