package paint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheWedgeFallsWithTheTimeThatIsLeft(t *testing.T) {
	g := ASCII()
	require.Equal(t, '8', g.Level(10e9, 10e9))
	require.Equal(t, '4', g.Level(4e9, 10e9))
	require.Equal(t, '1', g.Level(-1, 10e9))
	require.Equal(t, '8', g.Level(1<<62, 1<<62))
}

// TestWhatHeldDoesNotHideWhatWasViolated: the largest ink of several results is the one that their cell is painted in.
func TestWhatHeldDoesNotHideWhatWasViolated(t *testing.T) {
	require.Equal(t, Red, max(Faint, Green, Red))
	require.Equal(t, Amber, max(Faint, Green, Amber))
	require.Equal(t, Differs, max(Faint, Green, Amber, Red, Differs))
}
