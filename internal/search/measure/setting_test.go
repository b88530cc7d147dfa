package measure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/scenarios"
)

// setting reads a scenario with some changes.
func setting(t *testing.T, text string, changes ...scenarios.Change) measure.Setting {
	t.Helper()
	s, err := scenarios.Parse("x.yaml", []byte(text), changes...)
	require.NoError(t, err)
	var set measure.Setting
	for _, c := range changes {
		set.Values = append(set.Values, c.Value)
	}
	for _, c := range s.Cases() {
		plan, err := harness.Compile(c, harness.Options{})
		require.NoError(t, err)
		set.Plans = append(set.Plans, plan)
	}
	return set
}

func settings(runs, jobs int, list ...measure.Setting) measure.Plan {
	return measure.Plan{
		Settings: list, Properties: []checker.Property{checker.MutualExclusion, checker.Resource},
		Draws: search.Seeds{Count: runs}, Jobs: jobs,
	}
}

// overrun is a scenario of which the rate is known. All messages to a take up to 100 ms, evenly distributed, and all others no
// time: the answer that connects it, and the one that grants it the lock. So a begins to work after the sum of two such times, and b
// has the lock at 10.1 s.
const overrun = `name: overrun
lock: {algorithm: set-nx-lua, ttl: 10s}
network: {latency: 0s, links: [{from: redis-1, to: a, oneway: true, latency: [0s, 100ms]}]}
clients:
  a: {work: 10s}
  b: {start: 10100ms, work: 1s}
`

func TestKnownRatesLieInTheirIntervals(t *testing.T) {
	t.Parallel()
	var list []measure.Setting
	want := map[string]float64{"10080ms": 0.98, "10050ms": 0.875, "10020ms": 0.68, "9980ms": 0.32, "9900ms": 0, "10100ms": 1}
	for _, work := range []string{"10080ms", "10050ms", "10020ms", "9980ms", "9900ms", "10100ms"} {
		list = append(list, setting(t, overrun, scenarios.Change{Path: "clients.a.work", Value: work}))
	}
	tab := table(t, settings(1000, 2, list...))
	require.Len(t, tab.Cells, 2*len(list))
	for i := range tab.Cells {
		c := &tab.Cells[i]
		if c.Property != checker.MutualExclusion {
			continue
		}
		require.Equal(t, 1000, c.Runs)
		interval := c.Interval(0.99)
		require.LessOrEqual(t, interval.Least, want[c.Values[0]], "%s: %d", c.Values, c.Violated)
		require.GreaterOrEqual(t, interval.Most, want[c.Values[0]], "%s: %d", c.Values, c.Violated)
		require.False(t, tab.Played[c.Schedules].Alike())
		if c.Violated > 0 {
			v, ok := tab.Violation(i)
			require.True(t, ok)
			plan, err := harness.Compile(v.Case, v.Options)
			require.NoError(t, err)
			var r harness.Runner
			result, err := r.Run(plan, v.Seed, false)
			require.NoError(t, err)
			require.Equal(t, checker.Violated, result.Report.Verdicts[c.Property])
			r.Close()
		}
	}
}

func TestSettingsDoNotDependOnHowManyRunAtOnce(t *testing.T) {
	list := []measure.Setting{setting(t, overrun), setting(t, overrun, scenarios.Change{Path: "lock.ttl", Value: "11s"})}
	one, eight := table(t, settings(100, 1, list...)), table(t, settings(100, 8, list...))
	require.Equal(t, one.Cells, eight.Cells)
	require.Equal(t, one.Played, eight.Played)
}

// TestRunsThatNoSeedChangesAreAlike plays what draws nothing, and what draws only the value that the lock stores.
func TestRunsThatNoSeedChangesAreAlike(t *testing.T) {
	tab := table(t, settings(40, 2,
		setting(t, "name: x\nlock: {algorithm: mysql-get-lock}\nservers: {kind: mysql}\nnetwork: {latency: 1ms}\nclients: {a: {work: 1s}, b: {work: 1s}}\n"),
		setting(t, "name: x\nlock: {algorithm: set-nx-lua}\nnetwork: {latency: 1ms}\nclients: {a: {work: 1s}}\n"),
		setting(t, "name: x\nlock: {algorithm: set-nx-lua}\nnetwork: {latency: [1ms, 2ms]}\nclients: {a: {work: 1s}}\n"),
	))
	require.True(t, tab.Played[0].Alike())
	require.True(t, tab.Played[1].Alike())
	require.False(t, tab.Played[2].Alike())
	require.Equal(t, 40, tab.Cells[2].Vacuous, "nobody else wants the lock")
	require.Zero(t, tab.Cells[2].InDanger)
	once := table(t, settings(1, 1, setting(t, overrun)))
	require.False(t, once.Played[0].Alike(), "one run is like no other")
}

func TestRunsThatTheScenarioCutsOffAreUnknown(t *testing.T) {
	tab := table(t, settings(20, 2, setting(t, overrun, scenarios.Change{Path: "until", Value: "10100ms"})))
	c := &tab.Cells[1]
	require.Equal(t, checker.Resource, c.Property)
	require.Equal(t, 20, c.Undecided)
	require.Zero(t, c.Held+c.Vacuous)
	require.InDelta(t, 1, c.Interval(0.95).Most, 0)
}

func TestDistributionsAreThoseOfTheRuns(t *testing.T) {
	set := setting(t, overrun)
	tab := table(t, settings(50, 2, set))
	var waits []int64
	var r harness.Runner
	defer r.Close()
	for seed := range uint64(50) {
		result, err := r.Run(set.Plans[0], seed, false)
		require.NoError(t, err)
		for _, m := range result.Report.Measures {
			if m.Name == "wait-max-ns" {
				waits = append(waits, m.Value)
			}
		}
	}
	d, ok := tab.Played[0].Measure("wait-max-ns")
	require.True(t, ok)
	require.Equal(t, 50, d.Runs)
	for _, share := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
		within := 0
		for _, w := range waits {
			if min(measure.ThreeDigits(w), d.Max) <= d.Quantile(share) {
				within++
			}
		}
		require.GreaterOrEqual(t, float64(within), share*50)
	}
	paused := table(t, settings(50, 2, setting(t, overrun+"faults: [{at: 1s, pause: a, for: 1s}, {name: never, at: 200s, crash: b}]\n")))
	require.Equal(t, []measure.Happened{{"fault-1", 50}, {"never", 0}}, paused.Played[0].Faults)
	require.Contains(t, waits, d.Max)
	require.Contains(t, waits, d.Least)
	_, ok = tab.Played[0].Measure("nothing")
	require.False(t, ok)
	for n, want := range map[int64]int64{0: 0, 7: 7, 999: 999, 1004: 1000, 1005: 1010, 123_456: 123_000, -1_235_999: -1_230_000, 999_999: 1_000_000} {
		require.Equal(t, want, measure.ThreeDigits(n), "%d", n)
	}
}
