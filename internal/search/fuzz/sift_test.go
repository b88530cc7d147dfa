package fuzz

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
)

// everything searches with all kinds of faults: there are many causes, and most hits are rare.
func everything() Config { return Config{Lock: "set-nx-lua", Faults: search.Kinds()} }

// hits counts those of findings, and those of a tally.
func (f *Found) hits() int {
	sum := f.Left.Hits
	for i := range f.Findings {
		sum += f.Findings[i].Hits
	}
	return sum
}

func (t *Tally) hits() int {
	sum := 0
	for _, hits := range t.Cores {
		sum += hits.Runs
	}
	return sum
}

// However little is done, no hit is lost, the most frequent come first, and how many work at once makes no difference.
func TestWhatThereIsNoTimeForIsLeftAndCounted(t *testing.T) {
	t.Parallel()
	h := campaign(t, everything())
	_, sum := play(t, h, Plan{Runs: 200, Jobs: 2})
	require.Greater(t, len(sum.Cores), 8)
	found := 0
	for _, runs := range []int{1, 500, 0} {
		one, err := h.Findings(t.Context(), Effort{Jobs: 1, Runs: runs}, sum)
		require.NoError(t, err)
		eight, err := h.Findings(t.Context(), Effort{Jobs: 8, Runs: runs}, sum)
		require.NoError(t, err)
		require.Equal(t, one, eight)
		require.Equal(t, sum.hits(), one.hits())
		require.Equal(t, runs != 0, len(one.Left.Cores) > 0)
		require.GreaterOrEqual(t, len(one.Findings), found)
		found = len(one.Findings)
	}
	require.Greater(t, found, 3)
}

// Of each property and kind one comes before the second of any, the rarest first: a defect of the lock's own is rare.
func TestOneOfEachPropertyAndKindComesFirstAndTheRarestBefore(t *testing.T) {
	core := func(p checker.Property, kind string, sum uint64) Core { return Core{Property: p, Kind: kind, Sum: sum} }
	const double, stale = "double holder", "stale acquisition"
	sum := &Tally{Cores: map[Core]Hits{
		core(checker.MutualExclusion, double, 1): {200, 7}, core(checker.MutualExclusion, double, 2): {900, 8},
		core(checker.MutualExclusion, double, 3): {5, 1}, core(checker.MutualExclusion, stale, 4): {1, 147},
		core(checker.Progress, "", 5): {1, 9}, core(checker.Progress, "", 6): {2, 3},
	}}
	require.Equal(t, [2][]Core{
		{core(checker.MutualExclusion, stale, 4), core(checker.Progress, "", 6), core(checker.MutualExclusion, double, 2)},
		{core(checker.Progress, "", 5), core(checker.MutualExclusion, double, 3), core(checker.MutualExclusion, double, 1)},
	}, sum.byRarity())
}

// However little may be done, there is a finding of each property and kind that was met, and all that is left is listed with
// a run that shows it.
func TestNoKindOfHitIsWithoutAFinding(t *testing.T) {
	t.Parallel()
	h := campaign(t, everything())
	_, sum := play(t, h, Plan{Runs: 200, Jobs: 2})
	found, err := h.Findings(t.Context(), Effort{Jobs: 2, Runs: 1}, sum)
	require.NoError(t, err)
	type group struct {
		p    checker.Property
		kind string
	}
	shown := make(map[group]bool)
	for i := range found.Findings {
		shown[group{found.Findings[i].Property, found.Findings[i].Counterexample.Kind}] = true
	}
	for core := range sum.Cores {
		require.True(t, shown[group{core.Property, core.Kind}], "%v: %s", core.Property, core.Kind)
	}
	require.NotEmpty(t, found.Left.Cores)
	for _, x := range found.Left.Cores {
		require.Equal(t, sum.Cores[x.Core], x.Hits)
	}
}

func TestADeadlineEndsTheWorkAndNotTheReport(t *testing.T) {
	h := campaign(t, misdelete())
	_, sum := play(t, h, Plan{Runs: 300, Jobs: 2})
	over, cancel := context.WithDeadline(t.Context(), time.Time{})
	defer cancel()
	found, err := h.Findings(over, h.UsualEffort(sum, 2), sum)
	require.NoError(t, err)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	again, err := h.Findings(stopped, h.UsualEffort(sum, 2), sum)
	require.NoError(t, err)
	for _, f := range []*Found{found, again} {
		require.Len(t, f.Findings, len(sum.byRarity()[0]), "one of each kind")
		require.True(t, f.Findings[0].Counterexample.Rough)
		require.Len(t, f.Left.Cores, len(sum.Cores)-len(f.Findings))
		require.Equal(t, sum.hits(), f.hits())
	}
}

// An interrupt comes when some runs have been played to make a violation minimal.
func TestAnInterruptLeavesWhatIsBeingMadeMinimalAsItIs(t *testing.T) {
	h := campaign(t, misdelete())
	_, sum := play(t, h, Plan{Runs: 300, Jobs: 2})
	whole, err := h.Findings(t.Context(), h.UsualEffort(sum, 1), sum)
	require.NoError(t, err)
	ctx := &dying{Context: context.Background()}
	ctx.left.Store(100)
	found, err := h.Findings(ctx, h.UsualEffort(sum, 1), sum)
	require.NoError(t, err)
	require.Len(t, found.Findings, 1)
	rough := found.Findings[0].Counterexample
	require.True(t, rough.Rough)
	require.Positive(t, rough.Runs)
	require.Less(t, rough.Runs, whole.Findings[0].Counterexample.Runs)
}

// dying is a context that is done when it has been asked some times.
type dying struct {
	context.Context
	left atomic.Int64
}

// Err counts.
func (d *dying) Err() error {
	if d.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Findings of one cause, whatever they violate, are of one group; a simpler one's cause and more is no other.
func TestCausesAreThoseOfAllProperties(t *testing.T) {
	t.Parallel()
	h := campaign(t, Config{
		Lock: "set-nx-lua", Faults: []search.Kind{search.ClientPause, search.Evict},
		Properties: []checker.Property{checker.MutualExclusion, checker.ExclusionAtService, checker.Resource},
	})
	_, sum := play(t, h, Plan{Runs: 1000, Jobs: 2})
	found, err := h.Findings(t.Context(), h.UsualEffort(sum, 2), sum)
	require.NoError(t, err)
	var causes []string
	seen := make(map[int]bool)
	for _, group := range found.Causes() {
		head := found.Findings[group[0]].Counterexample
		causes = append(causes, head.Cause())
		for _, i := range group {
			require.False(t, seen[i])
			seen[i] = true
			require.True(t, found.Findings[i].Counterexample.Shares(head))
		}
	}
	require.Len(t, seen, len(found.Findings))
	require.Equal(t, []string{"a lock that is over when Lock returns", "a holder that continues past its lease", "eviction by a server"}, causes)

	groups := found.Causes()
	at := slices.IndexFunc(groups, func(group []int) bool { return len(group) > 1 })
	member := found.Findings[groups[at][1]].Counterexample
	member.Blame.Party = minimal.Unclear
	require.Len(t, found.Causes(), len(groups), "one that was not compared has the cause of the others")
	found.Findings[groups[at][0]].Counterexample.Blame.Party, member.Blame.Party = minimal.Unclear, minimal.AnyLock
	for _, group := range found.Causes() {
		require.False(t, len(group) > 1 && found.Findings[group[0]].Counterexample.Blame.Party == minimal.Unclear, "nor does it come first")
	}
	found.Findings[groups[at][0]].Counterexample.Blame.Party = minimal.AnyLock
	member.Blame.Party = minimal.Server
	require.Len(t, found.Causes(), len(groups)+1, "where another party's promise was broken, the cause is another one")
}

// Whatever comes first, a finding is put to the simplest.
func TestFindingsAreGroupedByTheSimplest(t *testing.T) {
	list := make([]Finding, 5)
	has := map[*Finding]string{&list[0]: "ab", &list[1]: "a", &list[2]: "abc", &list[3]: "b", &list[4]: "a"}
	groups := grouped(list, func(f, of *Finding) bool {
		for _, c := range has[of] {
			if !strings.ContainsRune(has[f], c) {
				return false
			}
		}
		return true
	})
	require.Equal(t, [][]int{{1, 0, 2, 4}, {3}}, groups)
}
