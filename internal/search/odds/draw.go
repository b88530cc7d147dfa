package odds

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// event is a hazard that happens in a draw.
type event struct {
	hazard *Hazard
	node   string
	place  float64 // in the hazard's window, from 0 to 1,
	from   float64 // where it may be from here
	to     float64 // to here
	rare   float64 // how likely a longer one is
	length time.Duration
}

// within is where the event is if it is at a share of all places where it may be.
func (x *event) within(share float64) float64 { return x.from + (x.to-x.from)*share }

// draw is everything about an acquisition but the one length that decides.
type draw struct {
	seed   uint64 // of the runs
	start  time.Duration
	rare   float64       // how likely longer work is
	work   time.Duration // of the holder
	events []event
	// deciding is the event whose length decides, or byWork, or none.
	deciding int
	weight   float64 // by which a probability is multiplied: how much likelier the draw really is
	ratio    float64 // of the real density to that of the draw; over all draws its mean is 1, or the share that is drawn at all
	counts   []int   // of events, by hazard
	clocks   []scenarios.Clock
}

// What decides, if it is no event or hazard.
const (
	byWork = -1 // the length of the work
	none   = -2 // no length
)

// reach is the smallest probability of a longer length that draws aim at.
const reach = 1e-12

// rarity draws how unlikely a length is: evenly from 0 to 1, as it really is, or evenly on a logarithmic scale, so that every part of
// the tail is reached. The weight is the ratio of the real density to that of the draw, at most 2.
func rarity(r *rand.Rand) (u, weight float64) {
	if u = 1 - r.Float64(); r.Uint64()&1 == 0 {
		u = math.Exp(math.Log(reach) * (1 - u))
	}
	density := 0.5
	if u >= reach {
		density += 0.5 / (-math.Log(reach) * u)
	}
	return u, 1 / density
}

// drawn draws an acquisition of a stratum in which a length of the hazard decides (or that of the work, or none).
func (e *estimator) drawn(x *part, n int) *draw {
	r := rand.New(rand.NewPCG(e.plan.Seed, x.stream+uint64(n)))
	d := &draw{seed: r.Uint64(), weight: 1, deciding: none, work: e.work, rare: 1, counts: make([]int, len(x.stratum))}
	if e.model.Work != nil {
		d.rare, d.weight = rarity(r)
		d.work = tailQuantile(e.model.Work, d.rare)
	}
	e.arrive(d, r)
	for i := range e.model.Drifts {
		d.clocks = append(d.clocks, e.model.Drifts[i].rates(r.Float64)...)
	}
	w := e.windowOf(x.stratum, e.takes(d.work))
	var candidates []int
	for i, nodes := range x.stratum {
		h := &e.model.Hazards[i]
		for _, at := range h.happens(r, nodes, w.of(h)) {
			if h.Length != nil && h.Worse {
				u, weight := rarity(r)
				at.rare, at.length = u, tailQuantile(h.Length, u)
				if i == x.decides {
					candidates = append(candidates, len(d.events))
				}
				at.weight = weight
			} else if h.Length != nil {
				at.length = tailQuantile(h.Length, 1-r.Float64())
			}
			d.counts[i]++
			d.weight *= at.weight
			d.events = append(d.events, at.event)
		}
	}
	d.ratio = d.weight
	switch {
	case x.decides == byWork:
		d.deciding = byWork
		d.weight *= density(d.rare)
	case len(candidates) > 0: // any of them may be the rarest
		d.deciding = candidates[r.IntN(len(candidates))]
		d.events[d.deciding].place = d.events[d.deciding].within((float64(n%together) + r.Float64()) / together)
		d.weight *= float64(len(candidates)) * density(d.events[d.deciding].rare)
	}
	return d
}

// density is that of rarity.
func density(u float64) float64 {
	if u < reach {
		return 0.5
	}
	return 0.5 + 0.5/(-math.Log(reach)*u)
}

// weighted is an event with the weight of its length.
type weighted struct {
	event
	weight float64
}

// happens draws which nodes a hazard happens to, how often, and when.
func (h *Hazard) happens(r *rand.Rand, nodes int, within time.Duration) (list []weighted) {
	if nodes == 0 {
		return nil
	}
	chosen := r.Perm(len(h.Nodes))[:nodes]
	slices.Sort(chosen)
	from, to := 0.0, 1.0
	if h.Together {
		from, to = h.overlap(r, nodes, within)
	}
	for _, k := range chosen {
		times := 1
		if !h.Together {
			times = atLeastOnce(r, h.Rate*within.Seconds())
		}
		for range times {
			e := event{hazard: h, node: h.Nodes[k], from: from, to: to, rare: 1, length: h.Fixed}
			e.place = e.within(r.Float64())
			list = append(list, weighted{e, 1})
		}
	}
	return list
}

// overlap draws which part of the window a common cause covers that hits so many nodes within it.
func (h *Hazard) overlap(r *rand.Rand, nodes int, within time.Duration) (from, to float64) {
	spread, inner := h.Spread.Seconds(), within.Seconds()
	if spread == 0 {
		at := r.Float64()
		return at, at
	}
	most := min(1, inner/spread)
	// The probability to hit so many rises with the share up to nodes of all, and falls behind it.
	likeliest := binomial(nodes, h.Of, min(most, float64(nodes)/float64(h.Of)))
	for {
		begin := -spread + r.Float64()*(spread+inner)
		low, high := max(0, begin), min(inner, begin+spread)
		if r.Float64()*likeliest <= binomial(nodes, h.Of, (high-low)/spread) {
			return low / inner, high / inner
		}
	}
}

// atLeastOnce draws from a Poisson distribution without its zero.
func atLeastOnce(r *rand.Rand, mean float64) int {
	u, n := r.Float64()*some(mean), 1
	for p := poisson(1, mean); u > p && n < mostEvents; p = poisson(n, mean) {
		u -= p
		n++
	}
	return n
}

// mostEvents bounds how often one hazard happens to a node.
const mostEvents = 1000

// arrive draws when the contender begins to ask for the lock.
func (e *estimator) arrive(d *draw, r *rand.Rand) {
	m := &e.model
	if m.Contender == "" {
		return
	}
	share := 1.0 // of the draws in which it waits
	switch {
	case m.Waits == 0:
		share = 0
	case m.Arrivals > 0:
		share = min(max(m.Waits, 0.1), 0.9)
	}
	if r.Float64() < share {
		d.weight *= m.Waits / share
		d.start = time.Duration(r.Int64N(int64(e.phase)))
		return
	}
	// As it really is, or evenly within the time in which it matters most.
	d.weight *= (1 - m.Waits) / (1 - share)
	within := (e.lease + e.takes(d.work)).Seconds()
	at := r.Float64() * within
	if r.Uint64()&1 == 0 {
		at = r.ExpFloat64() / m.Arrivals
	}
	real, even := m.Arrivals*math.Exp(-m.Arrivals*at), 0.0
	if at <= within {
		even = 1 / within
	}
	d.weight *= 2 * real / (real + even)
	d.start = min(time.Duration(min(at, longest.Seconds()/4)*1e9), longest/4)
}
