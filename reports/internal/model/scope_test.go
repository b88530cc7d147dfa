package model

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// TestClientsThatVerdictsNameHaveRows has four double holders, enough to fill the picture, and a waiter that sends too much.
func TestClientsThatVerdictsNameHaveRows(t *testing.T) {
	h := &history.History{End: trace.Instant(time.Minute)}
	for i, client := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		at := trace.Instant(i) * trace.Instant(time.Second)
		h.Acquisitions = append(h.Acquisitions, history.Acquisition{
			ID: history.ID(i + 1), Client: client, Invoked: at, Returned: at, Outcome: history.OK,
			Unlocked: at, Released: at, Crashed: trace.Never, Ended: trace.Never,
		})
	}
	r := Run{Case: scenarios.Case{Scenario: &scenarios.Scenario{}}, History: h}
	for second := history.ID(2); second <= 4; second++ {
		r.Report.Violations = append(r.Report.Violations, checker.Violation{
			Property: checker.MutualExclusion, Acquisitions: []history.ID{second - 1, second},
		})
	}
	require.Equal(t, []string{"a", "b", "c", "d", "e"}, NewScope([]Run{r}).Holders)
	r.Report.Violations = append(r.Report.Violations, checker.Violation{Property: checker.RequestLoad, Acquisitions: []history.ID{7}})
	s := NewScope([]Run{r})
	require.Equal(t, []string{"a", "b", "c", "d", "g"}, s.Holders)
	require.Equal(t, []string{"e", "f"}, s.MoreHolders)
}
