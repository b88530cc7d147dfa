package explore

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/trace"
)

// TestALimitDrawsSchedulesEvenly counts what is picked of many placements: about as many as may be, as many of each kind of fault of a
// step, and all if there are not more.
func TestALimitDrawsSchedulesEvenly(t *testing.T) {
	const all, kinds, limit = 2400, 12, 400
	x := &explorer{options: Options{Runs: limit}}
	counts := make([]int, kinds)
	sum := 0
	for i := range all {
		if x.picked(1, i, all) {
			sum++
			counts[i%kinds]++
		}
	}
	require.InDelta(t, limit, sum, 5)
	for kind, n := range counts {
		require.InDelta(t, limit/kinds, n, 5, "kind %d", kind)
	}
	for i := range limit {
		require.True(t, x.picked(1, i, limit))
	}
	require.True(t, x.picked(2, 7, all), "a further fault follows what was picked")
}

// TestWhatAProgramLooksAtIsNotSeen has each point of a client be one before which it may have looked at its clock.
func TestWhatAProgramLooksAtIsNotSeen(t *testing.T) {
	run := &harness.Result{Events: []trace.Event{
		{Seq: 1, Step: trace.Step{Node: "a", Does: trace.Send, Peer: "redis-1"}}, {Seq: 2, Step: trace.Step{Node: "redis-1", Does: trace.Receive, Peer: "a"}},
	}}
	m := &model{roles: map[string]role{"a": client, "redis-1": server}}
	for _, p := range m.points(run) {
		require.False(t, p.looked)
	}
	m.blind = true
	for _, p := range m.points(run) {
		require.Equal(t, p.step.Node == "a", p.looked)
	}
}
