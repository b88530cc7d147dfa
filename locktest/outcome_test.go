package locktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
)

func TestOutcomesOfAScenarioAreCompared(t *testing.T) {
	text, err := scenarios.Text("fencing-33-34")
	require.NoError(t, err)
	got, err := Outcomes("x.yaml", string(text))
	require.NoError(t, err)
	require.Equal(t, []string{"mutual-exclusion", "resource"}, got[0].Violated)
	problems, err := unlike("x.yaml", string(text), got)
	require.NoError(t, err)
	require.Empty(t, problems)

	other := got[0]
	other.Digest++
	absent := got[0]
	absent.Style = "careful"
	kept := got[1]
	kept.Violated = nil
	problems, err = unlike("x.yaml", string(text), []Outcome{other, absent, kept})
	require.NoError(t, err)
	require.Len(t, problems, 3)
	require.Contains(t, problems[0], "got digest")
	require.Contains(t, problems[1], "no such case (careful clients, fencing none)")
	require.Contains(t, problems[2], "want digest")

	_, err = unlike("x.yaml", "name: x\nlock: {algorithm: redlok}", nil)
	require.ErrorContains(t, err, "x.yaml:")
}
