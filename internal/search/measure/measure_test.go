package measure_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

func find(t *testing.T, names ...string) []locks.Algorithm {
	t.Helper()
	var list []locks.Algorithm
	for _, name := range names {
		lock, ok := locks.Catalogue().Find(name)
		require.True(t, ok, name)
		list = append(list, lock)
	}
	return list
}

// onOneRegister is what fencing tokens protect, where pauses happen.
var onOneRegister = measure.Condition{Name: "pauses", Model: func(lock *locks.Algorithm) search.FaultModel {
	m := search.Wide(lock, []search.Kind{search.ClientPause})
	m.Registers = 1
	return m
}}

// pauses is a plan in which fenced and unfenced locks meet pauses.
func pauses(t *testing.T, from uint64, runs int, names ...string) measure.Plan {
	t.Helper()
	return measure.Plan{
		Locks: find(t, names...), Conditions: []measure.Condition{onOneRegister},
		Fencing:    []history.Fencing{history.Unfenced, history.FencedReadWrite},
		Properties: []checker.Property{checker.MutualExclusion, checker.Resource},
		Draws:      search.Seeds{First: from, Count: runs}, Jobs: 2,
	}
}

func table(t *testing.T, p measure.Plan) *measure.Table {
	t.Helper()
	tab, err := measure.Measure(t.Context(), p, nil)
	require.NoError(t, err)
	return tab
}

func TestWhatIsMeasuredDoesNotDependOnHowManyRunAtOnce(t *testing.T) {
	one := pauses(t, 5, 150, "set-nx-lua", "set-nx-lua-fenced")
	one.Jobs = 1
	eight := one
	eight.Jobs = 8
	require.Equal(t, table(t, one).Cells, table(t, eight).Cells)
}

func TestACellIsTheSameWhateverIsMeasuredBesideIt(t *testing.T) {
	many := pauses(t, 0, 100, "redlock", "set-nx-lua-fenced", "zk-sequential", "set-nx-lua")
	many.Fencing = append(many.Fencing, history.CompareAndSet)
	many.Styles = []history.Style{history.Careful, history.Careless}
	others := table(t, many)
	alone := table(t, pauses(t, 0, 100, "set-nx-lua"))
	for i := range alone.Cells {
		c := &alone.Cells[i]
		k := slices.IndexFunc(others.Cells, func(d measure.Cell) bool {
			return d.Lock == c.Lock && d.Style == c.Style && d.Fencing == c.Fencing && d.Property == c.Property
		})
		d := &others.Cells[k]
		require.Equal(t, c.Counts, d.Counts)
		require.Equal(t, c.First, d.First)
	}
}

func TestFencingModesThatALockHasNoTokenForAreLeftOut(t *testing.T) {
	tab := table(t, pauses(t, 0, 1, "set-nx-lua", "set-nx-lua-fenced"))
	require.Len(t, tab.Cells, 2+4)
	p := pauses(t, 0, 1, "set-nx-lua")
	p.Fencing = []history.Fencing{history.FencedWrite}
	require.Empty(t, table(t, p).Cells)
	require.Zero(t, p.Runs())
}

func TestEachCellSaysHowOftenItsDangerArose(t *testing.T) {
	p := pauses(t, 0, 400, "set-nx-lua-fenced")
	require.Equal(t, 800, p.Runs(), "in each of two modes")
	for _, c := range table(t, p).Cells {
		require.Equal(t, 400, c.Runs)
		require.Equal(t, c.Runs, c.Violated+c.Held+c.Vacuous+c.Undecided+c.NotJudged)
		require.Positive(t, c.InDanger, "%v in %v", c.Property, c.Fencing)
		require.GreaterOrEqual(t, c.InDanger, c.Violated)
		protected := c.Property == checker.Resource && c.Fencing == history.FencedReadWrite
		require.Equal(t, protected, c.Violated == 0, "%v in %v", c.Property, c.Fencing)
	}
}

func TestTablesThatFollowOneAnotherMakeOne(t *testing.T) {
	whole := table(t, pauses(t, 7, 200, "set-nx-lua", "set-nx-lua-fenced"))
	first := table(t, pauses(t, 7, 90, "set-nx-lua", "set-nx-lua-fenced"))
	second := table(t, pauses(t, 97, 110, "set-nx-lua", "set-nx-lua-fenced"))
	require.ErrorContains(t, second.Add(first), "draws up to 207 are not followed by draws from 7 on")
	require.ErrorContains(t, first.Add(table(t, pauses(t, 97, 1, "set-nx-lua"))), "cells are not followed by")
	require.ErrorContains(t, first.Add(table(t, pauses(t, 97, 1, "set-nx-lua-fenced", "set-nx-lua"))), "is not followed by")
	require.NoError(t, first.Add(second))
	require.Equal(t, whole.Cells, first.Cells)
	require.Equal(t, whole.Plan.Draws, first.Plan.Draws)
}

// verdicts plays what a cell was measured by, one by one.
func verdicts(t *testing.T, tab *measure.Table, lock string, n uint64) map[string]checker.Verdict {
	t.Helper()
	p := tab.Plan
	p.Locks, p.Draws = find(t, lock), search.Seeds{First: n, Count: 1}
	out := make(map[string]checker.Verdict)
	for _, c := range table(t, p).Cells {
		if c.Property == checker.Resource {
			out[c.Fencing.String()] = map[bool]checker.Verdict{true: checker.Violated, false: checker.Held}[c.Violated == 1]
		}
	}
	return out
}

func TestCellsAreComparedScheduleBySchedule(t *testing.T) {
	t.Parallel()
	const runs = 400
	tab := table(t, pauses(t, 0, runs, "set-nx-ex-del", "set-nx-lua-fenced"))
	at := func(lock string, mode history.Fencing) int {
		return slices.IndexFunc(tab.Cells, func(c measure.Cell) bool {
			return c.Lock == lock && c.Fencing == mode && c.Property == checker.Resource
		})
	}
	want := measure.Comparison{Pairs: runs}
	for n := range uint64(runs) {
		wrong := verdicts(t, tab, "set-nx-ex-del", n)["none"] == checker.Violated
		right := verdicts(t, tab, "set-nx-lua-fenced", n)["none"] == checker.Violated
		switch {
		case wrong && right:
			want.Both++
		case wrong:
			want.OnlyThis++
		case right:
			want.OnlyThat++
		}
	}
	this, that := at("set-nx-ex-del", history.Unfenced), at("set-nx-lua-fenced", history.Unfenced)
	got, err := tab.Compare(this, that)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Positive(t, got.Both)

	back, err := tab.Compare(that, this)
	require.NoError(t, err)
	require.Equal(t, got.OnlyThis, back.OnlyThat)
	require.InDelta(t, got.Difference(), -back.Difference(), 0)
	require.InDelta(t, got.P(), back.P(), 0)

	fence, err := tab.Compare(that, at("set-nx-lua-fenced", history.FencedReadWrite))
	require.NoError(t, err)
	require.Equal(t, tab.Cells[that].Violated, fence.OnlyThis)
	require.Zero(t, fence.OnlyThat)
	require.Less(t, fence.P(), 0.001)
}

func TestOnlyCellsOfTheSameSchedulesAreCompared(t *testing.T) {
	p := pauses(t, 0, 5, "set-nx-lua", "redlock", "set-nx-lua-fenced")
	p.Properties, p.Fencing = p.Properties[:1], p.Fencing[:1]
	tab := table(t, p)
	_, err := tab.Compare(0, 1)
	require.EqualError(t, err, "set-nx-lua and redlock were not played on the same schedules")
	_, err = tab.Compare(0, 2)
	require.NoError(t, err)
}

func TestTheFirstViolationOfACellCanBePlayedAgain(t *testing.T) {
	tab := table(t, pauses(t, 0, 200, "set-nx-lua"))
	var r harness.Runner
	defer r.Close()
	for i := range tab.Cells {
		c := &tab.Cells[i]
		v, ok := tab.Violation(i)
		require.Equal(t, c.Violated > 0, ok)
		require.True(t, ok, "a pause breaks it")
		plan, err := harness.Compile(v.Case, harness.Options{})
		require.NoError(t, err)
		result, err := r.Run(plan, v.Seed, false)
		require.NoError(t, err)
		require.Equal(t, c.Kind, search.FirstOf(c.Property, &result.Report).Kind)

		read, err := scenarios.Parse("first.yaml", v.Case.Scenario.YAML())
		require.NoError(t, err, "%s", v.Case.Scenario.YAML())
		require.Equal(t, "set-nx-lua", read.Lock.Algorithm)
	}
}

func TestAMeasurementThatIsInterruptedKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := pauses(t, 0, 1_000_000, "set-nx-lua", "set-nx-ex-del")
	told := 0
	tab, err := measure.Measure(ctx, p, func(runs, violated int) {
		require.LessOrEqual(t, violated, runs)
		require.Greater(t, runs, told)
		told = runs
		cancel()
	})
	require.ErrorIs(t, err, context.Canceled)
	first := tab.Cells[0].Runs
	require.Positive(t, first)
	for _, c := range tab.Cells {
		require.LessOrEqual(t, c.Runs, first)
		require.Less(t, first-c.Runs, 100, "cells are even")
	}
	p.Draws.Count = tab.Cells[0].Runs
	require.Equal(t, table(t, p).Cells[0], tab.Cells[0], "nothing was skipped")
}

// TestWhatCannotHappenIsImpossible spares one lock of two: nothing is played of it, and its cells say why.
func TestWhatCannotHappenIsImpossible(t *testing.T) {
	p := pauses(t, 0, 10, "set-nx-lua", "set-nx-ex-del")
	p.Conditions[0].Spares = func(lock *locks.Algorithm) string {
		if lock.Name == "set-nx-lua" {
			return "it never pauses"
		}
		return ""
	}
	require.Equal(t, 10, p.Runs())
	for _, c := range table(t, p).Cells {
		spared := c.Lock == "set-nx-lua"
		require.Equal(t, spared, c.Impossible == "it never pauses")
		require.Equal(t, spared, c.Runs == 0)
	}
}
