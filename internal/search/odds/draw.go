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

// rarities draws how unlikely some lengths are. In one half of all draws they are as they really are, evenly from 0 to 1. In the other
// one, any of them, is drawn evenly on a logarithmic scale, so that every part of every tail is reached. The weight is the ratio of the
// real density to that of the draw: at most 2, however many lengths there are.
func rarities(r *rand.Rand, n int) (list []float64, weight float64) {
	for range n {
		list = append(list, 1-r.Float64())
	}
	if n == 0 {
		return list, 1
	}
	if r.Uint64()&1 == 0 {
		k := r.IntN(n)
		list[k] = math.Exp(math.Log(reach) * (1 - list[k]))
	}
	density := 0.5
	for _, u := range list {
		if u >= reach {
			density += 0.5 / (-math.Log(reach) * u * float64(n))
		}
	}
	return list, 1 / density
}

// drawn draws an acquisition of a stratum in which a length of the hazard decides (or that of the work, or none).
func (e *estimator) drawn(x *part, n int) *draw {
	r := rand.New(rand.NewPCG(e.plan.Seed, x.stream+uint64(n)))
	d := &draw{seed: r.Uint64(), weight: 1, deciding: none, work: e.work, rare: 1, counts: make([]int, len(x.stratum))}
	if e.model.Work != nil {
		rare, weight := rarities(r, 1)
		if d.rare, d.work = rare[0], tailQuantile(e.model.Work, rare[0]); x.decides != byWork {
			d.weight = weight
		}
	}
	e.arrive(d, r)
	for i := range e.model.Drifts {
		d.clocks = append(d.clocks, e.model.Drifts[i].rates(r.Float64)...)
	}
	w := e.windowOf(x.stratum, e.takes(d.work))
	for i, nodes := range x.stratum {
		events := e.model.Hazards[i].happens(r, nodes, w.of(&e.model.Hazards[i]))
		d.events = append(d.events, events...)
		d.counts[i] = len(events)
	}
	e.settle(d, x, r, n)
	d.ratio = d.weight
	if x.decides >= 0 { // any of them may be the rarest
		d.weight *= float64(d.counts[x.decides])
	}
	return d
}

// settle chooses the event that decides, and draws the lengths of all others.
func (e *estimator) settle(d *draw, x *part, r *rand.Rand, n int) {
	var others []int
	for k := range d.events {
		h := d.events[k].hazard
		switch {
		case h.Length == nil:
		case !h.Worse:
			d.events[k].length = tailQuantile(h.Length, 1-r.Float64())
		default:
			others = append(others, k)
		}
	}
	d.deciding = x.decides // byWork, or none, or
	if x.decides >= 0 {
		first := slices.IndexFunc(d.events, func(v event) bool { return v.hazard == &e.model.Hazards[x.decides] })
		d.deciding = first + r.IntN(d.counts[x.decides])
		v := &d.events[d.deciding]
		v.place = v.within((float64(n%together) + r.Float64()) / together)
		others = slices.DeleteFunc(others, func(k int) bool { return k == d.deciding })
	}
	rare, weight := rarities(r, len(others))
	d.weight *= weight
	for i, k := range others {
		v := &d.events[k]
		v.rare, v.length = rare[i], tailQuantile(v.hazard.Length, rare[i])
	}
}

// happens draws which nodes a hazard happens to, how often, and when.
func (h *Hazard) happens(r *rand.Rand, nodes int, within time.Duration) (list []event) {
	if nodes == 0 {
		return nil
	}
	least := 1
	if !h.Together && len(h.Nodes) == 1 {
		least, nodes = nodes, 1
	}
	chosen := r.Perm(len(h.Nodes))[:nodes]
	slices.Sort(chosen)
	from, to := 0.0, 1.0
	if h.Together {
		from, to = h.overlap(r, nodes, within)
	}
	for _, k := range chosen {
		times := 1
		if !h.Together && (len(h.Nodes) > 1 || least == repeated) {
			times = often(r, least, h.Rate*within.Seconds())
		}
		for range times {
			e := event{hazard: h, node: h.Nodes[k], from: from, to: to, rare: 1, length: h.Fixed}
			e.place = e.within(r.Float64())
			list = append(list, e)
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

// often draws from a Poisson distribution without what is less than least.
func often(r *rand.Rand, least int, mean float64) int {
	n, p := least, poisson(least, mean)
	all := some(mean)
	if least == repeated {
		all = more(mean)
	}
	for u := r.Float64() * all; u > p && n < mostEvents; p = poisson(n, mean) {
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
