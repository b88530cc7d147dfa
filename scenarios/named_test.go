package scenarios

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

func TestNamedScenariosAreComplete(t *testing.T) {
	for _, name := range Names() {
		s, err := Load(name)
		require.NoError(t, err)
		require.Equal(t, name, s.Name, "the file is called as the scenario")
		require.NotEmpty(t, s.Title, name)
		require.NotEmpty(t, s.Story, name)
		require.NotEmpty(t, s.Source, name)
		for _, c := range s.Cases() {
			require.NotZero(t, len(c.Scenario.Expect)+len(c.Scenario.Measures), "%s expects nothing of %s", name, c.Variant)
		}
	}
}

func TestNamesAreSortedAndAllLoadsThem(t *testing.T) {
	names := Names()
	require.True(t, slices.IsSorted(names))
	all, err := All()
	require.NoError(t, err)
	for i, s := range all {
		require.Equal(t, names[i], s.Name)
		title, err := Title(s.Name)
		require.NoError(t, err)
		require.Equal(t, s.Title, title)
	}
	_, err = Title("nosuch")
	require.Error(t, err)
}

func TestUnknownNameSuggestsTheNearest(t *testing.T) {
	_, err := Load("redlock-clok-jump")
	require.EqualError(t, err, `there is no scenario "redlock-clok-jump"; did you mean "redlock-clock-jump"?`)
	_, err = Load("../scenario")
	require.ErrorContains(t, err, "there is no scenario")
}

func TestLeaseOverrunIsPlayedInThreeVariantsAndFiveModes(t *testing.T) {
	s, err := Load("lease-overrun")
	require.NoError(t, err)
	cases := s.Cases()
	require.Len(t, cases, 15)
	last := cases[14]
	require.Equal(t, "lease-3s-work-4s", last.Variant)
	require.Equal(t, history.CompareAndSet, last.Fencing)
	v, ok := last.Expected(checker.Resource)
	require.True(t, ok)
	require.Equal(t, checker.Held, v)
	v, _ = cases[0].Expected(checker.Resource)
	require.Equal(t, checker.Violated, v)
}
