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
