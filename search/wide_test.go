package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
)

func TestAWideMenuSuitsEveryLock(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for _, lock := range locks.Catalogue() {
		menu := search.Wide(&lock, search.Kinds())
		for n := range uint64(20) {
			search.Play(&r, search.Generate(search.Seeded(n), menu), nil,
				func(c scenarios.Case, _ *harness.Result, err error) bool {
					require.NoError(t, err, "%s", c.Scenario.YAML())
					return true
				})
		}
	}
}

func TestFaultsAreAddedToABase(t *testing.T) {
	base, err := scenarios.Load("fencing-33-34")
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	added, violated := 0, false
	for n := range uint64(50) {
		s := search.Generate(search.Seeded(n), search.Menu{Base: base, Faults: search.Kinds()})
		require.Equal(t, base.Clients, s.Clients)
		require.Equal(t, base.Servers, s.Servers)
		require.Equal(t, base.Resource, s.Resource)
		require.Equal(t, base.Faults, s.Faults[:len(base.Faults)])
		added += len(s.Faults) - len(base.Faults)
		read, err := scenarios.Parse("added.yaml", s.YAML())
		require.NoError(t, err, "%s", s.YAML())
		require.Equal(t, string(s.YAML()), string(read.YAML()))
		search.Play(&r, s, nil, func(_ scenarios.Case, result *harness.Result, err error) bool {
			require.NoError(t, err)
			violated = violated || result.Report.Verdicts[checker.Resource] == checker.Violated
			return true
		})
	}
	require.Positive(t, added)
	require.True(t, violated)
}
