package long

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPick(t *testing.T) {
	t.Setenv("UPDATE", "1")
	t.Setenv("LONG", "0")
	usual := 100
	if testing.Short() {
		usual = 20
	}
	require.Equal(t, usual, Pick(20, 100, 1000))
	require.False(t, Measures())
	t.Setenv("LONG", "1")
	require.Equal(t, 1000, Pick(20, 100, 1000))
	require.True(t, Measures())
	t.Setenv("LONG", "10")
	require.Equal(t, 10_000, Pick(20, 100, 1000))
	for _, wrong := range []string{"yes", "", "-1", "1.5"} {
		_, err := parse(wrong)
		require.ErrorContains(t, err, "want a number such as 1")
	}
}

func TestEvery(t *testing.T) {
	usual := 8
	if testing.Short() {
		usual = 40
	}
	for value, k := range map[string]int{"0": usual, "1": 4, "3": 1, "10": 1} {
		t.Setenv("LONG", value)
		require.Equal(t, k, Every(8, 4), value)
	}
}

func TestOnly(t *testing.T) {
	for value, played := range map[string]bool{"0": false, "1": true} {
		t.Setenv("LONG", value)
		reached := false
		t.Run(value, func(t *testing.T) {
			Only(t)
			reached = true
		})
		require.Equal(t, played, reached)
	}
}
