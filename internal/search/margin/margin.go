// Package margin says of a property that held by how much: the smallest changes of lengths of the scenario (of a fault, of a
// client's work, of a message's way, of the lease) with which the property is violated. It plays the scenario with ever larger
// changes of each, and bisects.
package margin

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// Margin is the smallest change of one length, upwards or downwards, that violates a property that held without it.
type Margin struct {
	Property checker.Property
	What     string         // which length: "pause of a", "lease", "latency"
	From, To time.Duration  // what it is, and the closest to that with which the property is violated
	Kept     time.Duration  // the farthest towards To with which it is not
	Case     scenarios.Case // with To
	_        struct{}
}

// By is the size of the change.
func (m *Margin) By() time.Duration { return max(m.To-m.From, m.From-m.To) }

// share is the change in thousandths of what is changed. What is drawn has no size, and is changed most.
func (m *Margin) share() int64 {
	if m.From == 0 {
		return math.MaxInt64
	}
	return int64(m.By() / (m.From/1000 + 1))
}

// Bounds of the search, which must not take noticeable time. They are in steps of the engine and in runs, so that the result does
// not depend on the speed of the machine.
const (
	mostSteps = 400_000
	mostRuns  = 1_000
	longest   = 4 // times as long as the run that held may one be that is tried
)

// Of looks for the margins of properties that held in a run of a case, changing each length by up to [Most]. It returns those of
// one property after the other, the smallest in relation to its length first; false if there were not enough steps to try all
// changes, so that smaller ones may be missing.
func Of(runner *harness.Runner, c scenarios.Case, was *harness.Result, properties []checker.Property, o harness.Options) ([]Margin, bool) {
	list := lengths(c.Scenario)
	s := &search{runner: runner, of: c, seed: was.Seed, play: o, steps: longest * max(was.Steps, 1), left: mostSteps}
	runs := min(mostRuns, mostSteps/max(was.Steps, 1))
	if a, ok := o.Lock(c.Scenario); ok && a.Program != nil {
		runs = 1 // a guest program is slow, so that as few changes are tried as can be
	}
	s.tried = changes(c.Scenario, runs/(4*len(list)))
	var open [checker.PropertyCount]bool
	for _, p := range properties {
		open[p] = true
	}
	for _, l := range list {
		s.widen(&l, 1, open)
		s.widen(&l, -1, open)
	}
	slices.SortStableFunc(s.found, func(a, b Margin) int {
		return cmp.Or(cmp.Compare(a.Property, b.Property), cmp.Compare(a.share(), b.share()))
	})
	return s.found, !s.over
}

// Most is the largest change that is tried in a scenario: three leases.
func Most(s *scenarios.Scenario) time.Duration { return 3 * s.Lock.TTL }

// changes are the sizes of the changes that are tried of each length, from a thousandth of a lease on, so that they take no more
// runs than that. What is violated only between two of them is missed.
func changes(s *scenarios.Scenario, runs int) []time.Duration {
	var list []time.Duration
	for _, part := range []time.Duration{4, 2, 1} {
		list = list[:0]
		for by := max(s.Lock.TTL/1000, time.Millisecond); by < Most(s); by += max(by/part, time.Millisecond) {
			list = append(list, by)
		}
		if len(list) < runs {
			break
		}
	}
	return append(list, Most(s))
}

// search is the work.
type search struct {
	runner *harness.Runner
	of     scenarios.Case
	seed   uint64
	play   harness.Options
	steps  int // of each run at most
	left   int // steps that may still be played
	over   bool
	tried  []time.Duration
	found  []Margin
}

// widen changes a length in one direction, ever more, until every property that held is violated.
func (s *search) widen(l *length, direction time.Duration, open [checker.PropertyCount]bool) {
	var kept [checker.PropertyCount]time.Duration // the largest change with which it is not violated
	for _, by := range s.tried {
		if !l.allows(direction*by) || !slices.Contains(open[:], true) {
			return
		}
		seen := s.run(l, direction*by)
		for p := range checker.PropertyCount {
			switch {
			case !open[p]:
			case seen.violates(p):
				s.found = append(s.found, s.bisect(p, l, direction, kept[p], by, seen))
				open[p] = false
			case seen.keeps(p):
				kept[p] = by
			case seen.result != nil:
				open[p] = false // it cannot be told, and nothing is said of what is farther away
			}
		}
	}
}

// outcome is a run with a changed number. It has no result if it could not be played.
type outcome struct {
	of     scenarios.Case
	result *harness.Result
}

func (o *outcome) violates(p checker.Property) bool {
	return o.result != nil && o.result.Report.Verdicts[p] == checker.Violated
}

func (o *outcome) keeps(p checker.Property) bool {
	return o.result != nil && o.result.Report.Verdicts[p].Kept()
}

// bisect finds the smallest change between one with which a property is kept and one with which it is violated.
func (s *search) bisect(p checker.Property, l *length, direction, kept, by time.Duration, seen outcome) Margin {
	for {
		unit := digit(by)
		middle := (kept + by) / 2 / unit * unit
		if middle <= kept || middle >= by {
			break
		}
		now := s.run(l, direction*middle)
		if now.violates(p) {
			by, seen = middle, now
			continue
		}
		if !now.keeps(p) {
			break // it cannot be told, so what is known is told
		}
		kept = middle
	}
	return Margin{Property: p, What: l.what, From: l.size, To: l.size + direction*by, Kept: l.size + direction*kept, Case: seen.of}
}

// digit is the unit of the third digit of a change, which is the last that is told of it.
func digit(by time.Duration) time.Duration {
	unit := time.Microsecond
	for by >= 1000*unit {
		unit *= 10
	}
	return unit
}

// run plays the case with a number changed by so much.
func (s *search) run(l *length, by time.Duration) outcome {
	if s.over = s.over || s.left <= 0 || s.runner.Stopped(); s.over {
		return outcome{}
	}
	c := s.of
	c.Scenario = l.changed(c.Scenario, by)
	c.Scenario.Bounds.Steps = min(c.Scenario.Bounds.Steps, s.steps)
	plan, err := harness.Compile(c, s.play)
	if err != nil {
		return outcome{} // there is no such size: the servers or the lock refuse it
	}
	result, err := s.runner.Run(plan, s.seed, false)
	if err != nil {
		s.over = errors.Is(err, harness.ErrInterrupted)
		return outcome{}
	}
	s.left -= result.Steps
	return outcome{of: c, result: &result}
}
