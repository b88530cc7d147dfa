package playground

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// TestAnOutlineIsDrawnAsTheWhole has the same lanes, axis, numbered moments and messages that matter, and nothing beside them.
func TestAnOutlineIsDrawnAsTheWhole(t *testing.T) {
	t.Parallel()
	for i, name := range scenarios.Names() {
		if i%12 != 0 {
			continue
		}
		var e Engine
		whole := ask(t, &e, Request{Do: "play", Text: textOf(t, name)})
		if all := whole.Variants; len(all) > 0 {
			whole = ask(t, &e, Request{Do: "play", Text: textOf(t, name), Variant: all[len(all)-1]})
		}
		outline := ask(t, &e, Request{Do: "play", Text: textOf(t, name), Variant: whole.Variant, Outline: true})
		require.Equal(t, whole.Digests, outline.Digests, name)
		require.Equal(t, whole.Faults, outline.Faults, name)
		for k := range whole.Schedules {
			a, b := &whole.Schedules[k], &outline.Schedules[k]
			require.Equal(t, a.Axis, b.Axis, name)
			require.Empty(t, b.Settings)
			for j := range a.Runs {
				x, y := &a.Runs[j], &b.Runs[j]
				require.Equal(t, x.Lanes, y.Lanes, name)
				require.Equal(t, []any{x.Headline, x.Tone, x.Twin, x.Verdicts}, []any{y.Headline, y.Tone, y.Twin, y.Verdicts}, name)
				require.Empty(t, y.Proof)
				require.Equal(t, slices.DeleteFunc(slices.Clone(x.Moments), func(m reports.Moment) bool { return m.Number == 0 }), y.Moments, name)
				matter := slices.DeleteFunc(slices.Clone(x.Messages), func(m reports.Message) bool { return !m.Matters })
				for l := range matter {
					matter[l].Detail = ""
				}
				require.ElementsMatch(t, matter, y.Messages, name)
			}
		}
	}
}
