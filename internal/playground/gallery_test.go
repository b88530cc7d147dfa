package playground

import (
	"slices"
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
