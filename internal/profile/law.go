// Package profile reads what a user knows of an own deployment: how often locks are acquired, and how often things go wrong, and
// for how long. Every length is a distribution: stated, or fitted to a file that the user measured.
//
// Nothing has a default. What the estimate of package odds needs and the profile does not say is an error that names the field.
package profile

import (
	"fmt"
	"math"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// Law is the distribution of a length of time.
type Law interface {
	// Tail is the probability that the length is larger than d.
	Tail(d time.Duration) float64
	// Above is the inverse of Tail: the shortest length that is exceeded with at most this probability. It is precise where
	// probabilities are far below those that 1-p could tell apart.
	Above(p float64) time.Duration
	// Quantile is the shortest length that is not exceeded with at least this probability: Above(1-p).
	Quantile(p float64) time.Duration
	// String says what the law is, where it comes from and what is assumed.
	String() string
}

// shape is a law in nanoseconds that need not be whole.
type shape interface {
	tail(x float64) float64
	above(p float64) float64
	text(printer) string
}

// printer prints nanoseconds, which may stand for something else.
type printer func(float64) string

// law makes a shape a Law.
type law struct {
	shape
	drift bool // of a clock: nanoseconds that it gains or loses in a second
}

func (l law) String() string {
	if l.drift {
		return l.text(ppm)
	}
	return l.text(brief)
}

// Tail implements [Law].
func (l law) Tail(d time.Duration) float64 {
	if d < 0 {
		return 1
	}
	return l.tail(float64(d))
}

// Above implements [Law].
func (l law) Above(p float64) time.Duration {
	if !(p < 1) { // not a number either
		p = 1
	}
	return duration(l.above(max(p, 0)))
}

// Quantile implements [Law].
func (l law) Quantile(p float64) time.Duration { return l.Above(1 - p) }

// duration rounds up, so that what Above returns is not exceeded more often than it says.
func duration(x float64) time.Duration {
	switch {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= 0 || math.IsNaN(x):
		return 0
	}
	return time.Duration(math.Ceil(x))
}

// Constant is the law of a length that is always the same.
func Constant(d time.Duration) Law { return law{shape: constant(d)} }

type constant float64

func (c constant) tail(x float64) float64 {
	if x < float64(c) {
		return 1
	}
	return 0
}

func (c constant) above(float64) float64 { return float64(c) }

func (c constant) text(brief printer) string { return "always " + brief(float64(c)) }

// Uniform is the law of a length that is equally likely everywhere between two bounds.
func Uniform(from, to time.Duration) Law { return law{shape: uniform{float64(from), float64(to)}} }

type uniform struct{ from, to float64 }

func (u uniform) tail(x float64) float64 {
	switch {
	case x >= u.to:
		return 0
	case x <= u.from:
		return 1
	}
	return (u.to - x) / (u.to - u.from)
}

func (u uniform) above(p float64) float64 { return u.to - p*(u.to-u.from) }

func (u uniform) text(brief printer) string {
	return "uniform from " + brief(u.from) + " to " + brief(u.to)
}

// Exponential is the exponential law with this mean.
func Exponential(mean time.Duration) Law { return law{shape: exponential(mean)} }

type exponential float64

func (e exponential) tail(x float64) float64 { return math.Exp(-x / float64(e)) }

func (e exponential) above(p float64) float64 { return -float64(e) * math.Log(p) }

func (e exponential) text(brief printer) string {
	return "exponential with a mean of " + brief(float64(e))
}

// Pareto is the law with P(X > x) = (least/x)^exponent: no length is below the least, and the smaller the exponent, the heavier
// the tail. With an exponent of 1 and below it has no mean.
func Pareto(least time.Duration, exponent float64) Law {
	return law{shape: pareto{float64(least), exponent}}
}

type pareto struct{ least, exponent float64 }

func (l pareto) tail(x float64) float64 {
	if x <= l.least {
		return 1
	}
	return math.Pow(l.least/x, l.exponent)
}

func (l pareto) above(p float64) float64 { return l.least * math.Pow(p, -1/l.exponent) }

func (l pareto) text(brief printer) string {
	return fmt.Sprintf("Pareto from %s with exponent %.3g", brief(l.least), l.exponent)
}

// Lognormal is the law of a length whose logarithm is normal, with this standard deviation.
func Lognormal(median time.Duration, sigma float64) Law {
	return law{shape: lognormal{float64(median), sigma}}
}

type lognormal struct{ median, sigma float64 }

func (l lognormal) tail(x float64) float64 {
	if x <= 0 {
		return 1
	}
	return math.Erfc(math.Log(x/l.median)/(l.sigma*math.Sqrt2)) / 2
}

func (l lognormal) above(p float64) float64 {
	return l.median * math.Exp(l.sigma*math.Sqrt2*erfcInverse(2*p))
}

func (l lognormal) text(brief printer) string {
	return fmt.Sprintf("lognormal with a median of %s and sigma %.3g", brief(l.median), l.sigma)
}

// erfcInverse bisects where math.Erfcinv, which is math.Erfinv(1-y), has lost what is small.
func erfcInverse(y float64) float64 {
	switch {
	case y <= 0:
		return math.Inf(1)
	case y > 1e-6:
		return math.Erfcinv(y)
	}
	low, high := 3.0, 27.5 // Erfc is 2e-5 and 0 there
	for range 60 {
		middle := (low + high) / 2
		if math.Erfc(middle) > y {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// Weibull is the law with P(X > x) = exp(-(x/scale)^shape). Shapes below 1 have tails that are heavier than exponential ones.
func Weibull(scale time.Duration, shape float64) Law {
	return law{shape: weibull{float64(scale), shape}}
}

type weibull struct{ scale, shape float64 }

func (w weibull) tail(x float64) float64 { return math.Exp(-math.Pow(x/w.scale, w.shape)) }

func (w weibull) above(p float64) float64 { return w.scale * math.Pow(-math.Log(p), 1/w.shape) }

func (w weibull) text(brief printer) string {
	return fmt.Sprintf("Weibull with scale %s and shape %.3g", brief(w.scale), w.shape)
}

// ppm prints a drift.
func ppm(x float64) string { return fmt.Sprintf("%.3gppm", x/1e3) }

// brief prints nanoseconds with three digits.
func brief(x float64) string {
	if x >= math.MaxInt64 {
		return "forever"
	}
	if x > 0 {
		digit := math.Pow(10, math.Floor(math.Log10(x))-2)
		x = math.Round(x/digit) * digit
	}
	return scenarios.Brief(time.Duration(math.Round(x)))
}
