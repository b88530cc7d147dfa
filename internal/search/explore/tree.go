package explore

import (
	"context"
	"errors"
	"iter"
	"math/bits"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parts"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// branch is a schedule that is to be extended: which placement was chosen at each fork.
type branch struct {
	path   []int32
	stands int // for how many schedules, itself included
	forks  int // placements of a further fault
	weight int // for how many these stand
}

// outcome is what came of a schedule.
type outcome struct {
	branch           // if it is to be extended
	key       uint64 // of the run
	faults    uint64 // digest of the schedule
	merges    bool   // it is one with others of its key
	extends   bool
	idle      bool // the last fault found nothing to act on
	contains  bool // a smaller schedule that violates, so that it was not played
	undecided bool
	kind      search.Kind // of the last fault …
	acted     bool        // … which found something to act on
	judged    [checker.PropertyCount]bool
	atRisk    [checker.PropertyCount]bool
	hits      []hit
}

// weight is how many schedules of n faults there are.
func (x *explorer) weight(n int) (sum int) {
	if n > x.options.Most {
		return 0
	}
	for i := range x.frontier {
		sum += x.frontier[i].stands * x.frontier[i].weight
	}
	return sum
}

// level plays all schedules of n faults, and notes those that are to be extended. The error says why not all of them
// were played.
func (x *explorer) level(ctx context.Context, n int) error {
	if x.weight(n) == 0 {
		return nil
	}
	if x.options.StopAtFirst && len(x.sightings) > 0 {
		return errEnough
	}
	seen := make(map[uint64]int) // the key of a run to its place in next
	var violating []uint64
	var next []branch
	err := search.InOrder(ctx, x.options.Jobs, x.tasks(n, x.frontier), func(t *tally) error {
		if t.err != nil {
			return t.err
		}
		if x.parts(n) != nil {
			if err := x.options.Parts.Add(t.part, t.text); err != nil {
				return err
			}
		}
		x.take(t, n)
		violating = append(violating, t.violating...)
		for i := range t.extended {
			o := &t.extended[i]
			if at, ok := seen[o.key]; ok && o.merges {
				next[at].stands += o.stands
				x.result.Levels[n].Same += o.stands
			} else {
				seen[o.key] = len(next)
				next = append(next, o.branch)
			}
		}
		if x.options.Progress != nil {
			x.options.Progress(x.result)
		}
		if x.options.StopAtFirst && len(x.sightings) > 0 {
			return errEnough
		}
		return nil
	})
	for _, faults := range violating {
		x.violating[faults] = true
	}
	x.frontier = next
	return err
}

// parts are what a level is cut into; nil if it is played as a whole, since others follow from it.
func (x *explorer) parts(n int) *parts.Parts {
	if n < x.options.Most {
		return nil
	}
	return x.options.Parts
}

// chunkSize is how many placements a worker takes at once: enough for playing their common beginning again to cost
// little, few enough for an interrupt to be heeded at once.
const chunkSize = 1024

// partSize is how many they are if a line of a ledger is about them: a base has some thousands, for several machines.
const partSize = 64

func (x *explorer) chunkSize(n int) int {
	switch {
	case x.varies:
		return 1
	case x.parts(n) != nil:
		return partSize
	}
	return chunkSize
}

// picked reports whether a placement is one of those that are played, as many as may be.
func (x *explorer) picked(n, i, of int) bool {
	if n > 1 || x.options.Runs == 0 || x.options.Runs >= of {
		return true
	}
	at, _ := bits.Mul64(uint64(i)*golden, uint64(of))
	return at < uint64(x.options.Runs)
}

// golden is 2^64 divided by the golden ratio: its multiples are spread evenly.
const golden = 0x9e3779b97f4a7c15

// tasks cuts a level up.
func (x *explorer) tasks(n int, frontier []branch) iter.Seq[func(*harness.Runner) *tally] {
	return func(yield func(func(*harness.Runner) *tally) bool) {
		size := x.chunkSize(n)
		for i := range frontier {
			b := &frontier[i]
			for from := 0; from < b.forks; from += size {
				to := min(from+size, b.forks)
				if x.varies && !x.picked(n, from, b.forks) {
					continue
				}
				part := x.parts(n).Take()
				if part.Left() {
					continue
				}
				if !yield(func(r *harness.Runner) *tally { return x.part(r, part, b, from, to, n) }) {
					return
				}
			}
		}
	}
}

// part plays some placements of a further fault in a branch, or reads what came of them.
func (x *explorer) part(r *harness.Runner, part parts.Part, b *branch, from, to, n int) (t *tally) {
	known, err := part.Read(func(text []byte) (err error) {
		t, err = x.parse(r, b, text)
		return err
	})
	switch {
	case err != nil:
		return &tally{err: err}
	case !known:
		t = x.chunk(r, b, from, to, n)
	}
	t.part = part
	return t
}

// chunk plays some placements of a further fault in a branch.
func (x *explorer) chunk(r *harness.Runner, b *branch, from, to, n int) *tally {
	faults, forks := x.follow(r, b)
	t := &tally{}
	for i := from; i < to && !r.Stopped(); i++ {
		if !x.picked(n, i, b.forks) {
			continue
		}
		o := x.fork(r, append(slices.Clip(faults), forks[i].fault()), n < x.options.Most)
		o.stands, o.kind = b.stands*forks[i].stands, forks[i].what.kind
		if o.extends {
			o.path = append(slices.Clip(b.path), int32(i))
		}
		t.add(&o, i)
		if x.options.StopAtFirst && len(o.hits) > 0 {
			break
		}
	}
	return t
}

// follow finds the faults of a branch, and what can go wrong besides them.
func (x *explorer) follow(r *harness.Runner, b *branch) (faults []sim.Fault, forks []placement) {
	forks = x.forks
	for _, i := range b.path {
		faults = append(faults, forks[i].fault())
		run, err := x.play(r, faults, true)
		if errors.Is(err, harness.ErrInterrupted) {
			return faults, nil
		}
		if err != nil {
			panic("explore: what was played can be played again, but " + err.Error())
		}
		forks = x.model.placements(&run, &faults[len(faults)-1], x.all)
	}
	return faults, forks
}

// fork plays one schedule.
func (x *explorer) fork(r *harness.Runner, faults []sim.Fault, extend bool) (o outcome) {
	o.faults = digestOf(faults)
	if o.contains = !x.options.whole && x.containsViolating(faults); o.contains {
		return o
	}
	run, err := x.play(r, faults, extend)
	if err != nil { // the lock's own code panicked, or would not end
		o.undecided = true
		return o
	}
	latest := &faults[len(faults)-1]
	o.acted = latest.Action.Kind == sim.SameRandom || fired(&run)
	o.idle = !o.acted
	x.judge(r, &run, faults, &o)
	if o.extends = extend && (!o.idle && len(o.hits) == 0 || x.options.whole); o.extends {
		forks := x.model.placements(&run, latest, x.all)
		o.forks, o.weight = len(forks), weigh(forks)
		o.key, o.merges = keyOf(&run), !x.all && leaveNothing(faults, x.base.Scenario)
	}
	return o
}

// fired reports whether the last fault of a run found something to act on.
func fired(run *harness.Result) bool {
	faults := run.History.Faults
	return faults[len(faults)-1].Fired
}

// play plays the base with faults in addition to its own.
func (x *explorer) play(r *harness.Runner, faults []sim.Fault, keep bool) (harness.Result, error) {
	c := x.with(faults)
	plan, err := harness.Compile(c, x.options.Play)
	if err != nil {
		return harness.Result{}, err
	}
	return r.Run(plan, c.Scenario.Seed, keep)
}

// with returns the base with faults in addition to its own.
func (x *explorer) with(faults []sim.Fault) scenarios.Case {
	c := x.base
	s := *c.Scenario
	s.Faults = append(slices.Clip(s.Faults), faults...)
	c.Scenario = &s
	return c
}

// containsViolating reports whether a schedule is known to violate without some of its faults. Those that lack the last
// one do not: they have been extended to this one.
func (x *explorer) containsViolating(faults []sim.Fault) bool {
	if len(x.violating) == 0 {
		return false
	}
	others := len(faults) - 1
	part := make([]sim.Fault, 0, len(faults))
	for set := range 1<<others - 1 { // not all of the others
		part = part[:0]
		for i := range others {
			if set>>i&1 == 1 {
				part = append(part, faults[i])
			}
		}
		if x.violating[digestOf(append(part, faults[others]))] {
			return true
		}
	}
	return false
}

// digestOf condenses a schedule.
func digestOf(faults []sim.Fault) uint64 {
	var d trace.Digest
	for i := range faults {
		d.String(faults[i].String())
	}
	return d.Sum()
}
