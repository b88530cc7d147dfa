package minimal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A lease that runs while everything comes to rest will end, and is not what somebody waits for who waits for ever.
func TestWhoWaitsForEverDoesNotWaitForALease(t *testing.T) {
	second := trace.Instant(time.Second)
	h := &history.History{End: second, Grants: []history.Grant{{From: 0, To: 2 * second, Ended: history.ByDeadline}}}
	require.Equal(t, orphan, waitFor(h, second))
	h.Quiescent = true
	require.Equal(t, outOfReach, waitFor(h, second))
	h.Grants[0].To, h.Grants[0].Ended = trace.Never, history.Open
	require.Equal(t, orphan, waitFor(h, second))
}
