package compare_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/locks"
)

// small compares a few locks under a few kinds of faults.
func small(t *testing.T, runs int, names ...string) compare.Plan {
	t.Helper()
	p := compare.Plan{
		Faults:     []string{"none", "overrun", "client-pause", "power-loss", "evict", "session-cut"},
		Fencing:    []history.Fencing{history.Unfenced, history.FencedReadWrite, history.TokenEquality},
		Properties: []checker.Property{checker.MutualExclusion, checker.Resource},
		Draws:      search.Seeds{First: 3, Count: runs}, Confidence: 95, Folder: "here", RatesOnly: true, Jobs: 2,
	}
	for _, name := range names {
		lock, ok := locks.Catalogue().Find(name)
		require.True(t, ok, name)
		p.Locks = append(p.Locks, lock)
	}
	return p
}

func played(t *testing.T, p compare.Plan) *compare.Result {
	t.Helper()
	r, err := compare.Compare(t.Context(), p, nil)
	require.NoError(t, err)
	return r
}

// files are the examples as they are saved.
func files(r *compare.Result) map[string][]byte {
	list := map[string][]byte{}
	for i := range r.Examples {
		list[r.Examples[i].Scenario.Name] = r.Examples[i].Scenario.YAML()
	}
	return list
}

func cell(t *testing.T, c *compare.Comparison, lock, faults, property, fencing string) *compare.Cell {
	t.Helper()
	i := slices.IndexFunc(c.Cells, func(x compare.Cell) bool {
		return x.Lock == lock && x.Faults == faults && x.Property == property && x.Fencing == fencing
	})
	require.GreaterOrEqual(t, i, 0)
	return &c.Cells[i]
}

func TestAComparisonDoesNotDependOnHowManyRunAtOnce(t *testing.T) {
	t.Parallel()
	p := small(t, 40, "get-then-set", "set-nx-lua-fenced", "memcached-cas")
	p.Jobs = 1
	one := played(t, p)
	p.Jobs = 5
	many := played(t, p)
	a, err := json.Marshal(one.Comparison)
	require.NoError(t, err)
	b, err := json.Marshal(many.Comparison)
	require.NoError(t, err)
	require.Equal(t, string(a), string(b))
	require.Equal(t, files(one), files(many))
	require.NotEmpty(t, one.Examples)
}

func TestEveryRedCellHasAnExampleThatShowsIt(t *testing.T) {
	t.Parallel()
	r := played(t, small(t, 60, "set-nx-lua-fenced", "etcd"))
	saved := files(r)
	red := 0
	for i := range r.Comparison.Cells {
		c := &r.Comparison.Cells[i]
		if c.Outcome != compare.Violated {
			require.Nil(t, c.Example)
			require.Empty(t, c.Command)
			continue
		}
		red++
		require.Contains(t, saved, c.Example.Name)
		require.Equal(t, "locksim run here/examples/"+c.Example.Name+".yaml --fencing "+c.Fencing, c.Command)
		require.GreaterOrEqual(t, c.InDanger, c.Violated)
		require.Less(t, c.Least, c.Rate)
		require.Greater(t, c.Most, c.Rate)
		require.NotNil(t, c.First)
	}
	require.Greater(t, red, len(saved), "cells share examples")
	overrun := cell(t, r.Comparison, "set-nx-lua-fenced", "overrun", "mutual-exclusion", "none").Example
	require.True(t, overrun.Faultless)
	pause := cell(t, r.Comparison, "set-nx-lua-fenced", "client-pause", "mutual-exclusion", "none").Example
	require.False(t, pause.Faultless)
	require.NotEmpty(t, pause.Needs)
}

func TestAPublishedComparisonIsCheckedByPlayingAPartOfIt(t *testing.T) {
	t.Parallel()
	p := small(t, 60, "set-nx-lua-fenced", "etcd")
	c := played(t, p).Comparison
	published := c.Sums()
	require.Equal(t, "set-nx-lua-fenced", published[0].Lock)
	require.NotEqual(t, published[0].Digest, published[1].Digest)
	now, err := compare.Check(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, published, now.Sums())
	for name, change := range map[string]func(){
		"another count":  func() { cell(t, c, "set-nx-lua-fenced", "client-pause", "resource", "none").Sample.InDanger++ },
		"a cell less":    func() { c.Cells = c.Cells[1:] },
		"cells swapped":  func() { c.Cells[0], c.Cells[1] = c.Cells[1], c.Cells[0] },
		"one impossible": func() { cell(t, c, "set-nx-lua-fenced", "overrun", "resource", "none").Outcome = compare.Impossible },
	} {
		before := c.Sums()
		change()
		require.NotEqual(t, before[0], c.Sums()[0], name)
		require.Equal(t, before[1], c.Sums()[1], "%s: it is another lock's", name)
	}
}

func TestNothingIsSaidToHoldThatWasSeldomInDanger(t *testing.T) {
	t.Parallel()
	p := small(t, 150, "set-nx-lua-fenced", "etcd")
	p.Faults = []string{"none", "client-pause"}
	seen := map[compare.Outcome]bool{}
	for _, c := range played(t, p).Comparison.Cells {
		switch seen[c.Outcome] = true; c.Outcome {
		case compare.Held:
			require.GreaterOrEqual(t, c.InDanger, compare.EnoughDanger)
		case compare.Seldom:
			require.Positive(t, c.InDanger)
			require.Less(t, c.InDanger, compare.EnoughDanger)
			require.Zero(t, c.Violated)
		default:
		}
	}
	require.True(t, seen[compare.Held] && seen[compare.Seldom])
}

func TestWhatCannotHappenIsNotPlayedAndSaysWhy(t *testing.T) {
	p := small(t, 5, "setnx", "etcd")
	p.Faults = append(p.Faults, "failover", "snapshot")
	c := played(t, p).Comparison
	for _, x := range []struct{ lock, faults, fencing, why string }{
		{"setnx", "session-cut", "none", "Redis servers keep no sessions"},
		{"etcd", "evict", "none", "etcd servers do not evict keys"},
		{"etcd", "snapshot", "none", "etcd servers know no snapshot"},
		{"setnx", "none", "fenced-read-write", "the lock hands out no token to compare"},
		{"setnx", "none", "token-equality", "the lock's leases have no value to compare"},
	} {
		got := cell(t, c, x.lock, x.faults, "resource", x.fencing)
		require.Equal(t, compare.Impossible, got.Outcome)
		require.Equal(t, x.why, got.Why)
		require.Zero(t, got.Runs)
	}
	require.NotEqual(t, compare.Impossible, cell(t, c, "setnx", "failover", "resource", "none").Outcome, "replicas can be deployed")
}

func TestBeliefsAreJudgedOnceAndTheResourceInEachMode(t *testing.T) {
	p := small(t, 5, "etcd")
	c := played(t, p).Comparison
	var exclusion, resource int
	for i := range c.Cells {
		switch c.Cells[i].Property {
		case "mutual-exclusion":
			exclusion++
			require.Equal(t, "none", c.Cells[i].Fencing)
		case "resource":
			resource++
		}
	}
	require.Equal(t, len(p.Faults), exclusion)
	require.Equal(t, len(p.Faults)*len(p.Fencing), resource)
}

func TestLongWorkIsKeptOutOfWhatAsksForOtherFaults(t *testing.T) {
	t.Parallel()
	p := small(t, 240, "set-nx-lua", "etcd")
	p.Faults = []string{"none", "overrun", "client-clock"}
	c := played(t, p).Comparison
	for _, faults := range []string{"none", "client-clock"} {
		require.Equal(t, compare.Held, cell(t, c, "set-nx-lua", faults, "mutual-exclusion", "none").Outcome, faults)
	}
	require.Equal(t, compare.Violated, cell(t, c, "set-nx-lua", "overrun", "mutual-exclusion", "none").Outcome)
	lasting, none := cell(t, c, "etcd", "overrun", "mutual-exclusion", "none"), cell(t, c, "etcd", "none", "mutual-exclusion", "none")
	require.Equal(t, compare.Held, lasting.Outcome)
	require.Equal(t, none.Schedules, lasting.Schedules, "it is asked the same")
}

func TestAnInterruptedComparisonKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := small(t, 1_000_000, "get-then-set")
	r, err := compare.Compare(ctx, p, func(_ string, done, _ int) {
		if done > 200 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	c := r.Comparison
	require.True(t, c.Interrupted)
	red := cell(t, c, "get-then-set", "none", "mutual-exclusion", "none")
	require.Equal(t, compare.Violated, red.Outcome)
	require.Nil(t, red.Example, "there was no time for it")
	require.True(t, strings.HasPrefix(red.Command, "locksim compare get-then-set --faults none "), red.Command)
	for i := range c.Cells {
		require.Less(t, c.Cells[i].Runs, 1000)
	}
}

func TestAdviceFollowsFromCells(t *testing.T) {
	long.Only(t)
	p := small(t, 200, "get-then-set", "set-nx-lua-wait", "etcd")
	p.RatesOnly = false
	c := played(t, p).Comparison
	advice := func(part string) *compare.Advice {
		i := slices.IndexFunc(c.Advice, func(a compare.Advice) bool { return strings.Contains(a.Question, part) })
		require.GreaterOrEqual(t, i, 0, part)
		return &c.Advice[i]
	}
	cheap := advice("Efficiency")
	own := advice("own servers")
	require.Empty(t, own.Locks, "so few runs show too little danger")
	require.Contains(t, strings.Join(own.Because, "\n"), "etcd: was not violated, but was exposed in")
	require.Len(t, c.Guarded, len(p.Faults), "the others cannot keep the data")
	require.NotContains(t, cheap.Locks, "get-then-set", "it is violated where nothing goes wrong")
	require.Contains(t, cheap.Locks, "set-nx-lua-wait")
	long := advice("how long the work takes")
	require.Equal(t, []string{"etcd"}, long.Locks)
	require.Contains(t, strings.Join(long.Because, "\n"), "set-nx-lua-wait: mutual-exclusion violated in")
	require.Empty(t, advice("processes pause").Locks)
	require.Empty(t, advice("accepts every write").Locks)
	for _, a := range c.Advice {
		require.NotEmpty(t, a.Because, a.Question)
		require.NotEmpty(t, a.Answer)
	}
}
