package profile

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// fitted is the law of a sample: up to the threshold it is the sample's own, with what is between two values spread evenly, and
// above it a generalized Pareto law.
type fitted struct {
	from      string // what the sample is
	n         int64
	body      []point // ascending lengths and the probabilities to exceed them; the last is the threshold
	counts    []int64 // how many values are at, or below down to the last, each point of the body
	exceeding int64   // how many values are above the threshold
	bursts    float64 // how many independent values one of them stands for
	tailed    tail
	posterior *posterior
}

// Refits returns laws that fit a sample as well as l does, whose differences are what the sample does not know: of its body, of
// how often the threshold is exceeded, and of the tail. Nil if the law was stated. The same seed gives the same laws.
//
// They are draws from a posterior: the share of each part under a Dirichlet prior that adds a half value to each side of the
// threshold and nothing to the parts of the body (the Bayesian bootstrap), and the tail under the prior of the fit. Values that come
// in bursts count for as many as there are bursts.
func Refits(l Law, n int, seed uint64) []Law {
	wrapped, _ := l.(law)
	f, ok := wrapped.shape.(*fitted)
	if !ok {
		return nil
	}
	random := stream(seed, f.from)
	refits := make([]Law, n)
	for i := range refits {
		refit := *f
		weights := make([]float64, len(f.counts))
		below := 0.
		for c, count := range f.counts {
			weights[c] = gamma(random, float64(count)*f.bursts)
			below += weights[c]
		}
		over := gamma(random, float64(f.exceeding)*f.bursts+.5)
		refit.body = slices.Clone(f.body)
		left := below
		for c := range weights {
			left -= weights[c]
			refit.body[c].tail = (max(left, 0) + over) / (below + over)
		}
		refit.tailed = f.posterior.draw(random)
		refits[i] = law{shape: &refit, drift: wrapped.drift}
	}
	return refits
}

// minSample is how many values a fit needs, minAbove how many of them above the threshold.
const (
	minSample = 50
	minAbove  = 10
	minDiffer = 5 // different ones above the threshold: what is rounded more coarsely than that has no shape
)

// fit makes a law of a sample. Without a threshold n^(2/3)/log(log(n)) values are above it (Loretan and Phillips, Journal of
// Empirical Finance 1, 1994), but at least 10.
func fit(s *sample, from string, threshold *time.Duration) (Law, error) {
	if s.n < minSample {
		return nil, fmt.Errorf("%s; want at least %d for a fit; or quantiles with a tail that you state", counted(s.n, "value"), minSample)
	}
	atoms := s.atoms()
	cut := len(atoms) // the first that is above the threshold
	f := &fitted{from: from, n: s.n}
	n := float64(s.n)
	wanted := max(minAbove, int64(math.Round(math.Pow(n, 2./3)/math.Log(math.Log(n)))))
	for cut > 1 {
		next := atoms[cut-1] // equal values are on the same side
		if threshold != nil && next.x <= float64(*threshold) ||
			threshold == nil && f.exceeding >= minAbove && f.exceeding+next.count > wanted {
			break
		}
		cut--
		f.exceeding += next.count
	}
	if f.exceeding < minAbove {
		return nil, fmt.Errorf("%s above the threshold; want at least %d", counted(f.exceeding, "value"), minAbove)
	}
	if differ := int64(len(atoms) - cut); differ < minDiffer {
		return nil, fmt.Errorf("the %d largest values are only %s; want a finer measurement; or quantiles with a tail that you state",
			f.exceeding, counted(differ, "different one"))
	}
	f.take(atoms[:cut])
	var excesses []atom
	for _, a := range atoms[cut:] {
		excesses = append(excesses, atom{x: a.x - f.threshold(), count: a.count})
	}
	f.bursts = s.bursts(f.threshold())
	f.posterior = fitTail(excesses, f.bursts)
	f.tailed = f.posterior.mean
	return law{shape: f}, nil
}

// counted is a number with its noun.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// maxBody is how many points the body has at most: what is between them is less than half a percent of the values.
const maxBody = 256

// take makes the body of the values up to the threshold: of all of them, or of some whose distances in probability are alike.
func (f *fitted) take(atoms []atom) {
	left, count, size := f.n, int64(0), (f.n-f.exceeding)/maxBody
	for i, a := range atoms {
		left -= a.count
		if count += a.count; i > 0 && i < len(atoms)-1 && count <= size {
			continue
		}
		f.body = append(f.body, point{float64(left) / float64(f.n), a.x})
		f.counts = append(f.counts, count)
		count = 0
	}
}

func (f *fitted) threshold() float64 { return f.body[len(f.body)-1].x }

func (f *fitted) tail(x float64) float64 {
	last := f.body[len(f.body)-1]
	switch {
	case x >= last.x:
		return last.tail * f.tailed.over(x-last.x)
	case x < f.body[0].x:
		return 1
	}
	i := sort.Search(len(f.body), func(i int) bool { return f.body[i].x > x })
	a, b := f.body[i-1], f.body[i]
	return a.tail - (a.tail-b.tail)*(x-a.x)/(b.x-a.x)
}

func (f *fitted) above(p float64) float64 {
	last := f.body[len(f.body)-1]
	switch {
	case p <= last.tail:
		return last.x + f.tailed.excess(p/last.tail)
	case p >= f.body[0].tail:
		return f.body[0].x
	}
	i := sort.Search(len(f.body), func(i int) bool { return f.body[i].tail <= p })
	a, b := f.body[i-1], f.body[i]
	return a.x + (a.tail-p)/(a.tail-b.tail)*(b.x-a.x)
}

func (f *fitted) text(brief printer) string {
	exceed := fmt.Sprintf("which %d exceed", f.exceeding)
	if f.bursts < .9 {
		exceed += fmt.Sprintf(" in about %.0f bursts", math.Ceil(f.bursts*float64(f.exceeding)))
	}
	return fmt.Sprintf("%s from %s; above %s, %s, generalized Pareto with shape %.2g and scale %s, fitted",
		counted(f.n, "value"), f.from, brief(f.threshold()), exceed, f.tailed.shape, brief(f.tailed.scale))
}
