package odds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/internal/search/parts"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Plan says how much is played.
type Plan struct {
	Runs       int // about so many; an estimate stops when it has played them
	Seed       uint64
	Confidence float64 // of the intervals, from 0 to 1
	Jobs       int     // runs at once; the result does not depend on it
	// Parts are shared among machines: one for each piece.
	Parts *parts.Parts
	_     struct{}
}

// part is a stratum, as far as the length of one hazard is the rarest in it and decides.
type part struct {
	stratum stratum
	decides int // a hazard, or byWork, or none
	stream  uint64
	chance  float64 // how likely the stratum is
	samples []sample
	want    int                      // how many there are to be
	known   [len(Properties)][]known // from earlier rounds, by place
	hints   [len(Properties)][]known // what another estimate knows of the same events, which may be about right here
}

// estimator is the work.
type estimator struct {
	model Model
	plan  Plan
	parts []*part
	left  float64 // how likely what is left out is
	runs  int
	first int // the number of the first sample of each part

	work      time.Duration // of the holder, by the scenario
	works     []time.Duration
	begins    time.Duration // when the holder asks for the lock
	acquiring time.Duration // how long that takes
	besides   time.Duration // how long the acquisition takes, besides work
	lease     time.Duration
	phase     time.Duration // how long the contender waits between two requests
}

// calmRuns is how many runs without any rare event say how long an acquisition takes.
const calmRuns = 20

// Estimate estimates how likely one acquisition is to go wrong. Each, which may be nil, is told how many runs have been played. When
// the context is done, what was played until then is returned with the error.
func Estimate(ctx context.Context, m Model, p Plan, each func(runs int)) (*Estimation, error) {
	return estimate(ctx, m, p, hints{}, each)
}

// estimate is Estimate with what another one knows of the same events, which saves runs where it is right.
func estimate(ctx context.Context, m Model, p Plan, near hints, each func(runs int)) (*Estimation, error) {
	e := &estimator{model: m, plan: p}
	runner := harness.Runner{Stop: search.Until(ctx)}
	err := e.calm(&runner)
	runner.Close()
	if err != nil {
		return nil, err
	}
	e.divide()
	e.hint(near)
	if err := e.pieces(ctx, each); err != nil {
		return e.estimation(), err
	}
	r := e.estimation()
	r.Complete = true
	return r, e.balanced()
}

// play plays the pilot and the rounds.
func (e *estimator) play(ctx context.Context, each func(runs int)) error {
	if err := e.pilot(ctx, each); err != nil {
		return err
	}
	for round := range rounds {
		e.allot(round)
		if err := e.round(ctx, each); err != nil {
			return err
		}
	}
	return nil
}

// pilot plays a few samples of each part, the likeliest first, until all that is left is so unlikely that it does not matter, or all runs
// are used up.
func (e *estimator) pilot(ctx context.Context, each func(runs int)) error {
	all := e.parts
	e.parts = nil
	for from := 0; from < len(all); from += pilotParts {
		rest := e.left + chanceOf(all, from)
		if least := e.least(); e.runs >= e.plan.Runs || least > 0 && rest < matters*least {
			e.left = rest
			return nil
		}
		for _, x := range all[from:min(from+pilotParts, len(all))] {
			x.want = e.pilots(len(all))
			e.parts = append(e.parts, x)
		}
		if err := e.round(ctx, each); err != nil {
			e.left += chanceOf(all, from)
			return err
		}
	}
	return nil
}

// chanceOf is how likely the strata are of which some part comes from a place on.
func chanceOf(all []*part, from int) float64 {
	sum := 0.0
	for i := from; i < len(all); i++ {
		if i == from || !slices.Equal(all[i].stratum, all[i-1].stratum) {
			sum += all[i].chance
		}
	}
	return sum
}

// least is the smallest probability that was seen.
func (e *estimator) least() float64 {
	least := 0.0
	for i := range Properties {
		sum := 0.0
		for _, x := range e.parts {
			mean, _ := x.moments(i)
			sum += mean
		}
		if sum > 0 && (least == 0 || sum < least) {
			least = sum
		}
	}
	return least
}

// calm plays acquisitions during which nothing rare happens, to see how long they take.
func (e *estimator) calm(runner *harness.Runner) error {
	s := e.model.Case.Scenario
	i := slices.IndexFunc(s.Clients, func(c scenarios.Client) bool { return c.Name == e.model.Holder })
	if i < 0 {
		return fmt.Errorf("there is no client %q", e.model.Holder)
	}
	e.work, e.lease, e.phase = s.Clients[i].Work, s.Lease(), usualPhase
	if e.model.Work != nil {
		e.work = e.model.Work.Quantile(0.5)
		for k := range averaged {
			e.works = append(e.works, tailQuantile(e.model.Work, (float64(k)+0.5)/averaged))
		}
	}
	for _, c := range s.Clients {
		if c.Name == e.model.Contender && c.Retry.Delay > 0 {
			e.phase = c.Retry.Delay
		}
	}
	c := e.model.Case
	c.Scenario = parameter.Clone(s)
	c.Scenario.Clients[i].Work = e.work
	plan, err := harness.Compile(c, e.model.Options)
	if err != nil {
		return err
	}
	for seed := range uint64(calmRuns) {
		result, err := runner.Run(plan, e.plan.Seed+seed, false)
		if err != nil {
			return err
		}
		if err := e.watch(result.History); err != nil {
			return err
		}
	}
	return nil
}

// usualPhase is within what time a contender asks that does not say how often it does.
const usualPhase = 100 * time.Millisecond

// watch notes how long an acquisition took.
func (e *estimator) watch(h *history.History) error {
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		if a.Client != e.model.Holder || a.Outcome != history.OK {
			continue
		}
		end := min(a.Unlocked, h.End)
		e.begins = time.Duration(a.Invoked)
		e.acquiring = max(e.acquiring, time.Duration(a.Returned-a.Invoked))
		e.besides = max(e.besides, time.Duration(end-a.Invoked)-e.work)
		if a.Unlocked == trace.Never {
			return fmt.Errorf("%s does not release the lock: give it work that ends", e.model.Holder)
		}
		return nil
	}
	return fmt.Errorf("%s does not acquire the lock even if nothing goes wrong", e.model.Holder)
}

// takes is how long an acquisition takes with so much work.
func (e *estimator) takes(work time.Duration) time.Duration { return work + e.besides }

// averaged is over how many lengths of work a probability is averaged.
const averaged = 200

// average is the mean of something that depends on how long the acquisition takes.
func (e *estimator) average(of func(takes time.Duration) float64) float64 {
	if len(e.works) == 0 {
		return of(e.takes(e.work))
	}
	sum := 0.0
	for _, work := range e.works {
		sum += of(e.takes(work))
	}
	return sum / float64(len(e.works))
}

// divide makes the parts, the likeliest first.
func (e *estimator) divide() {
	list, left := e.strata()
	e.left = left
	for _, s := range list {
		var deciding []int
		if e.model.Work != nil {
			deciding = append(deciding, byWork)
		}
		for i := range s {
			if h := &e.model.Hazards[i]; s[i] > 0 && h.Worse && h.Length != nil {
				deciding = append(deciding, i)
			}
		}
		if len(deciding) == 0 {
			deciding = []int{none}
		}
		chance := e.average(func(takes time.Duration) float64 { return e.probability(s, takes) })
		for _, d := range deciding {
			stream := fnv.New64a()
			fmt.Fprint(stream, s, d)
			e.parts = append(e.parts, &part{stratum: s, decides: d, chance: chance, stream: stream.Sum64()})
		}
	}
	slices.SortStableFunc(e.parts, func(a, b *part) int { return cmp.Compare(b.chance, a.chance) })
}

// After a pilot of all parts, rounds are played, in which parts are played by what they add to the error.
const (
	rounds     = 3
	pilot      = 32
	leastPilot = 8    // samples of a part, however few runs there are
	pilotParts = 4    // that are played before it is seen whether others matter
	matters    = 1e-3 // the share of the odds that does
	together   = 8    // samples that a worker takes at once
	runsOfOne  = 3    // about so many runs a sample takes
)

// pilots is how many samples of each of so many parts a pilot has: fewer if there are few runs, which it would use up otherwise.
func (e *estimator) pilots(parts int) int {
	return min(pilot, max(leastPilot, e.plan.Runs/(runsOfOne*max(1, parts))))
}

// allot says how many samples of each part there are to be.
func (e *estimator) allot(round int) {
	budget := float64(e.plan.Runs-e.runs) / float64(rounds-round)
	e.doubt(budget * doubted)
	budget *= 1 - doubted
	for i := range Properties {
		total, all := 0.0, make([]float64, len(e.parts))
		for k, x := range e.parts {
			_, spread := x.moments(i)
			all[k] = spread * math.Sqrt(float64(x.cost()))
			total += all[k]
		}
		for k, x := range e.parts {
			if total > 0 && budget > 0 {
				more := int(budget / float64(len(Properties)) * all[k] / total / float64(x.cost()))
				x.want = max(x.want, len(x.samples)+more/together*together)
			}
		}
	}
}

// doubted is the share of the runs that go into parts in which nothing was violated, of which all that is known is that it is seldom.
const doubted = 0.2

// doubt gives such parts samples by how likely they are. In the calm it is not rare events that are missed.
func (e *estimator) doubt(budget float64) {
	total, unseen := 0.0, make([]bool, len(e.parts))
	for k, x := range e.parts {
		a, _ := x.moments(0)
		b, _ := x.moments(1)
		if unseen[k] = a+b == 0 && !x.stratum.calm(); unseen[k] {
			total += x.chance
		}
	}
	for k, x := range e.parts {
		if unseen[k] && budget > 0 {
			x.want = max(x.want, len(x.samples)+int(budget*x.chance/total/float64(x.cost()))/together*together)
		}
	}
}

// cost is how many runs a sample of the part takes.
func (x *part) cost() int {
	runs := 0
	for i := range x.samples {
		runs += x.samples[i].runs
	}
	return max(1, runs/max(1, len(x.samples)))
}

// moments are the mean of what the samples say of a property, and the standard deviation that explains how far means of them are
// from each other. As many as make a batch have their places evenly from the whole window, so that batches vary less than samples.
func (x *part) moments(i int) (mean, spread float64) {
	n := len(x.samples)
	for k := range x.samples {
		mean += x.samples[k].values[i] / float64(n)
	}
	size := together
	if x.decides < 0 || n < 2*together {
		size = 1
	}
	batches := n / size
	for b := range batches {
		off := -mean
		for k := range size {
			off += x.samples[b*size+k].values[i] / float64(size)
		}
		spread += off * off / float64(max(1, batches-1))
	}
	return mean, math.Sqrt(spread * float64(size))
}

// batch is a few samples of a part.
type batch struct {
	part    *part
	samples []sample
	err     error
}

// round plays what is missing.
func (e *estimator) round(ctx context.Context, each func(int)) error {
	for _, x := range e.parts {
		x.learn()
	}
	return search.InOrder(ctx, e.plan.Jobs, e.batches(), func(b batch) error {
		b.part.samples = append(b.part.samples, b.samples...)
		for i := range b.samples {
			e.runs += b.samples[i].runs
		}
		if each != nil {
			each(e.runs)
		}
		return b.err
	})
}

// batches yields what is missing, a few samples of each part in turn, so that what an interrupt leaves is even.
func (e *estimator) batches() iter.Seq[func(*harness.Runner) batch] {
	from := make([]int, len(e.parts)) // not the samples themselves, which come in meanwhile
	for i, x := range e.parts {
		from[i] = len(x.samples)
	}
	return func(yield func(func(*harness.Runner) batch) bool) {
		for more := true; more; {
			more = false
			for i, x := range e.parts {
				first, count := from[i], min(together, x.want-from[i])
				if count <= 0 {
					continue
				}
				more, from[i] = true, first+count
				if !yield(func(r *harness.Runner) batch { return e.batch(r, x, first, count) }) {
					return
				}
			}
		}
	}
}

func (e *estimator) batch(r *harness.Runner, x *part, first, count int) batch {
	b := batch{part: x}
	for n := first; n < first+count && !r.Stopped(); n++ {
		s, err := e.sample(r, x, e.first+n)
		if err != nil {
			b.err = err
			if errors.Is(err, harness.ErrInterrupted) {
				b.err = nil // the batch is cut
			}
			break
		}
		b.samples = append(b.samples, s)
	}
	return b
}

// balanced checks that the weights of all draws have the mean that they must have: a draw that does not reach all that may happen,
// or reaches some of it too seldom, would make the estimate too small without any other sign.
func (e *estimator) balanced() error {
	n, sum, squares := 0.0, 0.0, 0.0
	for _, x := range e.parts {
		for i := range x.samples {
			w := x.samples[i].draw.ratio
			n, sum, squares = n+1, sum+w, squares+w*w
		}
	}
	want := 1.0
	if m := &e.model; m.Contender != "" && m.Arrivals == 0 {
		want = m.Waits
	}
	mean := sum / n
	if off := math.Abs(mean - want); n > 0 && off > farOff*math.Sqrt(max(0, squares/n-mean*mean)/n)+1e-9 {
		return fmt.Errorf("the weights of %.0f draws have a mean of %g, and must have one of %g", n, mean, want)
	}
	return nil
}

// farOff is how many standard errors are no chance.
const farOff = 6
