package strategies

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// distance plays a scenario that does not violate the property, and measures.
func distance(t *testing.T, p checker.Property, yaml string) float64 {
	t.Helper()
	s, err := scenarios.Parse("near.yaml", []byte(yaml))
	require.NoError(t, err)
	plan, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(plan, 1, false)
	require.NoError(t, err)
	require.NotEqual(t, checker.Violated, result.Report.Verdicts[p], "%v", result.Report.Violations)
	return Distance(p, result.History, s)
}

const two = `
name: near
title: Two clients
servers: {kind: redis}
resource: {fencing: none}
`

// TestDistanceShrinksTowardsAViolation has, for each property, scenarios each of which comes nearer than the one before.
func TestDistanceShrinksTowardsAViolation(t *testing.T) {
	lease := func(work string) string {
		return two + "lock: {algorithm: set-nx-lua-fenced, ttl: 10s}\nclients: {a: {work: " + work + "}, b: {start: 1s}}\n"
	}
	wait := func(work string) string {
		return two + "lock: {algorithm: setnx, ttl: 10s}\nprogress: 30s\nclients: {a: {work: " + work + "}, b: {start: 1s}}\n"
	}
	crashes := func(servers ...string) string {
		s := two + "lock: {algorithm: redlock, ttl: 10s}\nclients: {a: {work: 5s}, b: {start: 20s}}\nfaults:\n"
		for _, name := range servers {
			s += "  - {at: 1s, crash: " + name + ", kind: host, restart: 1s}\n"
		}
		return strings.Replace(s, "kind: redis", "kind: redis, masters: 5", 1)
	}
	for _, c := range []struct {
		property checker.Property
		runs     []string
	}{
		{checker.MutualExclusion, []string{lease("1s"), lease("6s"), lease("9900ms")}},
		{checker.Resource, []string{lease("1s"), lease("6s"), lease("9900ms")}},
		{checker.ReleaseSafety, []string{lease("1s"), lease("6s"), lease("9900ms"), lease("12s")}},
		{checker.ExclusionAtService, []string{crashes("redis-1"), crashes("redis-1", "redis-2")}},
		{checker.FencingOrder, []string{lease("1s"), lease("6s"), lease("9900ms")}},
		{checker.Progress, []string{wait("2s"), wait("10s"), wait("29s")}},
	} {
		last := far + 0.01
		for i, run := range c.runs {
			d := distance(t, c.property, run)
			require.Less(t, d, last, "%v, run %d", c.property, i+1)
			require.GreaterOrEqual(t, d, 0.0)
			last = d
		}
	}
}

func TestDistanceOfNothingIsFar(t *testing.T) {
	for p := range checker.PropertyCount {
		s := &scenarios.Scenario{Lock: scenarios.Lock{TTL: time.Second}, Progress: time.Second}
		require.InDelta(t, far, Distance(p, &history.History{}, s), 0, "%v", p)
	}
}

func TestChoicesThatArePlayedAgainMakeTheSameScenario(t *testing.T) {
	for i, q := range Limits() {
		first := &taped{fresh: number(uint64(i), 1)}
		s := search.Generate(first, q.Menu)
		again := &taped{tape: first.drawn, fresh: number(uint64(i), 2)}
		require.Equal(t, s, search.Generate(again, q.Menu), "%s", q.Name)
		require.Equal(t, first.drawn, again.drawn)
	}
}

// TestMutantsAreScenarios makes and plays children of children, whatever has been done to their choices.
func TestMutantsAreScenarios(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	dice := number(7, 0)
	kinds := map[int]bool{}
	for _, q := range Limits() {
		parent := &taped{fresh: number(1, 1)}
		search.Generate(parent, q.Menu)
		for n := range 3 {
			child := &taped{tape: mutate(dice, parent.drawn, parent.drawn), fresh: number(2, n)}
			s := search.Generate(child, q.Menu)
			_, err := scenarios.Parse("child.yaml", s.YAML())
			require.NoError(t, err, "%s", s.YAML())
			search.Play(&r, s, harness.Options{}, func(_ scenarios.Case, _ *harness.Result, err error) bool {
				require.NoError(t, err)
				return false
			})
			kinds[len(child.tape)-len(parent.drawn)] = true
			parent = child
		}
	}
	require.Greater(t, len(kinds), 10, "some are cut, some are as long")
}

func TestPoolKeepsTheNearestAndGivesUpTheBarren(t *testing.T) {
	var pool []near
	for n := range 2 * poolSize {
		pool = keep(pool, -1, near{distance: float64(2*poolSize-n) / 100})
	}
	require.Len(t, pool, poolSize)
	require.InDelta(t, 0.01, pool[0].distance, 0)
	require.IsNonDecreasing(t, distances(pool))
	pool = keep(pool, -1, near{distance: far})
	require.InDelta(t, float64(poolSize)/100, pool[poolSize-1].distance, 0, "what is far is not kept")
	for range patience {
		pool = keep(pool, 0, near{distance: far})
	}
	require.InDelta(t, 0.01, pool[0].distance, 0)
	pool = keep(pool, 0, near{distance: far})
	require.InDelta(t, 0.02, pool[0].distance, 0, "it has had its chance")
	require.Len(t, pool, poolSize-1)
}

func distances(pool []near) []float64 {
	var list []float64
	for _, n := range pool {
		list = append(list, n.distance)
	}
	return list
}

// TestKindsOfAStoryAreThoseOfItsFaults tries those that are told by where they act.
func TestKindsOfAStoryAreThoseOfItsFaults(t *testing.T) {
	for story, kinds := range map[string][]search.Kind{
		"redlock-gc-pause":           {search.ClientPause},
		"redlock-clock-jump":         {search.ServerAhead, search.Cut},
		"redlock-client-clock-step":  {search.ClientClock},
		"cluster-minority-master":    {search.Partition},
		"failover-lost-key":          {search.ServerCrash, search.PowerLoss, search.Failover, search.Partition, search.Lag},
		"watchdog-hung-worker":       {search.ClientPause},
		"redlock-py-same-value":      {search.Delay},
		"redis-eviction":             {search.Evict},
		"redlock-no-drift-allowance": {search.Drift, search.Cut},
	} {
		s, err := scenarios.Load(story)
		require.NoError(t, err)
		var found []search.Kind
		for _, c := range s.Cases() {
			found = append(found, kindsOf(c.Scenario)...)
		}
		require.Subset(t, found, kinds, "%s", story)
		require.Subset(t, kinds, found, "%s", story)
	}
}
