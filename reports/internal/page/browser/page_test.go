package browser

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPagesLoadWithoutANetworkAndWithoutAComplaint(t *testing.T) {
	t.Parallel()
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) {
			s := played(t, name)
			b := open(t, s, options{})
			require.Equal(t, s[0].Title, b.text("h1"))
			require.Equal(t, s[0].Runs[0].Lanes[0].Title, b.text("#chart-first .name"))
			require.GreaterOrEqual(t, b.count("#moments .moment"), len(s[0].Runs[0].Moments))
			require.Zero(t, b.count("#static"))
		})
	}
}
