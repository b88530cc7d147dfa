package minimal

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parameter"
)

// Boundary returns how much of what a violation's scenario has is needed for it, without making the scenario smaller
// first: the sizes of its faults, one by one, all else as it is. Of what cannot be found out within the runs that the
// options allow, and of a violation that cannot be repeated, it tells nothing.
func Boundary(r *harness.Runner, v search.Violation, o Options) []Need {
	red, err := newReducer(r, v, o)
	if err != nil {
		return nil
	}
	steps := &red.now.Bounds.Steps
	*steps = min(*steps, longest*max(red.seen.result.Steps, 1))
	list := red.needs()
	for i := range list {
		if n := &list[i]; n.Most != "" && red.cutShort(n) {
			n.Most, n.HeldAbove, n.most, n.over = "", "", 0, 0
		}
	}
	return list
}

// longest is how many times longer than the violation's own a run may be: of one that is longer nothing is said, since
// somebody waits for it.
const longest = 4

// cutShort reports whether a boundary above is that of the run's end: what would have gone wrong came after it.
func (r *reducer) cutShort(n *Need) bool {
	s := parameter.Clone(r.now)
	s.Until = s.End() + time.Duration(n.over)
	if !turnAll(n.ids, n.over)(s) {
		return false
	}
	seen, _ := r.play(s)
	return seen.result != nil && seen.result.Report.Verdicts[r.sought.Property] == checker.Violated
}
