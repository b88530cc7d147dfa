package odds

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/profile"
	"github.com/locksim/locksim/internal/search/measure"
)

// change is another input: a law of a hazard's length, or of the work, or how many times as often a hazard happens.
type change struct {
	law   Law     // nil: the same
	often float64 // 1: as often
}

// changed returns the estimate of a property under other inputs, by hazard and for the work, from the same runs: what was found
// out about each draw stays true, and only how likely it is changes. Lengths that do not decide keep the probabilities that they had.
func (r *Estimation) changed(property int, hazards []change, work Law) float64 {
	sum := 0.0
	for _, x := range r.e.parts {
		mean := 0.0
		for k := range x.samples {
			if s := &x.samples[k]; s.values[property] > 0 {
				mean += s.values[property] * r.e.ratio(x, s, property, hazards, work) / float64(len(x.samples))
			}
		}
		sum += mean
	}
	return min(sum, 1)
}

// ratio is how much likelier a draw that violates a property is under other inputs.
func (e *estimator) ratio(x *part, s *sample, property int, hazards []change, work Law) float64 {
	ratio := 1.0
	w := e.windowOf(x.stratum, e.takes(s.draw.work))
	for i, n := range x.stratum {
		if f := hazards[i].often; f != 1 {
			h := &e.model.Hazards[i]
			other := *h
			other.Rate *= f
			if was := h.weight(n, w.of(h), i == x.decides); was > 0 {
				ratio *= other.weight(n, w.of(h), i == x.decides) / was
			}
		}
	}
	was, is := Law(nil), work
	switch {
	case x.decides >= 0:
		was, is = e.model.Hazards[x.decides].Length, hazards[x.decides].law
	case x.decides == byWork:
		was = e.model.Work
	}
	if was != nil && is != nil {
		least := s.breaks[property]
		if old := min(s.rarest, atLeast(was, least)); old > 0 {
			ratio *= min(s.rarest, atLeast(is, least)) / old
		}
	}
	return ratio
}

// weight is how likely it is that a hazard happens so often. If any of its events may decide, it is how many are expected to then: each
// is as likely to be the one that violates, whatever else happens.
func (h *Hazard) weight(n int, within time.Duration, decides bool) float64 {
	mean := h.Rate * within.Seconds()
	switch {
	case !decides || h.Together || len(h.Nodes) > 1:
		return h.probability(n, within)
	case n == repeated:
		return mean * some(mean)
	}
	return mean * math.Exp(-mean)
}

// same are the inputs as they are.
func (r *Estimation) same() []change {
	return slices.Repeat([]change{{often: 1}}, len(r.e.model.Hazards))
}

// refits is how many other laws and rates are tried that the user's data would explain as well.
const refits = 400

// Unsure is where a property's probability lies for what the user's data does not know: if the tail of a law was fitted to a sample, or
// a rate counted in a log. Rate is the number of acquisitions in a second, of which the same may be true. It returns nil if all was stated.
func (r *Estimation) Unsure(property int, rate profile.Rate) (acquisition, year *measure.Range) {
	seed, any := r.e.plan.Seed, false
	hazards := make([][]change, len(r.e.model.Hazards))
	for i := range r.e.model.Hazards {
		hazards[i] = r.e.model.Hazards[i].refits(refits, seed+uint64(i))
		any = any || hazards[i] != nil
	}
	var works []Law
	if r.e.model.Work != nil {
		works = profile.Refits(r.e.model.Work, refits, seed)
	}
	often := rate.Refits(refits, seed)
	if any = any || works != nil; !any && often == nil {
		return nil, nil
	}
	each, yearly := make([]float64, refits), make([]float64, refits)
	for k := range refits {
		list, work := r.same(), Law(nil)
		for i := range list {
			if hazards[i] != nil {
				list[i] = hazards[i][k]
			}
		}
		if works != nil {
			work = works[k]
		}
		each[k] = r.changed(property, list, work)
		yearly[k] = each[k] * rate.In(profile.Year)
		if often != nil {
			yearly[k] = each[k] * often[k].In(profile.Year)
		}
	}
	return r.middle(each), r.middle(yearly)
}

// refits are other laws and rates that the data would explain as well; nil if both were stated. Of events of which the short ones are
// left out, how many are longer is uncertain, too.
func (h *Hazard) refits(n int, seed uint64) []change {
	list := slices.Repeat([]change{{often: 1}}, n)
	if h.Short > 0 {
		events := h.All.Refits(n, seed)
		if events == nil {
			return nil
		}
		for k, e := range events {
			e = e.Longer(h.Short)
			list[k] = change{law: e.Length, often: e.Rate.PerSecond / h.All.Longer(h.Short).Rate.PerSecond}
		}
		return list
	}
	var laws []Law
	if h.Length != nil {
		laws = profile.Refits(h.Length, n, seed)
	}
	rates := h.Stated.Refits(n, seed)
	if laws == nil && rates == nil {
		return nil
	}
	for k := range list {
		if laws != nil {
			list[k].law = laws[k]
		}
		if rates != nil {
			list[k].often = rates[k].PerSecond / h.Stated.PerSecond
		}
	}
	return list
}

// middle is the range of the values that the confidence leaves in.
func (r *Estimation) middle(values []float64) *measure.Range {
	slices.Sort(values)
	out := int((1 - r.e.plan.Confidence) / 2 * float64(len(values)))
	return &measure.Range{Least: values[out], Most: values[len(values)-1-out]}
}

// Input is something that the odds depend on.
type Input struct {
	Name string
	// Power says by how many percent the odds grow if the input grows by one percent, by property.
	Power [len(Properties)]float64
	// Played says that the scenario was played with another value; otherwise the same runs were weighted with the other's probabilities.
	Played bool
}

// step is by what factor an input is changed to see what it matters.
const step = 1.1

// Inputs are how often hazards happen and how long they last.
func (r *Estimation) Inputs() (list []Input) {
	for i := range r.e.model.Hazards {
		h := &r.e.model.Hazards[i]
		often, long := r.same(), r.same()
		often[i].often = step
		list = append(list, r.input("how often: "+h.Name, often, nil))
		if h.Length != nil && h.Worse {
			long[i].law = scaled{h.Length, step}
			list = append(list, r.input("how long: "+h.Name, long, nil))
		}
	}
	return slices.DeleteFunc(list, func(x Input) bool { return x.Name == "" })
}

func (r *Estimation) input(name string, list []change, work Law) Input {
	x := Input{Name: name}
	for i := range Properties {
		x.Power[i] = power(r.Of[i].Estimate, r.changed(i, list, work))
	}
	return x
}

// power is the exponent with which a value has grown.
func power(was, is float64) float64 {
	if was <= 0 || is <= 0 {
		return 0
	}
	return math.Log(is/was) / math.Log(step)
}

// Data says which inputs come from data with what uncertainty, for a reader.
func (r *Estimation) Data() string {
	var words []string
	for i := range r.e.model.Hazards {
		h := &r.e.model.Hazards[i]
		if h.Stated.Counted > 0 {
			words = append(words, "the rate of "+h.Name)
		}
		length := h.Length
		if h.Short > 0 {
			length = h.All.Length
		}
		if length != nil && profile.Refits(length, 1, 0) != nil {
			words = append(words, "the length of "+h.Name)
		}
	}
	if r.e.model.Work != nil && profile.Refits(r.e.model.Work, 1, 0) != nil {
		words = append(words, "the length of work")
	}
	return strings.Join(words, ", ")
}
