package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A rehearsal tells at which speed a case can be played on real servers: it is simulated at that speed, with messages as slow
// as those of a machine that has other things to do, and with several seeds. If its verdicts are always those of the
// scenario, then it does not hang on moments that no real machine can hit.

// noise is by how much a message, or a process, may be late on a real machine.
const noise = 8 * time.Millisecond

// rehearsals is how many seeds are played.
const rehearsals = 12

// longest is how long one attempt may take that nobody has asked for.
const longest = 100 * time.Second

// speeds are those that are tried, the fastest first.
var speeds = []float64{20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02}

// judgeable are the properties that can be judged of real servers: of what they grant nobody hears.
var judgeable = []checker.Property{
	checker.MutualExclusion, checker.Resource, checker.FencingOrder, checker.Progress, checker.Availability,
}

// prepare simulates a case, and chooses the speed.
func prepare(runner *harness.Runner, c scenarios.Case, o *Options) (*rehearsed, error) {
	r := &rehearsed{result: Result{Case: c, Outcome: Inconclusive}, original: c, play: o.Play, runner: runner}
	plan, err := harness.Compile(c, o.Play)
	if err != nil {
		return r, err
	}
	simulated, err := r.runner.Run(plan, c.Scenario.Seed, false)
	if err != nil {
		return r, err
	}
	r.result.Simulated, r.result.Faults = simulated.Report, simulated.History.Faults
	if refusal := refuse(plan); refusal != nil {
		r.result.Outcome, r.result.Refusal = Refused, refusal
		return r, nil
	}
	if r.result.Refusal = r.choose(o.Speed, simulated.Virtual); r.result.Refusal != nil {
		r.result.Outcome = Refused
	}
	return r, nil
}

// choose finds the speed to play at: the one that is asked for, or else the first at which the case can be rehearsed. A run
// that takes long has to be asked for.
func (r *rehearsed) choose(asked float64, length trace.Instant) error {
	if asked != 0 {
		return r.rehearse(asked)
	}
	var why error
	for _, speed := range speeds {
		if took := time.Duration(float64(length) / speed); took > longest {
			took = took.Round(time.Second)
			long := fmt.Errorf("at the speed %g it takes %v, and has to be asked for with --speed", speed, took)
			if why != nil {
				long = fmt.Errorf("%w; %w", why, long)
			}
			return long
		}
		if why = r.rehearse(speed); why == nil {
			return nil
		}
	}
	return why
}

// rehearse tries a speed; the error says why it is none to play at.
func (r *rehearsed) rehearse(speed float64) error {
	c := r.original
	if limit := stagingOf(c.Scenario).fastest(c.Scenario); speed > limit {
		return fmt.Errorf("it cannot be played faster than at the speed %g", limit)
	}
	c.Scenario = scale(c.Scenario, speed)
	plan, err := harness.Compile(c, r.play)
	if err != nil {
		return err
	}
	noisy := c
	noisy.Scenario = disturbed(c.Scenario)
	rough, err := harness.Compile(noisy, r.play)
	if err != nil {
		return err
	}
	stable := make(map[checker.Property]bool)
	for _, p := range judgeable {
		simulated := r.result.Simulated.Verdicts[p]
		stable[p] = simulated != checker.NotJudged && simulated != checker.Undecided
	}
	for seed := range uint64(rehearsals) {
		result, err := r.runner.Run(rough, c.Scenario.Seed+seed, false)
		if err != nil {
			return err
		}
		for _, p := range judgeable {
			same := Compare(r.result.Simulated.Verdicts[p], result.Report.Verdicts[p]) <= ExposedOnce
			if _, expected := c.Expected(p); !same && expected && r.result.Simulated.Verdicts[p] != checker.Undecided {
				return fmt.Errorf("%s hangs on moments closer together than a real machine can hit at the speed %g: "+
					"simulated with messages that take up to %v it is not always %s", p, speed, noise, r.result.Simulated.Verdicts[p])
			}
			stable[p] = stable[p] && same
		}
	}
	compared := slices.DeleteFunc(slices.Clone(judgeable), func(p checker.Property) bool { return !stable[p] })
	if len(compared) == 0 {
		return fmt.Errorf("nothing that can be judged of real servers always comes out the same at the speed %g", speed)
	}
	if p, hidden := r.hidden(compared); hidden {
		return fmt.Errorf("what is violated in it is %s, which is judged by what servers grant: of real ones nobody hears it", p)
	}
	r.plan, r.speed, r.result.Compared = plan, speed, compared
	return nil
}

// hidden reports whether a scenario is about a violation that nobody would see, and of what: to find the rest as simulated would be
// no agreement.
func (r *rehearsed) hidden(compared []checker.Property) (of checker.Property, hidden bool) {
	for p, verdict := range r.result.Simulated.Verdicts {
		p := checker.Property(p)
		if _, expected := r.original.Expected(p); !expected || verdict != checker.Violated {
			continue
		}
		if slices.Contains(compared, p) {
			return p, false
		}
		of, hidden = p, true
	}
	return of, hidden
}

// slowDown has the next attempt be played at half the speed, if it can.
func (r *rehearsed) slowDown() {
	was := *r
	if r.rehearse(r.speed/2) != nil {
		*r = was
	}
}

// patience is how late something may be before the run tells less than it should: a fifth of a second of the scenario, and
// what a machine with other things to do needs in any case.
func (r *rehearsed) patience() time.Duration {
	return max(time.Duration(float64(time.Second)/5/r.speed), noise)
}

// disturbed is the scenario with messages that take longer.
func disturbed(s *scenarios.Scenario) *scenarios.Scenario {
	out := *s
	out.Network.Latency = slower(s.Network.Latency)
	if s.Resource.Latency != nil {
		out.Resource.Latency = slower(s.Resource.Latency)
	}
	out.Network.Links = nil
	for _, l := range s.Network.Links {
		l.Latency = slower(l.Latency)
		out.Network.Links = append(out.Network.Links, l)
	}
	return &out
}

func slower(l sim.Latency) sim.Latency {
	if len(l) == 0 {
		return sim.UniformLatency(50*time.Microsecond, noise)
	}
	return sim.UniformLatency(l[0].Delay, l[len(l)-1].Delay+noise)
}
