package measure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIntervalsAreThosePublished compares with Newcombe, Two-sided confidence intervals for the single proportion (1998),
// table I, method 5, and with what follows by hand where nothing or everything was hit.
func TestIntervalsAreThosePublished(t *testing.T) {
	for _, x := range []struct {
		hits, runs  int
		confidence  float64
		least, most float64
		by          float64
	}{
		{81, 263, 0.95, 0.2527, 0.3676, 5e-5},
		{15, 148, 0.95, 0.0578, 0.1617, 5e-5},
		{0, 20, 0.95, 0, 0.1684, 5e-5},
		{1, 29, 0.95, 0.0009, 0.1776, 5e-5},
		{29, 29, 0.95, 0.8806, 1, 5e-5},
		{0, 0, 0.95, 0, 1, 0},
		{0, 1, 0.95, 0, 0.975, 1e-12},
		{1, 1, 0.99, 0.005, 1, 1e-12},
		{0, 1_000_000, 0.95, 0, 1 - math.Pow(0.025, 1e-6), 1e-15},
		{1_000_000, 1_000_000, 0.99, math.Pow(0.005, 1e-6), 1, 1e-12},
	} {
		r := Interval(x.hits, x.runs, x.confidence)
		require.InDelta(t, x.least, r.Least, x.by, "%d of %d", x.hits, x.runs)
		require.InDelta(t, x.most, r.Most, x.by, "%d of %d", x.hits, x.runs)
	}
}

// probability is how likely exactly that many hits are.
func probability(hits, runs int, p float64) float64 {
	if p == 0 || p == 1 {
		if (hits == runs) == (p == 1) && (hits == 0 || hits == runs) {
			return 1
		}
		return 0
	}
	all, _ := math.Lgamma(float64(runs + 1))
	some, _ := math.Lgamma(float64(hits + 1))
	rest, _ := math.Lgamma(float64(runs - hits + 1))
	return math.Exp(all - some - rest + float64(hits)*math.Log(p) + float64(runs-hits)*math.Log1p(-p))
}

func TestAnIntervalHoldsAtLeastAsOftenAsItSays(t *testing.T) {
	t.Parallel()
	for _, confidence := range []float64{0.95, 0.99} {
		for _, runs := range []int{1, 2, 7, 40, 300} {
			least := 1.0
			for step := range 401 {
				p, holds := float64(step)/400, 0.0
				for hits := range runs + 1 {
					if r := Interval(hits, runs, confidence); r.Least <= p && p <= r.Most {
						holds += probability(hits, runs, p)
					}
				}
				least = min(least, holds)
				require.GreaterOrEqual(t, holds, confidence-1e-9, "%d runs, probability %v", runs, p)
			}
			require.Less(t, least, 1.0, "an interval that is everything would hold, too")
		}
	}
}

// TestAnIntervalEndsWhereTheTailsDo sums up the tails that the ends are defined by.
func TestAnIntervalEndsWhereTheTailsDo(t *testing.T) {
	for _, runs := range []int{3, 50, 2_000} {
		for _, hits := range []int{1, runs / 3, runs / 2, runs - 1} {
			hits = max(hits, 1)
			r := Interval(hits, runs, 0.95)
			above, below := 0.0, 0.0
			for k := range runs + 1 {
				if k >= hits {
					above += probability(k, runs, r.Least)
				}
				if k <= hits {
					below += probability(k, runs, r.Most)
				}
			}
			require.InDelta(t, 0.025, above, 1e-9, "%d of %d", hits, runs)
			require.InDelta(t, 0.025, below, 1e-9, "%d of %d", hits, runs)
		}
	}
}

func TestIntervalsOfWhatIsUndecidedHoldEitherWay(t *testing.T) {
	c := Counts{Runs: 100, Violated: 10, Undecided: 5}
	r := c.Interval(0.95)
	require.InDelta(t, Interval(10, 100, 0.95).Least, r.Least, 1e-12)
	require.InDelta(t, Interval(15, 100, 0.95).Most, r.Most, 1e-12)
}

func TestTheSignTestIsThatOfAFairCoin(t *testing.T) {
	for _, x := range []struct {
		heads, tails int
		p            float64
	}{
		{0, 0, 1}, {5, 5, 1}, {0, 1, 1}, {0, 6, 2.0 / 64}, {9, 1, 22.0 / 1024}, {3, 12, 1152.0 / 32768}, {6, 5, 1},
	} {
		require.InDelta(t, x.p, signTest(x.heads, x.tails), 1e-12, "%d and %d", x.heads, x.tails)
	}
	require.Less(t, signTest(0, 1_000), 1e-290)
}
