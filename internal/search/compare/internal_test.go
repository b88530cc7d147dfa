package compare

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
)

// TestFactsAreWhatProbesFind holds what is found of all locks against a table that a reader can check.
func TestFactsAreWhatProbesFind(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "%-30s %-6s %-6s %-6s %-10s %-6s %s\n", "lock", "token", "value", "lasts", "reentrant", "try", "servers")
	for _, lock := range locks.Catalogue().All() {
		f := probe(&r, &lock)
		fmt.Fprintf(&b, "%-30s %-6t %-6t %-6t %-10t %-6t %d\n", lock.Name, f.token, f.value, f.lasts, f.reentrant, f.try, f.fewest)
		require.Equal(t, lock.Token, f.token, lock.Name)
		require.Equal(t, lock.Token, tokenOf(&lock) != "", "%s: what it hands out has a name", lock.Name)
	}
	const golden = "testdata/facts.txt"
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

func costOf(t *testing.T, name string) Lock {
	t.Helper()
	var r harness.Runner
	defer r.Close()
	lock, ok := locks.Catalogue().Find(name)
	require.True(t, ok)
	return costs(&r, &lock, Lock{Name: name})
}

func TestCostsAreThoseOfTheAlgorithms(t *testing.T) {
	t.Parallel()
	simple, heavy, queue, bound := costOf(t, "set-nx-lua"), costOf(t, "redlock"), costOf(t, "zk-sequential"), costOf(t, "mysql-row")
	require.EqualValues(t, 1_000, simple.RoundTrips, "SET")
	require.EqualValues(t, 4_000, simple.Messages, "SET and a script, and their answers")
	require.EqualValues(t, 5_000, heavy.RoundTrips, "five servers, one after another")
	require.EqualValues(t, 20_000, heavy.Messages)
	require.Greater(t, heavy.Latency.P50, 4*simple.Latency.P50)
	require.Equal(t, 200*(latencySections-1), simple.Latency.Count)
	require.LessOrEqual(t, simple.Latency.P50, simple.Latency.P99)
	require.LessOrEqual(t, simple.Latency.P99, simple.Latency.Max)

	// A lease is over 2 to 8 s after a crash that comes so late in its 10 s.
	require.InDelta(t, float64(5*time.Second), float64(simple.AfterCrash.P50), float64(time.Second))
	require.Less(t, bound.AfterCrash.P99, int64(time.Second), "a dead process's connection is closed")
	require.Equal(t, 200, bound.NeverAfterPowerLoss, "a dead machine's is not")
	require.Zero(t, bound.NeverAfter)

	require.Greater(t, queue.Fairness, int64(990), "first come, first served")
	require.Greater(t, queue.Fairness, simple.Fairness)
	require.Greater(t, simple.LongestWait, 10*queue.LongestWait)
	require.Positive(t, simple.Throughput)
}

func TestWhoeverLeavesAKeyForEverBlocksAll(t *testing.T) {
	t.Parallel()
	l := costOf(t, "setnx")
	require.Equal(t, 200, l.NeverAfter)
	require.Zero(t, l.AfterCrash.Count)
	require.False(t, recovers(&l))
}

func TestJainsIndex(t *testing.T) {
	require.EqualValues(t, 1000, jain([]int64{7, 7, 7, 7}))
	require.EqualValues(t, 250, jain([]int64{7, 0, 0, 0}))
	require.EqualValues(t, 900, jain([]int64{1, 2}))
	require.Zero(t, jain([]int64{0, 0}))
}

func TestQuantiles(t *testing.T) {
	var times []time.Duration
	for i := range 200 {
		times = append(times, time.Duration(200-i))
	}
	require.Equal(t, Quantiles{Count: 200, P50: 100, P99: 198, Max: 200}, quantiles(times))
	require.Equal(t, Quantiles{Count: 1, P50: 3, P99: 3, Max: 3}, quantiles([]time.Duration{3}))
	require.Zero(t, quantiles(nil))
}

func TestEachColumnSaysWhatItMeans(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range columns() {
		require.NotEmpty(t, c.meaning, c.name)
		require.False(t, seen[c.name])
		seen[c.name] = true
	}
}

// TestAdviceChangesWithTheCells turns one cell red, and another one green.
func TestAdviceChangesWithTheCells(t *testing.T) {
	q := question{ask: "?", some: "some", none: "none", columns: []string{"client-pause", "drift"}}
	c := &comparer{plan: Plan{Fencing: []history.Fencing{history.Unfenced}}, index: map[place]int{}, out: Result{Comparison: &Comparison{}}}
	for _, lock := range []string{"first", "second"} {
		c.out.Comparison.Locks = append(c.out.Comparison.Locks, Lock{Name: lock})
		for _, column := range q.columns {
			c.index[place{lock, column, "none", "mutual-exclusion"}] = len(c.out.Comparison.Cells)
			c.out.Comparison.Cells = append(c.out.Comparison.Cells, Cell{
				Lock: lock, Faults: column, Fencing: "none", Property: "mutual-exclusion", Outcome: Held, Runs: 100, InDanger: 60,
			})
		}
	}
	ask := func() Advice {
		a, ok := c.answer(&q)
		require.True(t, ok)
		return a
	}
	cells := c.out.Comparison.Cells
	require.Equal(t, []string{"first", "second"}, ask().Locks)
	require.Equal(t, "first: mutual-exclusion violated in none of 200 runs under client-pause, drift; it was exposed in 120 of them.",
		ask().Because[0])

	cells[1].Outcome, cells[1].Violated, cells[1].Rate, cells[1].Kind = Violated, 2, 0.2, "double holder"
	require.Equal(t, []string{"second"}, ask().Locks)
	require.Equal(t, "some", ask().Answer)
	require.Contains(t, ask().Because, "first: mutual-exclusion violated in 2 of 100 runs under drift (double holder).")

	c.out.Comparison.Locks[1].Status = "published mistake"
	require.Empty(t, ask().Locks, "a lock that is known to be faulty is never advised")
	require.NotContains(t, strings.Join(ask().Because, ""), "second")
	c.out.Comparison.Locks[1].Status = ""

	q.also = func(l *Lock) bool { return l.Name != "second" }
	require.Empty(t, ask().Locks)
	require.Contains(t, ask().Because, "second: was not violated, but a client that dies while it holds the lock keeps it forever.")
	q.also = nil

	cells[2].InDanger = 2
	require.Empty(t, ask().Locks, "it was hardly ever in danger")
	require.Contains(t, ask().Answer, "Inconclusive")
	require.Contains(t, ask().Because, "second: was not violated, but was exposed in 62 runs only.")

	cells[2].Outcome, cells[2].InDanger, cells[3].Outcome = NotSeen, 600, NotSeen
	require.Empty(t, ask().Locks, "a program's other runs may violate it, however often it was exposed")
	require.Contains(t, ask().Answer, "Inconclusive")
	require.Contains(t, ask().Because, "second: was not seen violated, but is a program, of which other runs may violate it.")
	cells[3].Outcome = Held
	require.Empty(t, ask().Locks)

	cells[2].Outcome, cells[3].Outcome = Vacuous, Vacuous
	require.Empty(t, ask().Locks, "it was never in danger")
	require.Equal(t, "none", ask().Answer)
}

// TestALocksOwnWeaknessIsNoEvidenceForIt asks which lock protects a resource that compares nothing. One that let two clients hold it at
// once in many runs, none of which did damage, is not advised for those runs; one that excluded in all of them is, though no late write
// exposed the resource.
func TestALocksOwnWeaknessIsNoEvidenceForIt(t *testing.T) {
	q := question{ask: "?", some: "some", none: "none", property: checker.Resource, columns: []string{"client-pause"}}
	c := &comparer{plan: Plan{Fencing: []history.Fencing{history.Unfenced}}, index: map[place]int{}, out: Result{Comparison: &Comparison{}}}
	enter := func(lock, property string, outcome Outcome, exposed, violated int) {
		c.index[place{lock, "client-pause", "none", property}] = len(c.out.Comparison.Cells)
		c.out.Comparison.Cells = append(c.out.Comparison.Cells, Cell{
			Lock: lock, Faults: "client-pause", Fencing: "none", Property: property, Outcome: outcome, Runs: 1000, InDanger: exposed,
			Violated: violated, Rate: float64(violated) / 1000, Kind: "double holder",
		})
	}
	c.out.Comparison.Locks = []Lock{{Name: "lucky"}, {Name: "strong"}, {Name: "untried"}}
	enter("lucky", "resource", Held, 500, 0)
	enter("lucky", "mutual-exclusion", Violated, 800, 500)
	enter("strong", "resource", Vacuous, 0, 0)
	enter("strong", "mutual-exclusion", Held, 800, 0)
	enter("untried", "resource", Vacuous, 0, 0)
	enter("untried", "mutual-exclusion", Seldom, 8, 0)
	a, ok := c.answer(&q)
	require.True(t, ok)
	require.Equal(t, []string{"strong"}, a.Locks)
	reasons := strings.Join(a.Because, "\n")
	require.Contains(t, reasons, "strong: resource (fencing none) violated in none of 1000 runs under client-pause; "+
		"its mutual exclusion, which held, was exposed in 800 of them.")
	require.Contains(t, reasons, "untried: was not violated, but was exposed in 8 runs only.")
	require.Contains(t, reasons, "lucky: mutual-exclusion violated in 500 of 1000 runs under client-pause (double holder).")

	q.mode = history.CompareAndSet // late writes expose what the resource compares, whichever lock admits them
	enter("lucky", "resource", Held, 500, 0)
	c.index[place{"lucky", "client-pause", "compare-and-set", "resource"}] = len(c.out.Comparison.Cells) - 1
	a, ok = c.answer(&q)
	require.True(t, ok)
	require.Equal(t, []string{"lucky"}, a.Locks)
}

// TestEverySectionCostsMessages: none means that the run has ended before the sections did.
func TestEverySectionCostsMessages(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for _, a := range locks.Catalogue().All() {
		require.Positive(t, messages(&r, &a), a.Name)
	}
}
