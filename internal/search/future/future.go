// Package future says from which moment of a run on what it violates came about whatever was drawn at random, and which change would
// have prevented it. It plays futures: runs that keep all that was drawn up to a moment, and draw again after it. The faults of the
// scenario are the same in all of them.
package future

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Fate says when a violation could no longer be prevented by chance.
type Fate struct {
	// From is the first moment of the run from which on all futures that were played violate the property, Played of them. It is [Start]
	// if runs with other seeds do so, too. It is the violation's own moment if no earlier one is known; then none were played, since what has happened is
	// in all of its futures.
	From   trace.Instant
	Played int
	// Before is the moment of the run before From; of Others futures that were played from there Kept do not violate the property.
	// None were played if From is Start.
	Before       trace.Instant
	Others, Kept int
	_            struct{}
}

// Start is the moment before anything was drawn.
const Start = trace.Instant(-1)

// Bounds of the search, which must not take noticeable time. They are in steps of the engine and in runs, so that the result does not
// depend on the speed of the machine.
const (
	mostSteps   = 400_000
	mostFutures = 50 // of a moment that a bisection tries
	confirming  = 3  // times as many confirm what it finds
	fewest      = 10 // fewer would say too little
	batches     = 10 // about as many are played for a run: the bisection of some dozen moments, and what confirms it
)

// futures is the work on the futures of one run.
type futures struct {
	runner  *harness.Runner
	plan    *harness.Plan
	seed    uint64
	of      checker.Property
	moments []moment // Start, and those of the run up to the violation
	each    int      // as many futures are played of a moment
	left    int      // steps that may still be played
	over    bool
	drawn   uint64 // other seeds that have been used
}

// moment is a moment of the run, and what became of the futures that were played from there.
type moment struct {
	at                   trace.Instant
	played, broken, kept int // a future may also end without a verdict
}

// Of finds when a violation of a run could no longer be prevented by chance. A bisection finds a moment from which on all futures violate the
// property, and others from there, and from the later moments, confirm it: if one of those escapes, the search goes on behind its
// moment. So what is said of From does not rest on the futures by which it was chosen alone. It is false if there were too few steps,
// or futures were interrupted. Of guest programs, which are slow and whose own runtimes draw random numbers, only Start is tried.
func Of(runner *harness.Runner, plan *harness.Plan, was *harness.Result, x *checker.Violation) (Fate, bool) {
	f := &futures{runner: runner, plan: plan, seed: was.Seed, of: x.Property, left: mostSteps}
	f.each = min(mostFutures, mostSteps/(batches*max(was.Steps, 1)))
	if f.each < fewest {
		return Fate{}, false
	}
	if plan.Programs() {
		f.each = fewest
	}
	f.moments = append([]moment{{at: Start}}, momentsOf(was.History, x.At)...)
	if first := &f.moments[0]; f.all(first, (1+confirming)*f.each) {
		return Fate{From: Start, Played: first.played}, true
	}
	if f.over || plan.Programs() {
		return Fate{}, false
	}
	low := 0
	for {
		high := f.bisect(low)
		if escape := f.confirm(high); escape > 0 {
			low = escape
			continue
		}
		before, from := &f.moments[high-1], &f.moments[high]
		for n := 0; n < f.each && !f.over; n++ {
			f.play(before)
		}
		return Fate{
			From: from.at, Played: from.played, Before: before.at, Others: before.played, Kept: before.kept,
		}, !f.over
	}
}

// bisect returns the first moment behind one of which no future is known to escape, if those of all later ones do not either. The last is
// the violation's own, which needs no futures.
func (f *futures) bisect(low int) int {
	high := len(f.moments) - 1
	for high-low > 1 {
		middle := (low + high) / 2
		if f.all(&f.moments[middle], f.each) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// confirm plays more futures of a moment, and some from the later ones. It returns the last moment of which one escapes; 0 if none does.
func (f *futures) confirm(from int) (escape int) {
	last := len(f.moments) - 1
	for i := from; i < last; i++ {
		n := confirming * f.each
		if i > from {
			n = 1 + f.each/(last-from)
		}
		if !f.all(&f.moments[i], n) {
			escape = i
		}
	}
	return escape
}

// all plays more futures of a moment, and reports whether every one that was ever played of it violates the property.
func (f *futures) all(m *moment, more int) bool {
	for ; more > 0 && m.broken == m.played && !f.over; more-- {
		f.play(m)
	}
	return m.broken == m.played && !f.over
}

// play plays another future of a moment.
func (f *futures) play(m *moment) {
	if f.over = f.over || f.left <= 0 || f.runner.Stopped(); f.over {
		return
	}
	f.drawn++
	other := f.seed + f.drawn*golden
	var result harness.Result
	var err error
	if m.at == Start {
		result, err = f.runner.Run(f.plan, other, false)
	} else {
		result, err = f.runner.Future(f.plan, f.seed, sim.Redraw{After: m.at, Seed: other})
	}
	if err != nil {
		f.over = true
		return
	}
	f.left -= result.Steps
	m.played++
	switch verdict := result.Report.Verdicts[f.of]; {
	case verdict == checker.Violated:
		m.broken++
	case verdict.Kept():
		m.kept++
	}
}

// golden leads from a seed to others that are far from those which a user would try next: 2^64 divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// momentsOf lists the moments of a history up to a violation, at which something happened that a reader is told of.
func momentsOf(h *history.History, until trace.Instant) []moment {
	list := []trace.Instant{until}
	add := func(moments ...trace.Instant) {
		for _, at := range moments {
			if at >= 0 && at < until {
				list = append(list, at)
			}
		}
	}
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		add(a.Returned, a.Noticed, a.Unlocked, a.Crashed)
	}
	for i := range h.Grants {
		add(h.Grants[i].From, h.Grants[i].To)
	}
	for i := range h.Faults {
		if f := &h.Faults[i]; f.Fired {
			add(f.Begin, f.End)
		}
	}
	for i := range h.Accesses {
		add(h.Accesses[i].Applied)
	}
	slices.Sort(list)
	var found []moment
	for _, at := range slices.Compact(list) {
		found = append(found, moment{at: at})
	}
	return found
}
