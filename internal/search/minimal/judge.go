package minimal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// judge plays scenarios and says whether they show the violation that is sought.
type judge struct {
	runner *harness.Runner
	sought search.Violation
	runs   int
	steps  int       // of all runs
	most   Options   // how many runs, and steps of them, may be played, and until when
	tried  *attempts // whose runs need not be played again; nil: all are
	cut    bool      // a run was interrupted: the work is over
	varies bool      // the lock is that of a program whose runs are slow, and may differ
}

// sighting is what was seen in a run.
type sighting struct {
	result    *harness.Result    // nil if nothing could be played
	violation *checker.Violation // the sought one; nil if the run does not show it
}

// play plays a scenario that has one case, and reports whether the run shows the violation: the same property, in the
// same kind of way, and every fault of the scenario has happened.
func (j *judge) play(s *scenarios.Scenario) (sighting, bool) {
	seen := sighting{result: j.run(s)}
	if seen.result == nil || seen.idle(s.Faults) > 0 {
		return seen, false
	}
	for i := range seen.result.Report.Violations {
		x := &seen.result.Report.Violations[i]
		if x.Property == j.sought.Property && x.Kind == j.sought.Kind && !j.forgives(seen.result, x) {
			seen.violation = x
			return seen, true
		}
	}
	return seen, false
}

func (j *judge) forgives(r *harness.Result, v *checker.Violation) bool {
	return j.most.Forgives != nil && j.most.Forgives(r.History, v)
}

// run returns what comes of a scenario; nil if it cannot be played.
func (j *judge) run(s *scenarios.Scenario) *harness.Result {
	if j.tried == nil {
		return j.playOut(s)
	}
	if result, ok := j.tried.find(s); ok {
		j.runs++
		return result
	}
	result := j.playOut(s)
	j.tried.add(s, result)
	return result
}

// playOut plays it. A panic, which is the simulator's own mistake, passes on with the scenario that shows it.
func (j *judge) playOut(s *scenarios.Scenario) *harness.Result {
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("minimal: %v\nwhile playing\n%s", p, s.YAML()))
		}
	}()
	plan, err := harness.Compile(s.Cases()[0], j.sought.Options)
	if err != nil {
		return nil
	}
	j.runs++
	result, err := j.runner.Run(plan, s.Seed, false)
	j.steps += result.Steps
	if err != nil {
		j.cut = j.cut || errors.Is(err, harness.ErrInterrupted)
		return nil
	}
	return &result
}

// participants returns the acquisitions that take part in the violation, in the order in which they succeeded.
func (s *sighting) participants() []*history.Acquisition {
	var list []*history.Acquisition
	for _, id := range s.violation.Acquisitions {
		if a := s.result.History.Acquisition(id); a != nil {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *history.Acquisition) int { return cmp.Compare(a.Returned, b.Returned) })
	return list
}

// spent reports whether no more runs may be played.
func (j *judge) spent() bool {
	is := func(count, most int) bool { return most > 0 && count >= most }
	return is(j.runs, j.most.Runs) || is(j.steps, j.most.Steps) || j.ended() != nil
}

// ended says why the work was ended before its end; nil if it was not.
func (j *judge) ended() error {
	switch {
	case j.cut:
		return harness.ErrInterrupted
	case j.most.Context == nil:
		return nil
	}
	return context.Cause(j.most.Context)
}

// failed is the error of a violation that is not shown again: that a run was interrupted, if one was.
func (j *judge) failed(format string, args ...any) error {
	if j.cut {
		return harness.ErrInterrupted
	}
	err := fmt.Errorf(format, args...)
	if j.varies {
		err = fmt.Errorf("%w: %w, in %d runs", ErrVaries, err, search.Repeats)
	}
	return err
}
