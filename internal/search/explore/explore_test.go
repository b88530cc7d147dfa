package explore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	tests "github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// based returns the base of a lock of the catalogue.
func based(t *testing.T, lock string, change ...func(*scenarios.Scenario)) scenarios.Case {
	t.Helper()
	algorithm, ok := locks.Catalogue().Find(lock)
	require.True(t, ok, lock)
	s := Base(&algorithm)
	for _, c := range change {
		c(s)
	}
	return s.Cases()[0]
}

func careful(s *scenarios.Scenario) { s.Styles = []history.Style{history.Careful} }

func fenced(mode history.Fencing) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Resource.Fencing = []history.Fencing{mode} }
}

func explored(t *testing.T, base scenarios.Case, o Options) *Result {
	t.Helper()
	o.Jobs = 2
	r, err := Explore(t.Context(), base, o)
	require.NoError(t, err)
	require.True(t, r.Complete)
	for _, l := range r.Levels {
		require.Equal(t, l.Placements, l.Covered)
	}
	return r
}

// only is a fault model.
func only(kinds ...search.Kind) []search.Kind { return kinds }

// kindsFound are the properties that are violated, and how.
func kindsFound(r *Result) (list []string) {
	for _, f := range r.Findings {
		list = append(list, fmt.Sprintf("%v: %s", f.Property, f.Kind))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func formsFound(r *Result) (list []string) {
	for _, f := range r.Findings {
		list = append(list, f.Form())
	}
	slices.Sort(list)
	return list
}

// three masters, of which the second client asks few times.
func three(s *scenarios.Scenario) {
	s.Servers.Masters = 3
	s.Clients[1].Start, s.Clients[1].Retry.Delay = 3*time.Second, 5*time.Second
}

func TestKnownViolationsAreFoundWithoutBeingToldWhere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		base     scenarios.Case
		faults   []search.Kind
		property checker.Property
		needs    int // faults; if negative, there is no violation with as many
	}{
		{"a holder that was paused deletes the next one's lock", based(t, "set-nx-ex-del"),
			only(search.ClientPause), checker.ReleaseSafety, 1},
		{"with its value it does not", based(t, "set-nx-lua"),
			only(search.ClientPause), checker.ReleaseSafety, -2},
		{"a holder that was paused believes on", based(t, "set-nx-lua"),
			only(search.ClientPause), checker.MutualExclusion, 1},
		{"one that looks at its lease's deadline does not", based(t, "redlock", careful, three),
			only(search.ClientPause), checker.MutualExclusion, -1},
		{"a server without persistence forgets the holder", based(t, "set-nx-lua", careful),
			only(search.ServerCrash), checker.MutualExclusion, 1},
		{"one that has written it does not", based(t, "set-nx-lua", careful, func(s *scenarios.Scenario) {
			s.Servers.Persistence = "always"
		}), only(search.ServerCrash), checker.MutualExclusion, -2},
		{"a majority of three is lost by a cut and a restart", based(t, "redlock", careful, three),
			only(search.ServerCrash, search.Cut), checker.MutualExclusion, 2},
		{"tokens that reads register guard one register",
			based(t, "set-nx-lua-fenced", fenced(history.FencedReadWrite)),
			only(search.ClientPause, search.Delay), checker.Resource, -2},
		{"tokens that only writes register do not", based(t, "set-nx-lua-fenced", fenced(history.FencedWrite)),
			only(search.ClientPause, search.Delay), checker.Resource, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Options{Faults: tc.faults, Properties: []checker.Property{tc.property}}
			o.Most = max(tc.needs, -tc.needs)
			r := explored(t, tc.base, o)
			require.Positive(t, r.AtRisk[tc.property], "it was never at risk")
			if tc.needs < 0 {
				require.Empty(t, r.Findings)
				return
			}
			require.NotEmpty(t, r.Findings)
			for n := range tc.needs {
				require.Zero(t, r.Levels[n].Violating, "%d faults", n)
			}
			for _, f := range r.Findings {
				require.Equal(t, tc.property, f.Property)
				require.Len(t, f.Scenario.Faults, tc.needs, "%s", f.Scenario.YAML())
			}
		})
	}
}

func TestABaseThatViolatesIsNotExtended(t *testing.T) {
	t.Parallel()
	r := explored(t, based(t, "set-without-nx"), Options{Faults: search.Kinds(), Most: 2})
	require.Len(t, r.Levels, 1)
	require.NotEmpty(t, r.Findings)
	require.Zero(t, r.Findings[0].First)
	require.Empty(t, r.Findings[0].Scenario.Faults)
}

// What is left out on purpose must change nothing but the work.
func TestTheReducedExplorationFindsWhatTheWholeOneFinds(t *testing.T) {
	t.Parallel()
	for i, tc := range []struct {
		base   scenarios.Case
		faults []search.Kind
		o      Options
	}{
		{based(t, "set-nx-lua"), only(search.ServerCrash), Options{Most: 2}},
		{based(t, "set-nx-lua"), only(search.Cut), Options{Most: 1}},
		{based(t, "set-nx-lua"), only(search.PowerLoss, search.ClientCrash), Options{Most: 1, Full: true}},
		{based(t, "setnx-expire"), only(search.ClientCrash), Options{Most: 1}},
		{based(t, "zk-sequential"), only(search.ServerPause, search.Failover), Options{Most: 1}},
		{based(t, "zk-sequential"), only(search.ClientClock, search.EndSession), Options{Most: 1}},
		{based(t, "zk-sequential"), only(search.Partition, search.SessionCut), Options{Most: 1}},
		{variationsOf(based(t, "set-nx-lua"))[0], only(search.ServerCrash), Options{Most: 2}},
		{variationsOf(based(t, "etcd"))[1], only(search.ServerPause, search.EndSession), Options{Most: 1}},
		{variationsOf(based(t, "set-nx-lua"))[2], only(search.Cut, search.ClientCrash), Options{Most: 1}},
	} {
		if i%tests.Every(2, 1) != 0 {
			continue
		}
		tc.o.Faults = tc.faults
		reduced := explored(t, tc.base, tc.o)
		tc.o.whole = true
		whole := explored(t, tc.base, tc.o)
		require.Less(t, reduced.Played(), whole.Played())
		require.LessOrEqual(t, reduced.Levels[1].Placements, whole.Levels[1].Placements)
		require.Equal(t, kindsFound(whole), kindsFound(reduced))
		require.Equal(t, formsFound(whole), formsFound(reduced))
	}
}

func TestTheNumberOfWorkersDoesNotShow(t *testing.T) {
	t.Parallel()
	o := Options{Faults: only(search.ClientPause), Most: 2, Jobs: 1}
	one, err := Explore(t.Context(), based(t, "set-nx-ex-del"), o)
	require.NoError(t, err)
	o.Jobs = 5
	five, err := Explore(t.Context(), based(t, "set-nx-ex-del"), o)
	require.NoError(t, err)
	require.Equal(t, one.Levels, five.Levels)
	require.Len(t, five.Findings, len(one.Findings))
	for i, f := range one.Findings {
		g := five.Findings[i]
		require.Equal(t, []int{f.Hits, f.First}, []int{g.Hits, g.First})
		require.Equal(t, string(f.Scenario.YAML()), string(g.Scenario.YAML()))
	}
}

func TestAnInterruptedExplorationSaysWhatItCovered(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Faults: only(search.ClientPause, search.ServerCrash), Most: 2, Jobs: 2}
	o.Progress = func(r *Result) {
		if len(r.Levels) == 3 && r.Levels[2].Covered > 300 {
			cancel()
		}
	}
	r, err := Explore(ctx, based(t, "set-nx-lua"), o)
	require.NoError(t, err)
	require.False(t, r.Complete)
	require.True(t, r.Interrupted)
	require.NotEmpty(t, r.Findings, "what was found is kept")
	require.Equal(t, r.Levels[1].Placements, r.Levels[1].Covered)
	require.Greater(t, r.Levels[2].Covered, 300)
	require.Less(t, r.Levels[2].Covered, r.Levels[2].Placements)
}

// What is found is not lost if there is no time to make it minimal.
func TestWhatIsNotMadeMinimalIsStillFound(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	rough := explored(t, based(t, "set-nx-lua"), Options{
		Faults: only(search.ClientPause), Most: 1, Reducing: func(bool) (context.Context, func()) { return over, func() {} },
	})
	whole := explored(t, based(t, "set-nx-lua"), Options{Faults: only(search.ClientPause), Most: 1})
	require.Equal(t, kindsFound(whole), kindsFound(rough))
	for _, f := range rough.Findings {
		require.True(t, f.Rough)
	}
	for _, f := range whole.Findings {
		require.False(t, f.Rough)
	}
}

func TestTheFirstViolationMayBeEnough(t *testing.T) {
	t.Parallel()
	r, err := Explore(t.Context(), based(t, "set-nx-ex-del"), Options{
		Faults: only(search.ClientPause), Most: 2, StopAtFirst: true,
	})
	require.NoError(t, err)
	require.False(t, r.Complete)
	require.False(t, r.Interrupted)
	require.Equal(t, 1, r.Violating())
	require.Len(t, r.Levels, 2)
}

func TestAModelOfNothingIsRefused(t *testing.T) {
	_, err := Explore(t.Context(), based(t, "set-nx-lua"), Options{Faults: only(search.EndSession), Most: 1})
	require.EqualError(t, err, "none of these faults can do anything to Redis: end-session")
}

func TestABaseThatCannotBePlayedIsRefused(t *testing.T) {
	base := based(t, "redlock", func(s *scenarios.Scenario) { s.Lock.Algorithm = "redlok" })
	_, err := Explore(t.Context(), base, Options{Faults: search.Kinds(), Most: 1})
	var positioned *scenarios.Error
	require.ErrorAs(t, err, &positioned)
}
