package profile

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A tail is a generalized Pareto law of what values exceed a threshold by: P(excess > y) = (1 + shape y/scale)^(-1/shape). Above
// a threshold that is high enough every usual law is near to one (Pickands, "Statistical inference using extreme order
// statistics", 1975): shape 0 is exponential, above 0 a power law with exponent 1/shape, below 0 there is a longest value.
type tail struct{ shape, scale float64 }

// over is the probability that the excess is above y.
func (t tail) over(y float64) float64 {
	if math.Abs(t.shape) < 1e-9 {
		return math.Exp(-y / t.scale)
	}
	inner := 1 + t.shape*y/t.scale
	if inner <= 0 {
		return 0
	}
	return math.Exp(-math.Log(inner) / t.shape)
}

// excess is the inverse of over.
func (t tail) excess(p float64) float64 {
	if math.Abs(t.shape) < 1e-9 {
		return -t.scale * math.Log(p)
	}
	return t.scale * math.Expm1(-t.shape*math.Log(p)) / t.shape
}

// Shapes that are considered: below -1/2 likelihoods are not regular (Smith, Biometrika 72, 1985), and above 2 even square roots
// of lengths would have no mean.
const (
	leastShape = -.5
	mostShape  = 2.
)

// posterior is what excesses tell of their tail: the posterior density on a grid of shapes and logarithms of scales, with a prior
// that is flat in both. Its intervals are honest for few excesses too, where those of maximum likelihood are too narrow.
type posterior struct {
	shapes, scales axis
	cumulative     []float64 // of the cells, row by row
	mean           tail
}

// axis is a range of values in equal steps.
type axis struct {
	from, step float64
	n          int
}

func (a axis) at(i int) float64 { return a.from + (float64(i)+.5)*a.step }

// around returns an axis of n cells around a value, within another.
func (a axis) around(middle, reach float64, n int) axis {
	from := max(a.from, middle-reach)
	to := min(a.from+float64(a.n)*a.step, middle+reach)
	return axis{from, (to - from) / float64(n), n}
}

// fitTail returns the posterior of some excesses in ascending order, each of which has the weight of that many independent ones.
func fitTail(excesses []atom, weight float64) *posterior {
	k := 0.
	for _, e := range excesses {
		k += float64(e.count)
	}
	unit := math.Log(median(excesses, k))
	all := posterior{shapes: axis{leastShape, .1, int(math.Round((mostShape - leastShape) / .1))}, scales: axis{unit - 4, .2, 40}}
	best := all.peak(excesses)
	// The asymptotic deviations of maximum likelihood are sqrt((1+shape)^2/k) and sqrt(2(1+shape)/k).
	reach := 7 * (1 + max(0, best.shape)) / math.Sqrt(k*weight)
	fine := posterior{
		shapes: all.shapes.around(best.shape, reach+.1, 48), scales: all.scales.around(math.Log(best.scale), 1.5*reach+.2, 48),
	}
	fine.weigh(excesses, weight)
	return &fine
}

// median of atoms in ascending order, k in all.
func median(atoms []atom, k float64) float64 {
	sum := 0.
	for _, a := range atoms {
		if sum += float64(a.count); sum >= k/2 {
			return a.x
		}
	}
	return atoms[len(atoms)-1].x
}

// logLikelihoods calls with that of each cell.
func (p *posterior) logLikelihoods(excesses []atom, each func(i, j int, l float64)) {
	for i := range p.shapes.n {
		for j := range p.scales.n {
			each(i, j, logLikelihood(excesses, tail{p.shapes.at(i), math.Exp(p.scales.at(j))}))
		}
	}
}

func logLikelihood(excesses []atom, t tail) float64 {
	if math.Abs(t.shape) < 1e-6 {
		t.shape = 1e-6
	}
	k, sum := 0., 0.
	for i := len(excesses) - 1; i >= 0; i-- { // the largest first, which shapes below 0 exclude
		e := excesses[i]
		y := t.shape * e.x / t.scale
		if y <= -1 {
			return math.Inf(-1)
		}
		k += float64(e.count)
		sum += float64(e.count) * math.Log1p(y)
	}
	return -k*math.Log(t.scale) - (1+1/t.shape)*sum
}

func (p *posterior) peak(excesses []atom) tail {
	best, most := tail{0, excesses[len(excesses)-1].x}, math.Inf(-1)
	p.logLikelihoods(excesses, func(i, j int, l float64) {
		if l > most {
			best, most = tail{p.shapes.at(i), math.Exp(p.scales.at(j))}, l
		}
	})
	return best
}

func (p *posterior) weigh(excesses []atom, weight float64) {
	p.cumulative = make([]float64, p.shapes.n*p.scales.n)
	most := math.Inf(-1)
	p.logLikelihoods(excesses, func(i, j int, l float64) {
		p.cumulative[i*p.scales.n+j] = l
		most = max(most, l)
	})
	sum, shape, scale := 0., 0., 0.
	for c, l := range p.cumulative {
		w := math.Exp(weight * (l - most))
		sum += w
		shape += w * p.shapes.at(c/p.scales.n)
		scale += w * p.scales.at(c%p.scales.n)
		p.cumulative[c] = sum
	}
	p.mean = tail{shape / sum, math.Exp(scale / sum)}
}

// draw returns a tail that the excesses may come from as well.
func (p *posterior) draw(random *rand.Rand) tail {
	target := random.Float64() * p.cumulative[len(p.cumulative)-1]
	c, _ := slices.BinarySearch(p.cumulative, target)
	return tail{
		p.shapes.at(c/p.scales.n) + (random.Float64()-.5)*p.shapes.step,
		math.Exp(p.scales.at(c%p.scales.n) + (random.Float64()-.5)*p.scales.step),
	}
}
