package layout

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

func never(trace.Instant, trace.Instant) bool { return false }

// drawLanes draws stops as a picture has them: some close together, some far apart, sorted and distinct on each lane.
func drawLanes(t *rapid.T) (lanes [][]stop, end trace.Instant) {
	moment := rapid.Custom(func(t *rapid.T) trace.Instant {
		unit := rapid.SampledFrom([]time.Duration{time.Microsecond, time.Millisecond, time.Second}).Draw(t, "unit")
		return trace.Instant(rapid.Int64Range(0, 100).Draw(t, "n")) * trace.Instant(unit)
	})
	for range rapid.IntRange(1, 6).Draw(t, "lanes") {
		seen := map[trace.Instant]bool{}
		var stops []stop
		for _, at := range rapid.SliceOfN(moment, 0, 8).Draw(t, "stops") {
			if !seen[at] {
				seen[at] = true
				stops = append(stops, stop{at, rapid.IntRange(1, 7).Draw(t, "width")})
			}
			end = max(end, at)
		}
		slices.SortFunc(stops, func(a, b stop) int { return cmp.Compare(a.at, b.at) })
		lanes = append(lanes, stops)
	}
	return lanes, max(end, 1)
}

func TestTimeNeverRunsBackwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes, end := drawLanes(t)
		s := newScale(rapid.IntRange(20, 180).Draw(t, "panel"), 0, end, lanes, never)
		last := 0
		for k := range 200 {
			at := end / 200 * trace.Instant(k)
			col := s.Column(at)
			require.GreaterOrEqual(t, col, last)
			require.Less(t, col, s.Width)
			last = col
		}
	})
}

func TestLabelsDoNotCoverOneAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes, end := drawLanes(t)
		panel := rapid.IntRange(20, 180).Draw(t, "panel")
		s := newScale(panel, 0, end, lanes, never)
		if s.Width == panel*maxPanels {
			t.Skip("too much for any screen")
		}
		for _, stops := range lanes {
			for i, p := range stops {
				from := s.Column(p.at)
				require.LessOrEqual(t, from%panel+p.width, panel, "a label crosses the edge of a panel")
				if i+1 < len(stops) {
					require.LessOrEqual(t, from+p.width, s.Column(stops[i+1].at))
				}
			}
		}
	})
}

func TestColumnsTurnBackIntoTheirMoments(t *testing.T) {
	lanes := [][]stop{{{0, 1}, {trace.Instant(10 * time.Second), 3}, {trace.Instant(10*time.Second + 50), 3}}}
	s := newScale(100, 0, trace.Instant(20*time.Second), lanes, never)
	for col := range s.Column(20*trace.Instant(time.Second)) + 1 {
		require.Equal(t, col, s.Column(s.Moment(col)))
	}
}

func TestALongIdleStretchIsCutShortAndMarked(t *testing.T) {
	second := trace.Instant(time.Second)
	lanes := [][]stop{{{0, 1}, {second, 1}, {1000 * second, 1}, {1001 * second, 1}}}
	idle := func(from, to trace.Instant) bool { return from >= second && to <= 1000*second }
	s := newScale(90, 0, 1001*second, lanes, idle)
	require.Equal(t, []bool{false, true, false, false}, s.cut)
	require.Less(t, s.Column(1000*second)-s.Column(second), 45, "at most half")
	require.Greater(t, s.Column(second), 20, "what happens has the room")
}

func TestTicksAreRound(t *testing.T) {
	require.Equal(t, 2*time.Second, roundStep(1100*time.Millisecond))
	require.Equal(t, 500*time.Millisecond, roundStep(201*time.Millisecond))
	require.Equal(t, time.Nanosecond, roundStep(0))
	require.Equal(t, 100*time.Hour, roundStep(51*time.Hour))
}

func TestARenewalMakesTheWedgeWholeAgain(t *testing.T) {
	second := trace.Instant(time.Second)
	heights := func(kind, node string, e trace.Event) string {
		s := &scenarios.Scenario{Servers: scenarios.Servers{Kind: kind, Masters: 1}}
		c := &history.Copy{Node: node, Client: "a", From: 0, To: trace.Never, Expires: 18 * second}
		e.At, e.Node = 8*second, node
		r := model.Run{Case: scenarios.Case{Scenario: s}, History: &history.History{End: 18 * second}, Events: []trace.Event{e}}
		g, v := paint.ASCII(), model.New(&r, model.NewScope([]model.Run{r}))
		b := &Bar{}
		b.Lives, b.Life = v.Lives(c)
		height := func(t trace.Instant) rune { return g.Level(b.Left(t)) }
		return string([]rune{height(0), ' ', height(8*second - 1), ' ', height(8 * second)})
	}
	renewal := trace.Event{Step: trace.Step{Does: trace.Execute, What: "EVAL", Alt: "renew", Peer: "a"}}
	const whole, falls = "8 2 8", "8 5 5"
	require.Equal(t, whole, heights("redis", "redis-1", renewal))
	renewal.Peer = "b"
	require.Equal(t, falls, heights("redis", "redis-1", renewal), "another's renewal is of another's lease")
	election := trace.Event{Step: trace.Step{Does: trace.Promote, What: "leader"}}
	require.Equal(t, whole, heights("etcd", "etcd-1", election), "a new leader gives every lease its whole life")
	require.Equal(t, falls, heights("redis", "redis-1", election))
}
