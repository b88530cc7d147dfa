package locktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
)

// TestWhatIsHeardOfIsNotGivenUp has a run take longer than one may that is not heard of.
func TestWhatIsHeardOfIsNotGivenUp(t *testing.T) {
	defer SetStuckAfter(time.Second)()
	var p player
	defer p.Close()
	require.NoError(t, p.do(1, "a long run", func(r *harness.Runner) {
		for range 12 {
			time.Sleep(100 * time.Millisecond) // which may take longer by far on a busy machine
			require.False(t, r.Stop())
		}
	}))
	require.ErrorIs(t, p.do(1, "a run that hangs", func(*harness.Runner) { time.Sleep(1500 * time.Millisecond) }), errStuck)
}
