package measure

import (
	"fmt"

	"gonum.org/v1/gonum/mathext"
)

// Range is where a probability lies, from 0 to 1, with some confidence.
type Range struct{ Least, Most float64 }

// Interval returns the exact interval of Clopper and Pearson (1934) for a probability, given how often something came true
// in a number of independent runs: no smaller probability makes as many hits, and no larger one as few, with more than half of
// what the confidence leaves. The confidence is a share, as 0.95. It holds at least that often, whatever the probability.
func Interval(hits, runs int, confidence float64) Range {
	return bounds(hits, hits, runs, confidence)
}

// bounds is the interval where only the least and the largest possible number of hits are known.
func bounds(least, most, runs int, confidence float64) Range {
	if least < 0 || least > most || most > runs || confidence <= 0 || confidence >= 1 {
		panic(fmt.Sprintf("measure: no interval for %d to %d hits in %d runs with a confidence of %v", least, most, runs,
			confidence))
	}
	tail := (1 - confidence) / 2
	r := Range{0, 1}
	if least > 0 {
		r.Least = mathext.InvRegIncBeta(float64(least), float64(runs-least+1), tail)
	}
	if most < runs {
		r.Most = mathext.InvRegIncBeta(float64(most+1), float64(runs-most), 1-tail)
	}
	return r
}

// signTest returns how likely it is that a fair coin shows as uneven a result as this one or a more uneven one, on either
// side: the exact form of McNemar's test (1947), if heads and tails are pairs that differ in one direction or the other.
func signTest(heads, tails int) float64 {
	few, many := float64(min(heads, tails)), float64(max(heads, tails))
	if few == many {
		return 1
	}
	return min(1, 2*mathext.RegIncBeta(many, few+1, 0.5))
}
