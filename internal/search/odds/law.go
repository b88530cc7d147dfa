package odds

import (
	"fmt"
	"math"
	"time"
)

// tailQuantile returns the shortest length that is exceeded with a probability of at most u, within what a scenario may name.
func tailQuantile(l Law, u float64) time.Duration { return min(l.Above(u), longest) }

// scaled is a law of lengths that are so many times as long.
type scaled struct {
	Law
	by float64
}

// Tail implements [Law].
func (s scaled) Tail(d time.Duration) float64 { return s.Law.Tail(time.Duration(float64(d) / s.by)) }

// Above implements [Law].
func (s scaled) Above(p float64) time.Duration { return time.Duration(float64(s.Law.Above(p)) * s.by) }

// Quantile implements [Law].
func (s scaled) Quantile(p float64) time.Duration {
	return time.Duration(float64(s.Law.Quantile(p)) * s.by)
}

func (s scaled) String() string { return fmt.Sprintf("%g times %v", s.by, s.Law) }

// poisson is the probability of exactly n events where mean are expected.
func poisson(n int, mean float64) float64 {
	if mean == 0 {
		if n == 0 {
			return 1
		}
		return 0
	}
	gamma, _ := math.Lgamma(float64(n + 1))
	return math.Exp(float64(n)*math.Log(mean) - mean - gamma)
}

// some is the probability of at least one.
func some(mean float64) float64 { return -math.Expm1(-mean) }

// more is the probability of at least two.
func more(mean float64) float64 {
	if mean < 1e-3 { // where the difference below would lose its digits
		return mean * mean / 2 * (1 - 2*mean/3 + mean*mean/4)
	}
	return some(mean) - mean*math.Exp(-mean)
}

// binomial is the probability that exactly k of n come true, each with the probability p.
func binomial(k, n int, p float64) float64 {
	if p <= 0 || p >= 1 {
		if p <= 0 && k == 0 || p >= 1 && k == n {
			return 1
		}
		return 0
	}
	return math.Exp(choose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// choose is the logarithm of the number of ways to choose k of n.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
