package profile

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

// laws are one of each, with probabilities in the body and in the tail.
func laws(t *testing.T) map[string]Law {
	points := []Point{{.5, ms}, {.01, 20 * ms}, {.001, 300 * ms}}
	quantiles := func(ending Ending, points []Point) Law {
		l, err := Quantiles(points, ending)
		require.NoError(t, err)
		return l
	}
	return map[string]Law{
		"pareto": Pareto(10*ms, 1.5), "lognormal": Lognormal(10*ms, 1.2), "exponential": Exponential(20 * ms),
		"weibull": Weibull(20*ms, .5), "uniform": Uniform(ms, time.Second),
		"quantiles-pareto": quantiles(EndsPareto, points), "quantiles-exponential": quantiles(EndsExponential, points),
		"quantiles-none": quantiles(EndsThere, append(points, Point{0, 2 * time.Second})),
		"quantiles-min":  quantiles(EndsPareto, append([]Point{{1, 100 * time.Microsecond}}, points...)),
	}
}

// TestTailAndAboveAreInverse holds for all probabilities, down to those that 1-p cannot tell from 1.
func TestTailAndAboveAreInverse(t *testing.T) {
	for name, l := range laws(t) {
		last := time.Duration(0)
		for _, p := range []float64{.999, .9, .5, .2, .1, .05, .01, 3e-3, 1e-3, 1e-6, 1e-9, 1e-12, 1e-18} {
			d := l.Above(p)
			require.GreaterOrEqual(t, d, last, "%s at %g", name, p)
			last = d
			if d == math.MaxInt64 { // 292 years
				break
			}
			if got := l.Tail(d); name != "quantiles-none" && name != "uniform" || p > 1e-4 {
				require.InEpsilon(t, p, got, 1e-4, "%s at %g: %v", name, p, d)
				require.LessOrEqual(t, got, p*(1+1e-9), "%s at %g", name, p)
			}
		}
		for _, p := range []float64{.01, .1, .5, .9, .99, .999} {
			require.InDelta(t, float64(l.Above(1-p)), float64(l.Quantile(p)), 1, name)
		}
		require.InDelta(t, 1, l.Tail(-1), 0, name)
		require.NotPanics(t, func() { l.Tail(math.MaxInt64); l.Above(0); l.Above(1); l.Above(math.NaN()) }, name)
	}
}

// TestLawsHaveTheirClosedForms compares with values from tables.
func TestLawsHaveTheirClosedForms(t *testing.T) {
	require.InEpsilon(t, math.Pow(10, -1.5), Pareto(10*ms, 1.5).Tail(100*ms), 1e-12)
	require.InEpsilon(t, math.Exp(-2), Exponential(20*ms).Tail(40*ms), 1e-12)
	require.InEpsilon(t, math.Exp(-2), Weibull(20*ms, .5).Tail(80*ms), 1e-12)
	require.InEpsilon(t, .022750131948179207, Lognormal(10*ms, 1).Tail(time.Duration(1e7*math.Exp(2))), 1e-6)
	require.InEpsilon(t, 6.397, math.Log(float64(Lognormal(10*ms, 1).Above(7.92e-11))/1e7), 1e-3) // the normal law's quantile
	require.Zero(t, Constant(ms).Tail(ms))
	require.InDelta(t, 1, Constant(ms).Tail(ms-1), 0)
	require.Equal(t, ms, Constant(ms).Quantile(.5))
}

func TestTablesGoOnAsTheyAreTold(t *testing.T) {
	l := laws(t)
	require.InEpsilon(t, 300*math.Pow(10, math.Log(15)/math.Log(10)), float64(l["quantiles-pareto"].Above(1e-4)/ms), 1e-2)
	require.InEpsilon(t, 580, float64(l["quantiles-exponential"].Above(1e-4)/ms), 1e-2)
	require.Equal(t, 2*time.Second, l["quantiles-none"].Above(0))
	require.Equal(t, 20*ms, l["quantiles-none"].Quantile(.99))
	require.Equal(t, "p50 1ms, p99 20ms, p99.9 300ms; beyond 300ms Pareto with exponent 0.85, by the last two", l["quantiles-pareto"].String())
}
