package minimal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
)

// A sketch tells for a few runs what a reduction tells for many, and knows a violation again.
func TestASketchHasTheFormOfTheMinimalScenario(t *testing.T) {
	long.NotShort(t)
	var r harness.Runner
	defer r.Close()
	same, sketched, reduced := 0, 0, 0
	each := long.Pick(1, 1, 4)
	for i := range each * len(campaigns) {
		h, known := campaigns[i%len(campaigns)], []*minimal.Counterexample(nil)
		v, c := h.reduced(t, &r, uint64(i/len(campaigns))*1000)
		o, err := minimal.Sketch(&r, v, known, minimal.Options{})
		require.NoError(t, err)
		require.Negative(t, o.Known, "nothing of this lock, property and mode is known")
		sketched, reduced = sketched+o.Runs, reduced+c.Runs
		known = append(known, c)
		if o.Form != c.Form() {
			continue
		}
		same++
		again, err := minimal.Sketch(&r, v, known, minimal.Options{})
		require.NoError(t, err)
		require.Equal(t, len(known)-1, again.Known)
		require.LessOrEqual(t, again.Runs, o.Runs)
	}
	require.Greater(t, same, each*len(campaigns)*2/3) // the others were drawn with a kind of crash or with work that is not needed
	require.Less(t, 5*sketched, reduced)
}

// What cannot simply be left away is often not needed either: it only has the others meet.
func TestASketchNeedsFewerFaultsThanACore(t *testing.T) {
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	fewer := 0
	hits(t, &r, "set-nx-lua", 300, func(h *minimal.Hit, _ scenarios.Case) {
		for _, v := range h.Violations {
			o, err := minimal.Sketch(&r, v, nil, minimal.Options{})
			require.NoError(t, err)
			if core := minimal.Core(&r, v); o.Form != core {
				fewer++
			}
		}
	})
	require.Greater(t, fewer, 5)
}

// A sketch of which nobody knows how good it is would be taken for a better one.
func TestOfWorkWhoseContextIsDoneComesWhatThereIs(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	v := campaigns[1].violation(t, &r, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rough, err := minimal.Reduce(&r, v, minimal.Options{Context: ctx})
	require.NoError(t, err)
	require.True(t, rough.Rough)
	require.LessOrEqual(t, rough.Runs, 3, "it is played, perhaps without faults that never happened, and as its file is read")
	require.Contains(t, string(minimal.File(rough)), "# It is not minimal: that was ended early.")
	whole, err := minimal.Reduce(&r, rough.Violation, minimal.Options{})
	require.NoError(t, err)
	require.False(t, whole.Rough)
	require.Less(t, len(whole.Scenario.YAML()), len(rough.Scenario.YAML()))
	_, err = minimal.Sketch(&r, v, nil, minimal.Options{Context: ctx})
	require.ErrorIs(t, err, context.Canceled)
}
