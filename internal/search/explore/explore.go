// Package explore plays every placement of a few faults at every step of a base run, and so can say that there is no
// violation among them.
//
// Call [Explore] with a base: a scenario in one case, such as [Base] makes for a lock. It plays the base, then the base
// with one fault of a fault model at each step, then each of these runs with a second fault at each of its own steps from the
// first fault on, and so forth: a tree in which a run's steps are known from having played it. It does not play
//
//   - what is the same run under another name (see sameMoment, slips and keyOf),
//   - what comes too late to harm anybody (see stake),
//   - what follows a fault that found nothing to act on: the same follows without it,
//   - what contains a schedule that violates: that one says it with fewer faults.
//
// What it finds is made minimal, and grouped by what it needs.
//
// It does the same, with one fault at most, to the variations of the base that it is given, as [Variations] makes them.
//
// It says nothing of other bases: another seed, latency, order of what happens at one instant; of magnitudes that are
// not in the fault model; and of faults that act between steps, in which nothing of the run's own happens, or at the heartbeats
// of servers.
package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parts"
	"github.com/locksim/locksim/scenarios"
)

// Options says what is explored.
type Options struct {
	Play   harness.Options // with which every schedule is played
	Faults []search.Kind   // in the fault model, but for those that can do nothing to the base; those of Usual if none
	Full   bool            // the fault model has short faults, too, not only long ones
	Most   int             // how many faults a schedule has at most: one, of a program whose runs may differ
	// Runs limits how many schedules of one fault are played; 0: all. They are drawn evenly.
	Runs int
	// Variations are other bases, on the same servers and with clients of the same names. A schedule of theirs has one fault
	// at most: they have about twice the steps, and what two faults do to them takes four times as long as in the base.
	Variations  []scenarios.Case
	Properties  []checker.Property // of which violations count; those of DefaultProperties, and of a program's survival
	StopAtFirst bool               // a violation is enough
	Jobs        int                // runs at once; what is found does not depend on it
	// Parts are pieces of the schedules with the most faults, nearly all of the work: which are played here, and what is known of others.
	// Those with fewer faults are played by all who share an exploration. If some are left to others, nothing is made minimal. nil: all.
	Parts *parts.Parts
	// Progress is called from time to time with what has been covered. It may be nil.
	Progress func(*Result)
	// Reducing is called when the exploration has ended, be it early. What was found is then made minimal until the context is
	// done that it returns; what is not minimal by then is a rough counterexample. It is told whether the context of the
	// exploration was cancelled before that came to its end. nil: to the end.
	Reducing func(interrupted bool) (ctx context.Context, stop func())

	whole bool // place and play all, also what is known to be the same or to contain a smaller violation: for tests
	_     struct{}
}

// DefaultProperties lists what a lock is expected to keep. That somebody acquires while faults last is not among it, nor what
// only some locks promise: that nothing is left behind, that no loss is silent, and how much is sent. A program is expected to
// survive, too.
func DefaultProperties() (list []checker.Property) {
	for p := range checker.PropertyCount {
		switch p {
		case checker.Availability, checker.Survival, checker.Leak, checker.SilentLoss, checker.RequestLoad:
		default:
			list = append(list, p)
		}
	}
	return list
}

// errEnough ends an exploration that has found what it was to find.
var errEnough = errors.New("a violation is enough")

// Explore explores a base, with the scenario's own seed. The error says that the base cannot be played. If the context
// is done early the result says what was covered until then; if that is while only some of the parts are played, the error says so, too.
func Explore(ctx context.Context, base scenarios.Case, o Options) (*Result, error) {
	if len(o.Properties) == 0 {
		o.Properties = DefaultProperties()
		if lock, _ := o.Play.Lock(base.Scenario); lock.Program != nil {
			o.Properties = append(o.Properties, checker.Survival)
		}
	}
	asked := o.Faults
	if len(asked) == 0 {
		asked, o.Faults = search.Kinds(), Usual(base.Scenario)
	}
	found := &findings{known: make(map[cause]int), result: &Result{Base: base, Most: o.Most, Properties: o.Properties}}
	x := newExplorer(base, o, found)
	if o.Most > 0 && len(x.model.kinds) == 0 {
		return nil, fmt.Errorf("none of these faults can do anything to %s: %s",
			base.Scenario.Servers.Title(), kindsInWords(o.Faults))
	}
	x.result.Model = x.model.words()
	if x.varies && o.Most > mostOfVaried {
		return nil, fmt.Errorf("no second fault can be placed in the run that has the first, since runs of %s may differ",
			base.Scenario.Lock.Algorithm)
	}
	all := []*explorer{x}
	o.Most = min(o.Most, mostOfVariations)
	for _, v := range o.Variations {
		all = append(all, newExplorer(v, o, found))
	}
	for _, e := range all {
		if err := e.root(ctx); err != nil {
			return nil, err
		}
	}
	err := deepen(ctx, all)
	if ended := ctx.Err() != nil || errors.Is(err, errEnough); o.Parts.Partial() || err != nil && !ended {
		return x.result, err
	}
	x.result.NeverActed = x.neverActed(asked)
	x.result.Complete, x.result.Interrupted = err == nil && x.result.whole(), errors.Is(err, context.Canceled)
	ctx = context.WithoutCancel(ctx) // what was found is worth the time that it takes, even after an interrupt
	if o.Reducing != nil {
		until, stop := o.Reducing(x.result.Interrupted)
		defer stop()
		ctx = until
	}
	return x.result, x.reduce(ctx)
}

// whole reports whether no limit kept schedules from being played.
func (r *Result) whole() bool {
	return !slices.ContainsFunc(r.Levels, func(l Level) bool { return l.Covered < l.Placements })
}

// mostOfVaried is how many faults a schedule of a program has at most whose runs may differ: the second would be placed in another run
// than the one that had the first.
const mostOfVaried = 1

// mostOfVariations is how many faults a schedule of a variation has at most.
const mostOfVariations = 1

// newExplorer returns the exploration of one base, which enters what it finds among the findings of others.
func newExplorer(base scenarios.Case, o Options, found *findings) *explorer {
	lock, _ := o.Play.Lock(base.Scenario)
	return &explorer{
		base: base, options: o, model: newModel(base.Scenario, o.Faults, o.Full), violating: make(map[uint64]bool), varies: lock.Varies(),
		// Whether somebody acquires while faults last is a matter of when they act, even if it changes nothing else.
		all: o.whole || slices.Contains(o.Properties, checker.Availability), findings: found,
	}
}

// deepen plays the schedules of one fault of all bases, then those of two, and so on. The error says why not all of
// them were played.
func deepen(ctx context.Context, all []*explorer) error {
	result := all[0].result
	for n := 1; n <= result.Most; n++ {
		var level Level
		for _, x := range all {
			level.Placements += x.weight(n)
		}
		if level.Placements == 0 {
			return nil
		}
		result.Levels = append(result.Levels, level)
		for _, x := range all {
			if err := x.level(ctx, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// neverActed lists the kinds of faults that were asked for and can do something to the base, but never did.
func (x *explorer) neverActed(asked []search.Kind) []search.Kind {
	if x.result.Most == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(asked), func(k search.Kind) bool {
		return slices.Contains(x.result.Acted, k) || !x.model.hasUse(k, &x.base.Scenario.Servers)
	})
}

// findings are what explorations of several bases have come to.
type findings struct {
	result    *Result
	known     map[cause]int // the place of each cause in sightings
	sightings []sighting
}

// explorer is the exploration of one base. What workers read of it does not change while a level is played.
type explorer struct {
	base    scenarios.Case
	options Options
	model   *model
	all     bool        // place faults also where others do the same
	varies  bool        // the lock is that of a program whose runs are slow, and may differ (see locks.Algorithm.Varies)
	forks   []placement // of a first fault
	*findings

	frontier  []branch        // what is to be extended
	violating map[uint64]bool // schedules that violate, by the digest of their faults
}

// root plays the base, which is to be extended if it does not violate by itself.
func (x *explorer) root(ctx context.Context) error {
	r := harness.Runner{Stop: search.Until(ctx)}
	defer r.Close()
	run, err := x.play(&r, nil, true)
	if err != nil {
		return err
	}
	if len(x.result.Levels) == 0 {
		x.result.Levels = []Level{{}}
		x.result.Digest, x.result.Steps = run.Digest, len(run.Events)
		if err := x.repeat(&r, &run); err != nil {
			return err
		}
	} else {
		x.result.Variations = append(x.result.Variations, Variation{x.base, run.Digest, len(run.Events)})
	}
	o, t := outcome{branch: branch{stands: 1}}, &tally{}
	x.judge(&r, &run, nil, &o)
	x.result.Levels[0].Placements++
	t.add(&o, 0)
	x.take(t, 0)
	if len(o.hits) == 0 {
		x.model.blind = x.varies
		x.forks = x.model.placements(&run, nil, x.all)
		x.frontier = []branch{{stands: 1, forks: len(x.forks), weight: weigh(x.forks)}}
	}
	return nil
}

// repeat plays the base again if its runs may differ.
func (x *explorer) repeat(r *harness.Runner, first *harness.Result) error {
	if !x.varies {
		return nil
	}
	x.result.Repeated = &search.Sameness{}
	x.result.Repeated.Add(first)
	for range search.Repeats - 1 {
		run, err := x.play(r, nil, true)
		if err != nil {
			return err
		}
		x.result.Repeated.Add(&run)
	}
	return nil
}
