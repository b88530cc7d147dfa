package checker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// loggedBelief is a belief as a log tells of it.
func loggedBelief(id history.ID, client string, from, to, off int) history.Acquisition {
	return history.Acquisition{
		ID: id, Client: client, Outcome: history.OK, Invoked: trace.Instant(from), Returned: trace.Instant(from), Unlocked: trace.Instant(to),
		Uncertainty: time.Duration(off), Noticed: trace.Never, Crashed: trace.Never, Ended: trace.Never, Released: trace.Never,
	}
}

// placements calls see with every place that the ends of a belief may have had, in the order in which its client took them.
func placements(from, to, off int, see func(from, to int)) {
	for a := from - off; a <= from+off; a++ {
		for b := max(a, to-off); b <= to+off; b++ {
			see(a, b)
		}
	}
}

// An overlap is certain if the beliefs overlap wherever their moments lie, and possible if they do somewhere. Every place is tried.
func TestAnOverlapIsAsSureAsItsMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		from1, from2 := draw("from", 10, 25), draw("from", 10, 25)
		to1, to2 := from1+draw("length", 1, 10), from2+draw("length", 1, 10)
		off1, off2 := draw("off", 0, 4), draw("off", 0, 4)
		always, sometimes := true, false
		placements(from1, to1, off1, func(a, b int) {
			placements(from2, to2, off2, func(c, d int) {
				overlaps := a < d && c < b
				always, sometimes = always && overlaps, sometimes || overlaps
			})
		})
		h := &history.History{Logged: true, Registers: 1, End: 100, Acquisitions: []history.Acquisition{
			loggedBelief(1, "a", from1, to1, off1), loggedBelief(2, "b", from2, to2, off2),
		}}
		r := checker.Check(h, checker.Options{})
		require.Equal(t, sometimes, len(r.Overlaps) == 1)
		if sometimes {
			require.Equal(t, always, r.Overlaps[0].Certain)
		}
		require.Equal(t, always, r.Verdicts[checker.MutualExclusion] == checker.Violated)
		require.Equal(t, sometimes && !always, r.Verdicts[checker.MutualExclusion] == checker.Undecided)
	})
}
