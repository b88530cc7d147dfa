package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// neverUnlocks is a lock whose Unlock does nothing.
type neverUnlocks struct{ locks.Lock }

func (neverUnlocks) Release(locks.Lease) error { return nil }

// A connection that was not unlocked is granted its lock once more, by the next acquisition of its task.
func TestAConnectionIsGrantedAgainWhatItHas(t *testing.T) {
	s, err := scenarios.Parse("story.yaml", []byte(`
name: story
lock: {algorithm: pg-advisory}
servers: {kind: postgres}
clients: {a: {sections: 2, work: 1s, think: 1s}}
network: {latency: 1ms}
`))
	require.NoError(t, err)
	lock, ok := locks.Catalogue().Find("pg-advisory")
	require.True(t, ok)
	build := lock.New
	lock.New = func(o locks.Options) locks.Builder {
		return func(p locks.Process) (locks.Lock, error) {
			l, err := build(o)(p)
			return neverUnlocks{l}, err
		}
	}
	plan, err := harness.Compile(s.Cases()[0], harness.Options{Instead: &lock})
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(plan, s.Seed, false)
	require.NoError(t, err)
	var granted []history.ID
	for _, g := range result.History.Grants {
		granted = append(granted, g.Acquisition)
	}
	require.Equal(t, []history.ID{1, 2}, granted)
}
