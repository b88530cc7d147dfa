package claims_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
	"github.com/locksim/locksim/locks"
)

// mutant is a copy of a lock with a planted mistake, and the same copy without it. Both stand in the place of a lock of
// the catalogue.
type mutant struct {
	mistake      string
	property     checker.Property
	model        search.FaultModel // its lock is the one in whose place they stand
	wrong, right func(locks.Options) locks.Builder
}

// A mistake must be found within this many runs in each of several series; its twin is played for as many as there are in
// all series together, but no fewer than rightRuns.
const (
	mutantRuns = 2_000
	rightRuns  = 200
)

func TestPlantedMistakesAreFoundAndTheirTwinsAreNot(t *testing.T) {
	for i, m := range slices.Concat(leaseMutants(), redlockMutants(), queueMutants()) {
		if i%long.Every(2, 1) != 0 {
			continue
		}
		t.Run(m.model.Lock+"/"+m.mistake, func(t *testing.T) {
			t.Parallel()
			claim := claims.Claim{Name: "mutant", Property: m.property, Model: m.model}
			var runner harness.Runner
			defer runner.Close()
			series := long.Pick(1, 1, 9)
			found := make([]int, 0, series)
			for n := range series {
				runs := runsUntilFound(&runner, &claim, m.standIn(m.wrong), uint64(n)*mutantRuns)
				require.NotZero(t, runs, "not found in %d runs", mutantRuns)
				found = append(found, runs)
			}
			slices.Sort(found)
			t.Logf("found in run %d (median of %d series, from %d to %d)", found[series/2], series, found[0],
				found[series-1])
			m.acquit(t, &runner, &claim)
		})
	}
}

// standIn returns the catalogue's lock with another builder.
func (m *mutant) standIn(build func(locks.Options) locks.Builder) harness.Options {
	a, ok := locks.Catalogue().Find(m.model.Lock)
	if !ok {
		panic(fmt.Sprintf("there is no lock %s", m.model.Lock))
	}
	a.New = build
	return harness.Options{Locks: locks.Catalogue().With(a)}
}

// runsUntilFound returns in which run the claim is violated; 0 if it is in none.
func runsUntilFound(r *harness.Runner, c *claims.Claim, o harness.Options, from uint64) int {
	for n := range uint64(mutantRuns) {
		if trial := c.Try(r, search.Seeded(from+n), o); trial.Verdict == checker.Violated {
			return int(n) + 1
		}
	}
	return 0
}

// acquit plays the twin without the mistake.
func (m *mutant) acquit(t *testing.T, r *harness.Runner, c *claims.Claim) {
	t.Helper()
	twin, dangers := m.standIn(m.right), 0
	for n := range uint64(rightRuns) {
		trial := c.Try(r, search.Seeded(n), twin)
		require.NotEqual(t, checker.Violated, trial.Verdict, "the twin is accused: %s\n%s", trial.Text,
			trial.Scenario.YAML())
		if trial.InDanger {
			dangers++
		}
	}
	require.Positive(t, dangers, "the twin was never in danger")
}
