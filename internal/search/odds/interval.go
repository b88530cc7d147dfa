package odds

import (
	"math"

	"github.com/locksim/locksim/internal/search/measure"
)

// Odds is how likely something is.
type Odds struct {
	Estimate float64
	measure.Range
}

// interval is where the mean of what the samples of a part say lies. It is nil-wide if none of them violated: what that means is
// told apart.
func (x *part) interval(i int, confidence float64) Odds {
	mean, spread := x.moments(i)
	o := Odds{Estimate: mean, Range: measure.Range{Least: mean, Most: mean}}
	n, hits, checked, missed := len(x.samples), 0, 0, 0
	least, most := math.Inf(1), 0.0
	for k := range x.samples {
		s := &x.samples[k]
		if v := s.values[i]; v > 0 {
			hits++
			least, most = min(least, v), max(most, v)
		}
		if s.checked[i] {
			checked++
		}
		if s.missed[i] {
			missed++
		}
	}
	if hits == 0 {
		return o
	}
	exact := measure.Interval(hits, n, confidence)
	by := student(confidence, max(1, n/together-1)) * spread / math.Sqrt(float64(n))
	switch {
	case most <= least*(1+1e-6): // each hit says the same
		o.Least, o.Most = exact.Least*most, exact.Most*most
	case hits < fewHits: // too few for a normal distribution of their mean
		o.Least, o.Most = min(exact.Least*least, mean), exact.Most*most
	default:
		o.Least, o.Most = mean-by, mean+by
	}
	if checked > 0 && missed == 0 { // longer lengths than the shortest that violates might not, in so few cases that none was tried
		o.Least -= mean * measure.Interval(0, checked, confidence).Most
	}
	o.Least = max(o.Least, 0)
	return o
}

// fewHits is how many values a mean needs to be taken for normally distributed.
const fewHits = 30

// normal is how many standard deviations from its mean a normal distribution keeps within, with some confidence.
func normal(confidence float64) float64 { return math.Sqrt2 * math.Erfinv(confidence) }

// student is the same for a mean whose deviation is only estimated, from so many degrees of freedom: the expansion of Peiser (1943) and
// Goldberg and Levine (1946), which is within a hundredth from ten on.
func student(confidence float64, freedom int) float64 {
	z, f := normal(confidence), float64(freedom)
	return z + (z*z*z+z)/(4*f) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*f*f)
}

// sum is where a sum of independent estimates lies: the method of Zou and Donner (2008, "Construction of confidence limits about effect
// measures"), which needs nothing but the interval of each, and keeps those that are not symmetric.
func sum(list []Odds) Odds {
	var o Odds
	down, up := 0.0, 0.0
	for _, x := range list {
		o.Estimate += x.Estimate
		down += (x.Estimate - x.Least) * (x.Estimate - x.Least)
		up += (x.Most - x.Estimate) * (x.Most - x.Estimate)
	}
	o.Least, o.Most = max(0, o.Estimate-math.Sqrt(down)), o.Estimate+math.Sqrt(up)
	return o
}
