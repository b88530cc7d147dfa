package minimal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// hits plays drawn scenarios and yields those that violate something.
func hits(t *testing.T, r *harness.Runner, name string, runs uint64, each func(h *minimal.Hit, c scenarios.Case)) {
	t.Helper()
	lock, ok := locks.Catalogue().Find(name)
	require.True(t, ok)
	model := search.Wide(&lock, search.Kinds())
	for n := range runs {
		s := search.Generate(search.Seeded(n), model)
		search.Play(r, s, harness.Options{}, func(c scenarios.Case, result *harness.Result, err error) bool {
			require.NoError(t, err)
			h := &minimal.Hit{Result: result}
			for p := range checker.PropertyCount {
				if v := search.FirstOf(p, &result.Report); v != nil {
					h.Violations = append(h.Violations, search.Violation{Case: c, Seed: s.Seed, Property: p, Kind: v.Kind})
				}
			}
			if len(h.Violations) > 0 {
				each(h, c)
			}
			return true
		})
	}
}

// What the violations of one run share is played once, and each has the core that it would have by itself.
func TestCoresDoNotDependOnEachOther(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	several, with := 0, 0
	hits(t, &r, "set-nx-ex-del", 150, func(h *minimal.Hit, _ scenarios.Case) {
		cores := h.Cores(&r)
		for i, v := range h.Violations {
			alone := &minimal.Hit{Violations: []search.Violation{v}, Result: h.Result}
			require.Equal(t, cores[i:i+1], alone.Cores(&r))
			if cores[i] != "" {
				with++
			}
		}
		if len(cores) > 1 {
			several++
		}
	})
	require.Greater(t, several, 5)
	require.Greater(t, with, 5)
}

// A violation has a core where it takes some of the faults that were drawn, and none where it takes only what was given.
func TestWhatTakesNoFaultHasNoCore(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	given := 0
	hits(t, &r, "set-nx-lua", 150, func(h *minimal.Hit, c scenarios.Case) {
		for i, core := range h.Cores(&r) {
			if core == "" {
				continue
			}
			v := h.Violations[i]
			all := minimal.Hit{
				Violations: []search.Violation{v}, Result: h.Result, Faults: len(c.Scenario.Faults), Clocks: len(c.Scenario.Clocks),
			}
			require.Equal(t, []string{""}, all.Cores(&r))
			require.NotEmpty(t, minimal.Core(&r, v))
			given++
		}
	})
	require.Greater(t, given, 5)
}
