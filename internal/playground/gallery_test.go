package playground

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
)

// TestTheGalleryBeginsWithTheKnownArguments and has each scenario once, in groups that are not torn apart.
func TestTheGalleryBeginsWithTheKnownArguments(t *testing.T) {
	var e Engine
	a := ask(t, &e, Request{Do: "gallery"})
	require.Len(t, a.Gallery, len(scenarios.Names()))
	require.Equal(t, Opens, a.Gallery[0].Name)
	var heads, names []string
	for i, g := range a.Gallery {
		names = append(names, g.Name)
		if i == 0 || g.Group != a.Gallery[i-1].Group {
			heads = append(heads, g.Group)
		}
	}
	require.Len(t, heads, len(groups), "each group once, and none is empty")
	slices.Sort(names)
	require.Equal(t, slices.Sorted(slices.Values(scenarios.Names())), names)
	var listed []string
	for _, g := range groups {
		for _, name := range g.names {
			require.Contains(t, names, name)
			require.NotContains(t, listed, name, "in two groups")
			listed = append(listed, name)
		}
	}
}

// TestEveryEntryOfTheGalleryHasAPicture of 16 to 9, as a slide.
func TestEveryEntryOfTheGalleryHasAPicture(t *testing.T) {
	t.Parallel()
	var e Engine
	for _, name := range scenarios.Names() {
		a := ask(t, &e, Request{Do: "slide", Name: name})
		require.Empty(t, a.Problems, name)
		require.True(t, strings.HasPrefix(a.Picture, "<svg"), name)
	}
	few := ask(t, &e, Request{Do: "slide", Name: Opens, Lanes: []string{"a", "b", "storage"}})
	require.NotContains(t, few.Picture, ">redis-1<")
	require.Contains(t, ask(t, &e, Request{Do: "slide", Name: Opens}).Picture, ">redis-1<")
	require.Contains(t, ask(t, &e, Request{Do: "slide", Name: Opens, Lanes: []string{"z"}}).Problems[0].Text, `no lane "z"`)
}
