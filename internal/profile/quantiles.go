package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Ending says how a table of quantiles goes on behind its last one.
type Ending string

// What a profile's field tail may be.
const (
	EndsPareto      Ending = "pareto"      // the line through the last two on a scale that is logarithmic in both directions
	EndsExponential Ending = "exponential" // the line through the last two where only the probability is logarithmic
	EndsThere       Ending = "none"        // nothing is longer than the last
)

// Point is a quantile: the length is above Length with probability Tail.
type Point struct {
	Tail   float64
	Length time.Duration
}

// Quantiles is the law through some quantiles, in the order of their lengths, which must differ. Between them log(length) is
// linear in log(probability), below the first the length is uniform from 0. If the first Tail is 1, nothing is shorter.
func Quantiles(points []Point, ending Ending) (Law, error) { return quantilesOf(points, ending, brief) }

func quantilesOf(points []Point, ending Ending, brief printer) (Law, error) {
	t := table{ending: ending}
	for i, p := range points {
		switch {
		case p.Length <= 0:
			return nil, fmt.Errorf("a quantile of %s; want one above 0s", brief(float64(p.Length)))
		case i > 0 && (p.Length <= points[i-1].Length || p.Tail >= points[i-1].Tail):
			return nil, fmt.Errorf("%s is %s, which is not longer than %s with %s",
				percentile(p.Tail), brief(float64(p.Length)), percentile(points[i-1].Tail), brief(float64(points[i-1].Length)))
		}
		t.points = append(t.points, point{p.Tail, float64(p.Length)})
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("no quantiles")
	}
	if ending == EndsThere {
		return law{shape: t}, nil
	}
	if inner := slices.DeleteFunc(slices.Clone(t.points), func(p point) bool { return p.tail == 1 || p.tail == 0 }); len(inner) < 2 {
		return nil, fmt.Errorf("a tail is drawn through the last two quantiles, and there are fewer")
	}
	if t.last().tail == 0 {
		return nil, fmt.Errorf("nothing is longer than max, so that there is no tail")
	}
	return law{shape: t}, nil
}

type point struct{ tail, x float64 }

type table struct {
	points []point
	ending Ending
}

func (t table) last() point { return t.points[len(t.points)-1] }

// slope is that of the tail: the exponent of Pareto's, the rate of an exponential one.
func (t table) slope() float64 {
	a, b := t.points[len(t.points)-2], t.last()
	if t.ending == EndsPareto {
		return math.Log(a.tail/b.tail) / math.Log(b.x/a.x)
	}
	return math.Log(a.tail/b.tail) / (b.x - a.x)
}

func (t table) tail(x float64) float64 {
	last := t.last()
	switch {
	case x > last.x || x == last.x && t.ending == EndsThere:
		switch t.ending {
		case EndsPareto:
			return last.tail * math.Pow(last.x/x, t.slope())
		case EndsExponential:
			return last.tail * math.Exp(-t.slope()*(x-last.x))
		default:
			return 0
		}
	case x < t.points[0].x:
		if t.points[0].tail == 1 {
			return 1
		}
		return 1 - (1-t.points[0].tail)*x/t.points[0].x
	}
	i, found := slices.BinarySearchFunc(t.points, x, func(p point, x float64) int {
		return compare(p.x, x)
	})
	if found {
		return t.points[i].tail
	}
	a, b := t.points[i-1], t.points[i]
	if b.tail == 0 {
		return a.tail * (b.x - x) / (b.x - a.x)
	}
	return a.tail * math.Pow(b.tail/a.tail, math.Log(x/a.x)/math.Log(b.x/a.x))
}

func (t table) above(p float64) float64 {
	first, last := t.points[0], t.last()
	switch {
	case p < last.tail:
		switch t.ending {
		case EndsPareto:
			return last.x * math.Pow(last.tail/p, 1/t.slope())
		case EndsExponential:
			return last.x + math.Log(last.tail/p)/t.slope()
		default:
			return last.x
		}
	case p >= first.tail:
		if first.tail == 1 {
			return first.x
		}
		return first.x * (1 - p) / (1 - first.tail)
	}
	i := slices.IndexFunc(t.points, func(b point) bool { return b.tail <= p })
	a, b := t.points[i-1], t.points[i]
	if b.tail == 0 {
		return b.x - p/a.tail*(b.x-a.x)
	}
	return a.x * math.Pow(b.x/a.x, math.Log(p/a.tail)/math.Log(b.tail/a.tail))
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (t table) text(brief printer) string {
	var words []string
	for _, p := range t.points {
		words = append(words, percentile(p.tail)+" "+brief(p.x))
	}
	text := strings.Join(words, ", ")
	last := t.last()
	switch t.ending {
	case EndsPareto:
		return fmt.Sprintf("%s; beyond %s Pareto with exponent %.3g, by the last two", text, brief(last.x), t.slope())
	case EndsExponential:
		return fmt.Sprintf("%s; beyond %s exponential with a mean excess of %s, by the last two", text, brief(last.x), brief(1/t.slope()))
	default:
		return text + "; never more"
	}
}

// percentile names the quantile that is exceeded with this probability.
func percentile(tail float64) string {
	switch tail {
	case 0:
		return "max"
	case 1:
		return "min"
	}
	for _, q := range quantiles {
		if q.tail == tail {
			return q.name
		}
	}
	return fmt.Sprintf("p%.12g", 100*(1-tail))
}

// quantiles are those that a table may name.
var quantiles = [...]quantile{
	{"min", 1}, {"p1", .99}, {"p5", .95}, {"p10", .9}, {"p25", .75}, {"p50", .5}, {"p75", .25}, {"p80", .2}, {"p90", .1}, {"p95", .05},
	{"p98", .02}, {"p99", .01}, {"p99.5", .005}, {"p99.9", .001}, {"p99.95", .0005}, {"p99.99", 1e-4}, {"p99.999", 1e-5},
	{"p99.9999", 1e-6}, {"max", 0},
}

// quantile is one that a table may name.
type quantile struct {
	name string
	tail float64
}

func (q quantile) doc() string {
	switch q.tail {
	case 0:
		return "The longest possible length."
	case 1:
		return "The shortest possible length."
	}
	return "The length that " + strconv.FormatFloat(100*(1-q.tail), 'g', 8, 64) + " % do not exceed."
}
