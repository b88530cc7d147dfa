package promise

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// What is written down by name is of locks that there are, and of promises that they would make.
func TestExceptionsNameLocksAndPromises(t *testing.T) {
	rows := map[string][]string{}
	for _, a := range locks.Catalogue().All() {
		for _, p := range For(Of(a)) {
			rows[a.Name] = append(rows[a.Name], p.Row)
		}
	}
	for lock, list := range kept {
		require.Contains(t, rows, lock)
		for _, row := range strings.Fields(list) {
			require.Contains(t, rows[lock], row, lock)
			require.NotContains(t, sampled, row)
		}
	}
	for row, list := range sampled {
		for _, lock := range list {
			require.Contains(t, rows[lock], row, lock)
		}
	}
}

func TestPromisesHaveANameOrARowAndAnArgument(t *testing.T) {
	for _, a := range locks.Catalogue().All() {
		for _, p := range For(Of(a)) {
			require.True(t, p.Name != "" || p.Row != "", "%s: %s", a.Name, p.Why)
			require.NotEmpty(t, p.Why, "%s: %s", a.Name, p.Name)
			require.False(t, slices.Contains([]string{p.Why[:1], p.Why[len(p.Why)-1:]}, " "), p.Why)
		}
	}
}

// A lock may take its random names and values for its own.
func TestNoLockIsAskedToSurviveSharedRandomNumbers(t *testing.T) {
	for _, a := range locks.Catalogue().All() {
		for _, p := range For(Of(a)) {
			assert.False(t, p.Name != "" && slices.Contains(p.Model.Faults, search.SameRandom), "%s: %s", a.Name, p.Name)
		}
	}
}

// Where clients compare the times of different clocks, nobody is kept out, or let in, if those clocks differ.
func TestLocksThatCompareClocksAreAskedWhereTheseAgree(t *testing.T) {
	compare := 0
	for _, a := range locks.Catalogue().All() {
		s := Of(a)
		if !s.Wall {
			continue
		}
		compare++
		for _, p := range For(s) {
			if !slices.Contains([]Name{ExclusionAtService, ExclusionWithinLease, Progress}, p.Name) {
				continue
			}
			for _, k := range []search.Kind{search.ClientClock, search.ServerAhead, search.ServerBack, search.Drift} {
				assert.NotContains(t, p.Model.Faults, k, "%s: %s", a.Name, p.Name)
			}
			assert.Zero(t, p.Model.Drift, "%s: %s", a.Name, p.Name)
		}
	}
	require.NotZero(t, compare)
}

// Holders who listen to notices of loss alone do not hear that a session may end.
func TestWhoIsSuspendedIsHeardByCarefulHolders(t *testing.T) {
	a, _ := locks.Catalogue().Find("chubby")
	s := Of(a)
	for _, suspends := range []bool{false, true} {
		s.Suspends = suspends
		list := For(s)
		i := slices.IndexFunc(list, func(p Promise) bool { return p.Name == ExclusionUntilSuspended })
		require.Equal(t, suspends, slices.Contains(list[i].Model.Styles, history.Careful))
	}
}
