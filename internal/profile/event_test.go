package profile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLongerEventsHappenAsOftenAsBefore: thinning changes nothing about what is left.
func TestLongerEventsHappenAsOftenAsBefore(t *testing.T) {
	for name, l := range laws(t) {
		e := Event{Rate: Rate{PerSecond: 7}, Length: l}
		long := e.Longer(50 * ms)
		for _, d := range []time.Duration{50 * ms, 100 * ms, time.Second, 10 * time.Second} {
			want, got := e.Rate.PerSecond*l.Tail(d), long.Rate.PerSecond*long.Length.Tail(d)
			require.InDelta(t, want, got, 1e-12*want, "%s at %v", name, d)
		}
		require.InDelta(t, 1, long.Length.Tail(49*ms), 0, name)
		require.InDelta(t, float64(50*ms), float64(long.Length.Above(1)), 10, name)
		for _, p := range []float64{.5, .01, 1e-6} {
			if d := long.Length.Above(p); d < 1000*time.Hour && long.Length.Tail(d) > 0 {
				require.InEpsilon(t, p, long.Length.Tail(d), 1e-3, "%s at %g", name, p)
			}
		}
	}
	never := Event{Rate: Rate{PerSecond: 1}, Length: Constant(ms)}.Longer(time.Second)
	require.Zero(t, never.Rate.PerSecond)
	require.Zero(t, never.Length.Tail(time.Second))
	require.Equal(t, time.Second, never.Length.Above(.5))
}

// TestRefitsOfEventsAreOfRateAndLaw, as far as they were measured.
func TestRefitsOfEventsAreOfRateAndLaw(t *testing.T) {
	fitted := fitOf(t, drawn(Pareto(ms, 1.5), 200, 1))
	counted := Rate{PerSecond: 2, Counted: 200, Span: 100 * time.Second}
	require.Nil(t, Event{Rate: Rate{PerSecond: 1}, Length: Constant(ms)}.Refits(5, 1))
	require.Nil(t, Event{Rate: Rate{PerSecond: 1}}.Refits(5, 1))
	require.Len(t, Event{Rate: counted}.Refits(5, 1), 5)
	refits := Event{Name: "gc", Rate: counted, Length: fitted}.Refits(50, 1)
	require.Len(t, refits, 50)
	require.NotEqual(t, refits[0].Rate.PerSecond, refits[1].Rate.PerSecond)
	require.NotEqual(t, refits[0].Length.Tail(100*ms), refits[1].Length.Tail(100*ms))
	stated := Event{Rate: Rate{PerSecond: 1}, Length: fitted}.Refits(5, 1)
	require.InDelta(t, 1, stated[3].Rate.PerSecond, 0)
	require.Less(t, refits[0].Longer(10*ms).Rate.PerSecond, refits[0].Rate.PerSecond)
}
