package odds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// stratum says to how many of its nodes each hazard happens during the acquisition, at least once to each. Of a hazard of one node it
// says how often: not at all, once, or (repeated) more often.
type stratum []int

const repeated = 2

// calm reports whether no hazard happens.
func (s stratum) calm() bool {
	return !slices.ContainsFunc(s, func(n int) bool { return n > 0 })
}

// window is the time in which something may happen to an acquisition.
type window struct {
	running time.Duration // of its code, from Lock to Unlock
	whole   time.Duration // for what happens to others: longer where the holder may be paused
}

// windowOf is the window of a stratum, if the acquisition takes so long when nothing happens. What pauses the holder makes it
// last longer; what happens to servers later than a lease after that changes nothing that a lease protects.
func (e *estimator) windowOf(s stratum, takes time.Duration) window {
	w := window{running: takes, whole: takes}
	for i, n := range s {
		if n > 0 && e.model.Hazards[i].Running {
			w.whole = takes + e.lease
		}
	}
	return w
}

// of is the part of a window that counts for a hazard.
func (w window) of(h *Hazard) time.Duration {
	if h.Running {
		return w.running
	}
	return w.whole
}

// probability is how likely a stratum is, if the acquisition takes so long when nothing happens.
func (e *estimator) probability(s stratum, takes time.Duration) float64 {
	p, w := 1.0, e.windowOf(s, takes)
	for i, n := range s {
		h := &e.model.Hazards[i]
		p *= h.probability(n, w.of(h))
	}
	return p
}

// most is the largest number of a stratum.
func (h *Hazard) most() int {
	switch {
	case h.Together:
		return h.Of
	case len(h.Nodes) == 1:
		return repeated
	}
	return len(h.Nodes)
}

// probability is how likely it is that a hazard happens to exactly n of its nodes within a time.
func (h *Hazard) probability(n int, within time.Duration) float64 {
	mean := h.Rate * within.Seconds()
	switch {
	case h.Together:
	case len(h.Nodes) == 1 && n == repeated:
		return max(0, more(mean))
	case len(h.Nodes) == 1:
		return poisson(n, mean)
	default:
		return binomial(n, len(h.Nodes), some(mean))
	}
	// One does not begin before the last one is over, so that the probability that one is under way is the share of time.
	once := h.Rate * h.hits(n, within)
	if n == 0 {
		once += max(0, 1-h.Rate*(h.Spread+within).Seconds())
	}
	return min(once, 1)
}

// hits is for how long, in seconds, a common cause may begin so that exactly n nodes are hit within a time: its beginning decides
// how much of its spread lies within.
func (h *Hazard) hits(n int, within time.Duration) float64 {
	spread, inner := h.Spread.Seconds(), within.Seconds()
	if spread == 0 {
		return binomial(n, h.Of, 1) * inner
	}
	most := min(1, inner/spread) // the largest share of the spread that can lie within
	// While the one slides over the other, the share rises evenly from 0 to most, stays there, and falls again. The integral of a
	// binomial probability over its parameter is a binomial tail.
	slope := 0.0
	for k := n + 1; k <= h.Of+1; k++ {
		slope += binomial(k, h.Of+1, most)
	}
	slope *= spread / float64(h.Of+1)
	return 2*slope + math.Abs(spread-inner)*binomial(n, h.Of, most)
}

// twice bounds the probability that one common cause follows another within a time, of which nothing is drawn.
func (h *Hazard) twice(within time.Duration) float64 {
	if !h.Together {
		return 0
	}
	return min(1, h.Rate*h.Rate*within.Seconds()*(h.Spread+within).Seconds())
}

// Limits of what is played.
const (
	mostStrata = 64
	negligible = 1e-18 // a stratum less likely than this is left out, and a length likelier to be exceeded is tried
)

// strata lists the likeliest strata, and returns how likely all others are together.
func (e *estimator) strata() (list []stratum, left float64) {
	all := []stratum{{}}
	for i := range e.model.Hazards {
		var longer []stratum
		for _, s := range all {
			for n := range e.model.Hazards[i].most() + 1 {
				longer = append(longer, append(slices.Clone(s), n))
			}
		}
		all = e.likeliest(longer, 4*mostStrata, i, &left)
	}
	all = e.likeliest(all, mostStrata, len(e.model.Hazards)-1, &left)
	for i := range e.model.Hazards {
		h := &e.model.Hazards[i]
		left += e.average(func(takes time.Duration) float64 { return h.twice(takes) })
	}
	return all, left
}

// likeliest keeps the likeliest of some strata, of which the hazards up to the last are told, and adds the others to what is left.
func (e *estimator) likeliest(all []stratum, most, last int, left *float64) []stratum {
	if last < 0 {
		return all
	}
	chance := make(map[string]float64)
	for _, s := range all {
		chance[fmt.Sprint(s)] = e.average(func(takes time.Duration) float64 { return e.probability(s, takes) })
	}
	slices.SortStableFunc(all, func(a, b stratum) int { return cmp.Compare(chance[fmt.Sprint(b)], chance[fmt.Sprint(a)]) })
	for i := len(all) - 1; i >= 0 && (i >= most || chance[fmt.Sprint(all[i])] < negligible); i-- {
		*left += chance[fmt.Sprint(all[i])]
		all = all[:i]
	}
	return all
}

// Text says what happens in a stratum.
func (m *Model) text(s stratum) string {
	var words []string
	for i, n := range s {
		h := &m.Hazards[i]
		switch {
		case n == 0:
		case len(h.Nodes) == 1 && n == repeated:
			words = append(words, h.Name+", twice or more")
		case len(h.Nodes) == 1:
			words = append(words, h.Name)
		default:
			words = append(words, fmt.Sprintf("%s at %d of %d", h.Name, n, len(h.Nodes)))
		}
	}
	if len(words) == 0 {
		return "nothing else happens"
	}
	return strings.Join(words, ", ")
}
