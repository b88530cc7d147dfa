package explore

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// Result is what an exploration has covered and found.
type Result struct {
	Base        scenarios.Case
	Digest      uint64                     // of the base's run
	Steps       int                        // of the base's run
	Repeated    *search.Sameness           // how alike runs of the base are, if the lock's may differ; else nil
	Variations  []Variation                // that were explored, too
	Model       []string                   // what could go wrong, in words: a line for each kind of fault
	Most        int                        // how many faults a schedule has at most
	Properties  []checker.Property         // of which violations count
	Levels      []Level                    // of no fault, of one, and so on
	Complete    bool                       // all schedules are covered
	Interrupted bool                       // the context was cancelled before they were
	Judged      [checker.PropertyCount]int // in how many of the played runs a property was judged
	AtRisk      [checker.PropertyCount]int // and in how many of them it was at risk
	Violated    [checker.PropertyCount]int // and in how many it was violated
	Acted       []search.Kind              // kinds with a fault that found something to act on, in the order in which they did
	NeverActed  []search.Kind              // kinds without one, though they were asked for and can do something to the base
	Findings    []Finding
	Left        int // causes that were not made minimal: of a program, whose runs are slow, or do not show them again
	_           struct{}
}

// Variation is another base, which was explored with fewer faults.
type Variation struct {
	scenarios.Case
	Digest uint64
	Steps  int
}

// Level is what has been covered of the schedules with a number of faults. All but Played count schedules, each as often as
// there are others that are the same run.
type Level struct {
	Placements int // that there are
	Covered    int // of them
	Played     int // runs
	Same       int // not extended, since what follows is the same as after another schedule
	Idle       int // whose last fault found nothing to act on: these are no schedules with that many faults
	Contain    int // not played, since they contain a smaller schedule that violates
	Violating  int // that violate a property, and are not extended
	Undecided  int // of which not all can be said: cut short, or the lock's code panicked
	_          struct{}
}

// Merged returns how many schedules were not played because they are the same run as others.
func (l *Level) Merged() int { return l.Covered - l.Contain - l.Played }

// Schedules returns how many schedules are covered: played, or known to be the same run as one that was.
func (r *Result) Schedules() int { return r.sum(func(l *Level) int { return l.Covered - l.Idle }) }

// Played returns how many runs were played.
func (r *Result) Played() int { return r.sum(func(l *Level) int { return l.Played }) }

// Merged returns how many schedules were not played because they are the same run as others.
func (r *Result) Merged() int { return r.sum((*Level).Merged) }

// Violating returns how many schedules violate a property.
func (r *Result) Violating() int { return r.sum(func(l *Level) int { return l.Violating }) }

// Undecided returns of how many schedules not all can be said.
func (r *Result) Undecided() int { return r.sum(func(l *Level) int { return l.Undecided }) }

func (r *Result) sum(of func(*Level) int) (n int) {
	for i := range r.Levels {
		n += of(&r.Levels[i])
	}
	return n
}
