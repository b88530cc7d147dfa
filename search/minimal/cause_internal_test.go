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

// Faults that are over are no reason to wait.
func TestWhoWaitsWhenAllIsWellAgainHasNotRecovered(t *testing.T) {
	h := &history.History{Faults: []history.Fault{{Fired: true, Begin: 1, End: 5}, {Fired: true, Begin: 3, End: trace.Never}}}
	require.Equal(t, outOfReach, waitFor(h, 2))
	require.Equal(t, outOfReach, waitFor(h, 9))
	h.Faults = h.Faults[:1]
	require.Equal(t, unrecovered, waitFor(h, 5))
	h.Faults = nil
	require.Equal(t, outOfReach, waitFor(h, 5))
}
