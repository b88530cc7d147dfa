package minimal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of two forms the one extends the other that has all of its causes and more of them.
func TestAFormExtendsThoseOfItsCauses(t *testing.T) {
	crash, both := form{about: "a", causes: []string{"crash"}}, form{about: "a", causes: []string{"crash", "pause"}}
	require.True(t, both.extends(&crash))
	require.False(t, crash.extends(&both))
	require.False(t, both.extends(&both))
	require.False(t, both.extends(&form{about: "a", causes: []string{"cut"}}))
	require.False(t, both.extends(&form{about: "b", causes: []string{"crash"}}), "of another lock, or another violation")
}
