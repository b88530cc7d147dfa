package harness_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// scenarioSeeds is with how many seeds a case of a named scenario is run that takes so many steps: fewer if it takes many,
// at least 20 in the long form, and ten times as many with LONG=10. Of a verdict that differs with one seed in a hundred, 20 seeds miss 82 in
// 100, and 1,000 hardly any.
func scenarioSeeds(steps int) uint64 {
	seeds := long.Pick(20, 20, 1000)
	if steps > 0 {
		seeds = min(seeds, max(long.Pick(5, 5, 20), long.Pick(50_000, 50_000, 100_000)/steps))
	}
	return uint64(seeds)
}

// TestNamedScenariosAreAsExpected runs every case of every named scenario: it is as expected, and nothing is unknown. On
// failure it says which seed, and the line that shows the run.
func TestNamedScenariosAreAsExpected(t *testing.T) {
	for _, name := range scenarios.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Load(name)
			require.NoError(t, err)
			var r harness.Runner
			defer r.Close()
			for _, c := range s.Cases() {
				checkCase(t, &r, s.Name, c)
			}
		})
	}
}

func checkCase(t *testing.T, r *harness.Runner, name string, c scenarios.Case) {
	t.Helper()
	p, err := harness.Compile(c, harness.Options{})
	require.NoError(t, err)
	seen := make(map[string]int)
	seeds := uint64(1)
	for seed := uint64(0); seed < seeds; seed++ {
		result, err := r.Run(p, seed, false)
		require.NoError(t, err)
		if seed == 0 {
			seeds = scenarioSeeds(result.Steps)
		}
		differences := c.Compare(result.History, &result.Report)
		for p := range checker.PropertyCount {
			if result.Report.Verdicts[p] == checker.Undecided {
				differences = append(differences, scenarios.Difference{
					Text: fmt.Sprintf("%s is unknown: %s", p, result.Report.Reasons[p])})
			}
		}
		for _, d := range differences {
			what, _, _ := strings.Cut(d.Text, " is ") // a measure is off by another number with every seed
			if seen[what]++; seen[what] == 1 {
				t.Errorf("%s\n  locksim run %s%s --style %v --fencing %v --seed %#x", d.Text, name,
					variantFlag(c.Variant), c.Style, c.Fencing, seed)
			}
		}
	}
	for what, n := range seen {
		t.Logf("variant %q, %v, %v: %s differs in %d of %d seeds", c.Variant, c.Style, c.Fencing, what, n, seeds)
	}
}

func variantFlag(variant string) string {
	if variant == "" {
		return ""
	}
	return " --variant " + strings.ReplaceAll(variant, " ", "-")
}
