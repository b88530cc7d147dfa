package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
)

// What a program says of its key may be wrong: then it acquires the lock, and nobody sees it hold anything.
func TestALockThatNobodySeesHeldIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		h    history.History
		says string
	}{
		{"never acquired", history.History{HasAuthority: true, Acquisitions: []history.Acquisition{{Outcome: history.Failed}}}, "never acquired"},
		{"acquired unseen", history.History{HasAuthority: true, Acquisitions: []history.Acquisition{{Outcome: history.OK}}}, "key=NAME"},
		{"of a key that is not said", history.History{Acquisitions: []history.Acquisition{{Outcome: history.OK}}}, ""},
		{"seen to hold", history.History{HasAuthority: true, Acquisitions: []history.Acquisition{{Outcome: history.OK}}, Grants: make([]history.Grant, 1)}, ""},
	} {
		err := unable(&harness.Result{History: &c.h})
		if c.says == "" {
			require.NoError(t, err, c.name)
			continue
		}
		require.ErrorContains(t, err, c.says, c.name)
	}
}
