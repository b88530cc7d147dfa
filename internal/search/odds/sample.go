package odds

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
)

// outcome is what came of a run, by property.
type outcome struct{ violated, unknown [len(Properties)]bool }

// probe is a run with some length of what decides.
type probe struct {
	length time.Duration
	outcome
}

// sample is a draw with what came of it.
type sample struct {
	draw    *draw
	runs    int
	weight  float64 // of the draw, without the probability of its stratum
	chance  float64 // of the stratum
	rarest  float64 // the decisive length is rarer than this: any other is less rare
	values  [len(Properties)]float64
	breaks  [len(Properties)]time.Duration // the shortest length found that violates; 0: none does
	checked [len(Properties)]bool          // a longer one than that was tried,
	missed  [len(Properties)]bool          // and did not violate
	below   [len(Properties)]bool          // a shorter one than the longest that was found not to violate did
	unknown bool                           // nothing could be said of some run
}

// try is a draw that is being played.
type try struct {
	*estimator
	*draw
	runner *harness.Runner
	part   *part
	probes []probe
	err    error
}

// sample draws an acquisition and finds how likely it is to go wrong.
func (e *estimator) sample(runner *harness.Runner, x *part, n int) (sample, error) {
	t, s := e.begin(x, n)
	t.runner = runner
	if t.deciding == none {
		o := t.run(t.draw.work)
		for i, violated := range o.violated {
			if violated {
				s.values[i] = s.weight * s.chance
			}
		}
	} else {
		r := rand.New(rand.NewPCG(t.seed, checks))
		a, b, c := 1-r.Float64(), 1-r.Float64(), 1-r.Float64()
		looks := r.IntN(belowOneIn) == 0
		for i := range Properties {
			t.decide(&s, i, a, b)
			if looks {
				t.look(&s, i, c)
			}
		}
	}
	s.runs = len(t.probes)
	s.unknown = slices.ContainsFunc(t.probes, func(p probe) bool { return slices.Contains(p.unknown[:], true) })
	return s, t.err
}

// begin is a sample before anything of it is played.
func (e *estimator) begin(x *part, n int) (*try, sample) {
	t := &try{estimator: e, draw: e.drawn(x, n), part: x}
	s := sample{draw: t.draw, weight: t.weight, rarest: 1, chance: e.probability(x.stratum, e.takes(t.draw.work))}
	if t.deciding != none {
		s.rarest = t.cap()
	}
	return t, s
}

// checks is the stream of what is drawn for the runs that check a threshold, and belowOneIn says how many draws have one below it.
const (
	checks     = 0x636865636b
	belowOneIn = 4
)

// law is that of the length that decides.
func (t *try) law() Law {
	if t.deciding == byWork {
		return t.model.Work
	}
	return t.events[t.deciding].hazard.Length
}

// cap is how rare the decisive length must be so that it is the rarest of all.
func (t *try) cap() float64 {
	least := 1.0
	if t.model.Work != nil && t.deciding != byWork {
		least = t.rare
	}
	for k := range t.events {
		if e := &t.events[k]; k != t.deciding && e.hazard.Worse && e.hazard.Length != nil {
			least = min(least, e.rare)
		}
	}
	return least
}

// decide finds from which length on a property is violated, and what that is worth. The numbers a and b, from 0 to 1, choose the
// lengths that check it.
func (t *try) decide(s *sample, i int, a, b float64) {
	law := t.law()
	low, high, ok := t.threshold(law, s.rarest, i)
	if !ok {
		return
	}
	s.breaks[i] = high
	surely, perhaps := min(s.rarest, atLeast(law, high)), min(s.rarest, law.Tail(low))
	length := tailQuantile(law, surely*a)
	s.checked[i] = true
	if t.run(length).violated[i] {
		s.values[i] += s.weight * surely * t.chance(s, length)
	} else {
		s.missed[i] = true
	}
	if perhaps > surely { // the threshold lies between low and high
		if length := tailQuantile(law, surely+(perhaps-surely)*b); t.run(length).violated[i] {
			s.values[i] += s.weight * (perhaps - surely) * t.chance(s, length)
		}
	}
}

// atLeast is how likely a length of d or more is.
func atLeast(l Law, d time.Duration) float64 {
	if d <= 0 {
		return 1
	}
	return l.Tail(d - 1)
}

// chance is how likely the stratum is: if the work decides, with work of that length.
func (t *try) chance(s *sample, length time.Duration) float64 {
	if t.deciding == byWork {
		return t.probability(t.part.stratum, t.takes(length))
	}
	return s.chance
}

// look tries a length that should be too short, and counts it if it is not.
func (t *try) look(s *sample, i int, c float64) {
	law, from := t.law(), negligible
	if s.breaks[i] > 0 {
		low, _ := t.bracket(i)
		from = law.Tail(low)
	}
	if from >= s.rarest {
		return
	}
	span := math.Log(s.rarest / from)
	u := from * math.Exp(span*c)
	length := tailQuantile(law, u)
	if t.run(length).violated[i] {
		s.below[i] = true
		s.values[i] += belowOneIn * s.weight * u * span * t.chance(s, length)
	}
}

// fine is how much likelier a length than the longest that does not violate may be, compared with the shortest that does. What is
// between them is sampled.
const fine = 1.05

// threshold finds two lengths close to each other of which the longer one violates a property, and the shorter one does not; false if
// none violates it.
func (t *try) threshold(law Law, rarest float64, i int) (low, high time.Duration, ok bool) {
	least := tailQuantile(law, rarest)
	if t.run(least).violated[i] {
		return least, least, true
	}
	if near := t.part.guess(t.draw, i); near > 0 { // what other samples came to saves runs
		rare := atLeast(law, near)
		for _, by := range nearby {
			if low, _ = t.bracket(i); low < near {
				t.run(max(tailQuantile(law, min(rarest, rare*by)), least))
			}
			if _, high = t.bracket(i); high > near {
				t.run(tailQuantile(law, rare/by))
			}
			if low, high = t.bracket(i); low > least && high < math.MaxInt64 {
				return t.narrow(law, i)
			}
		}
	}
	most := min(tailQuantile(law, negligible), longest/4)
	for length, by := t.lease+t.takes(t.draw.work)+t.start, time.Duration(4); ; length *= by {
		if low, _ := t.bracket(i); length < most && length <= low {
			continue // a longer one was tried for another property
		}
		if t.run(min(length, most)).violated[i] {
			break
		}
		if length >= most || t.err != nil {
			return 0, 0, false
		}
		if length > far*t.lease {
			by = 16
		}
	}
	return t.narrow(law, i)
}

// far is how many leases long a length is beyond which little is new.
const far = 10

// nearby is how much likelier or less likely than a guess the lengths are that are tried first.
var nearby = [...]float64{1.02, 1.2, 3}

// narrow bisects between two lengths.
func (t *try) narrow(law Law, i int) (low, high time.Duration, ok bool) {
	for t.err == nil {
		low, high = t.bracket(i)
		if high-low <= 1 || law.Tail(low) <= fine*atLeast(law, high) {
			return low, high, true
		}
		t.run(between(low, high))
	}
	return 0, 0, false
}

// between is the middle of two lengths; of very different ones, that of their logarithms.
func between(low, high time.Duration) time.Duration {
	if l := max(low, time.Microsecond); high > 4*l {
		return min(max(time.Duration(math.Sqrt(float64(l)*float64(high))), low+1), high-1)
	}
	return low + (high-low)/2
}

// bracket is the shortest length that was found to violate a property, and the longest below it that was found not to.
func (t *try) bracket(i int) (low, high time.Duration) {
	high = math.MaxInt64
	for _, p := range t.probes {
		if p.violated[i] {
			high = min(high, p.length)
		}
	}
	for _, p := range t.probes {
		if !p.violated[i] && p.length < high {
			low = max(low, p.length)
		}
	}
	return low, high
}

// run plays the draw with a length of what decides.
func (t *try) run(length time.Duration) outcome {
	for _, p := range t.probes {
		if p.length == length {
			return p.outcome
		}
	}
	if t.err != nil {
		return outcome{}
	}
	p := probe{length: length}
	p.outcome, t.err = t.judge(t.runner, t.scenario(t.draw, length), t.seed)
	t.probes = append(t.probes, p)
	return p.outcome
}

// judge plays the model's case with another scenario.
func (e *estimator) judge(runner *harness.Runner, s *scenarios.Scenario, seed uint64) (outcome, error) {
	c := e.model.Case
	c.Scenario = s
	plan, err := harness.Compile(c, e.model.Options)
	if err != nil {
		return outcome{}, fmt.Errorf("%w, in\n%s", err, s.YAML())
	}
	result, err := runner.Run(plan, seed, false)
	if err != nil {
		if !errors.Is(err, harness.ErrInterrupted) {
			err = fmt.Errorf("%w, in\n%s", err, s.YAML())
		}
		return outcome{}, err
	}
	var o outcome
	for i, p := range Properties {
		o.violated[i] = result.Report.Verdicts[p] == checker.Violated
		o.unknown[i] = result.Report.Verdicts[p] == checker.Undecided
	}
	return o, nil
}

// scenario is a draw as a scenario, with a length of what decides.
func (e *estimator) scenario(d *draw, length time.Duration) *scenarios.Scenario {
	s := parameter.Clone(e.model.Case.Scenario)
	work := d.work
	if d.deciding == byWork {
		work = length
	}
	for i := range s.Clients {
		switch c := &s.Clients[i]; c.Name {
		case e.model.Holder:
			if e.model.Work != nil {
				c.Work = work
			}
		case e.model.Contender:
			c.Start += e.acquiring + d.start
		}
	}
	s.Clocks = withClocks(s.Clocks, d.clocks)
	events := slices.Clone(d.events)
	if d.deciding >= 0 {
		events[d.deciding].length = length
	}
	var hit stratum = make([]int, len(e.model.Hazards))
	copy(hit, d.counts)
	w := e.windowOf(hit, e.takes(work))
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.place, b.place) })
	stood := make(map[string]time.Duration) // how long a node has stood still before
	for _, x := range events {
		at := e.begins + time.Duration(x.place*float64(w.of(x.hazard)))
		if x.hazard.Running {
			at += stood[x.node]
			stood[x.node] += x.length
		}
		s.Faults = append(s.Faults, x.hazard.Faults(x.node, min(at, longest), min(max(x.length, 1), longest))...)
	}
	return s
}
