package checker

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// drawIntervals draws intervals on so few moments that touching, empty and equal ones are common.
func drawIntervals(t *rapid.T, most int) []interval {
	n := rapid.IntRange(0, most).Draw(t, "n")
	span := rapid.IntRange(1, 40).Draw(t, "span")
	moment := rapid.IntRange(0, span)
	list := make([]interval, n)
	for i := range list {
		from := trace.Instant(moment.Draw(t, "from"))
		to := from + trace.Instant(rapid.IntRange(0, 1+span/8).Draw(t, "length"))
		if rapid.IntRange(0, 15).Draw(t, "open") == 0 {
			to = trace.Never
		}
		o := owner{rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "client"), rapid.IntRange(0, 1).Draw(t, "task")}
		list[i] = newInterval(from-trace.Instant(rapid.IntRange(0, 9).Draw(t, "asked")), from, to, o, history.ID(i+1))
	}
	return list
}

// overlapping is the definition, over all pairs: one begins before the other ends, and the other way round; but two
// of one owner do not count where no third is involved, so they are compared as they are before they are joined.
func overlapping(list []interval) bool {
	for i := range list {
		for k := range list[:i] {
			a, b := &list[i], &list[k]
			if a.owner != b.owner && a.from < b.to && b.from < a.to {
				return true
			}
		}
	}
	return false
}

func TestIntervalScanAgreesWithPorcupineAndTheDefinition(t *testing.T) {
	seen := map[bool]int{}
	checkOften(t, func(t *rapid.T) { // with -short, too few examples for both answers to be seen often
		list := drawIntervals(t, 9)
		want := overlapping(list)
		v := newIntervals(list)
		pairs := 0
		found := v.scan(1000, func(first, second *interval) {
			require.True(t, first.from < second.to && second.from < first.to)
			pairs++
		})
		require.Equal(t, pairs, found.pairs)
		require.Equal(t, want, found.pairs > 0)
		require.Equal(t, !want, exclusive(v.list, &room{}))
		if want {
			require.False(t, exclusive(aroundFirst(v.list, found.first), &room{}))
		}
		seen[want]++
	})
	require.Greater(t, seen[true], 10)
	require.Greater(t, seen[false], 10)
}

func TestWindowAroundFirstOverlapOfALongHistoryIsShortAndOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(21, 80).Draw(t, "n")
		list := make([]interval, n)
		for i := range list {
			from := trace.Instant(10 * i)
			list[i] = newInterval(from, from, from+10, owner{string(rune('a' + i%5)), 0}, history.ID(i+1))
		}
		k := rapid.IntRange(0, n-2).Draw(t, "overrun")
		list[k].to += trace.Instant(rapid.IntRange(1, 10*n).Draw(t, "by"))
		list[k].owner.client = "z"
		v := newIntervals(list)
		found := v.scan(trace.Never, func(_, _ *interval) {})
		require.Positive(t, found.pairs)
		window := aroundFirst(v.list, found.first)
		require.LessOrEqual(t, len(window), alwaysSections)
		require.False(t, exclusive(window, &room{}))
	})
}

// TestScanCountsWhatTwoLoopsCount compares the sums of the scan with sums over every moment and every pair.
func TestScanCountsWhatTwoLoopsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := newIntervals(drawIntervals(t, 9))
		const end = 45
		found := v.scan(end, func(_, _ *interval) {})
		var pairs int
		var longest, total trace.Instant
		for i := range v.list {
			for k := range v.list[:i] {
				a, b := v.list[k], v.list[i]
				if a.from < b.to && b.from < a.to {
					pairs++
					longest = max(longest, min(a.to, b.to, max(end, b.from))-b.from)
				}
			}
		}
		for at := range trace.Instant(end) {
			covering := 0
			for i := range v.list {
				if v.list[i].from <= at && at < v.list[i].to {
					covering++
				}
			}
			if covering > 1 {
				total++
			}
		}
		require.Equal(t, pairs, found.pairs)
		require.Equal(t, longest, found.longest)
		if len(v.list) == 0 || v.list[len(v.list)-1].from < end {
			require.Equal(t, total, found.total)
		}
	})
}

func TestOthersInFindsExactlyTheIntervalsOfOthers(t *testing.T) {
	long := 0
	checkOften(t, func(t *rapid.T) {
		list := make([]interval, rapid.IntRange(0, 60).Draw(t, "n"))
		for i := range list {
			from := trace.Instant(rapid.IntRange(0, 200).Draw(t, "from"))
			to := from + trace.Instant(rapid.IntRange(0, 9).Draw(t, "length"))
			o := owner{string(rune('a' + i%7)), i % 2}
			list[i] = newInterval(from, from, to, o, history.ID(i+1))
		}
		v := newIntervals(list)
		if v.reach != nil {
			long++
		}
		from := trace.Instant(rapid.IntRange(0, 210).Draw(t, "from"))
		to := from + trace.Instant(rapid.IntRange(1, 9).Draw(t, "length"))
		me := owner{rapid.SampledFrom([]string{"a", "b", "z"}).Draw(t, "me"), rapid.IntRange(anyTask, 1).Draw(t, "task")}
		want := false
		for i := range v.list {
			x := &v.list[i]
			same := x.owner.client == me.client && (me.task == anyTask || x.owner.task == me.task)
			want = want || !same && x.from < to && from < x.to
		}
		require.Equal(t, want, v.othersIn(from, to, me))
	})
	require.Greater(t, long, 10)
}

func TestPorcupineIsAskedOfShortSampledAndAccusedBeliefs(t *testing.T) {
	inTurn := func(n int) intervals {
		list := make([]interval, n)
		for i := range list {
			list[i] = newInterval(trace.Instant(i), trace.Instant(i), trace.Instant(i+1), owner{"a", i}, history.ID(i+1))
		}
		return newIntervals(list)
	}
	cases := []struct {
		n       int
		sample  bool
		overlap bool
		asked   int
	}{
		{20, false, false, 20},
		{21, false, false, 0},
		{21, true, false, 21},
		{2000, true, false, 2000},
		{2001, true, false, 0},
		{21, false, true, 20},
		{2001, true, true, 20},
	}
	for _, c := range cases {
		j := &judge{h: &history.History{}, held: inTurn(c.n), o: Options{Sample: c.sample}}
		if c.overlap {
			j.held.list[c.n-2].to = trace.Never
		}
		j.double = j.held.scan(trace.Never, func(_, _ *interval) {})
		asked, _ := j.porcupineOnBeliefs()
		require.Len(t, asked, c.asked, c)
	}
}
