package search_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// TestDrawsStayAsTheyAre holds what numbered draws of the widest fault model of each lock come to, as text and as played. A change
// of structure that moves one of them changes the generator, or what a run does: a campaign that is continued, or divided
// over machines, would no longer draw and play the same.
func TestDrawsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const file = "testdata/draws"
	var text strings.Builder
	for _, a := range locks.Catalogue().All() {
		drawn, played := drawsOf(t, &a, 200, 10)
		fmt.Fprintf(&text, "%016x drawn %016x played %s\n", drawn, played, a.Name)
	}
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text.String(), "if other draws are meant: UPDATE=1 go test ./internal/search")
}

// drawsOf returns digests of some draws as text, and of the runs of the first of them.
func drawsOf(t *testing.T, a *locks.Algorithm, draws, plays uint64) (drawn, played uint64) {
	t.Helper()
	model := search.Wide(a, search.Kinds())
	var text, runs trace.Digest
	var r harness.Runner
	defer r.Close()
	for n := range draws {
		s := search.Generate(search.Seeded(n), model)
		text.String(string(s.YAML()))
		if n >= plays {
			continue
		}
		search.Play(&r, s, harness.Options{}, func(_ scenarios.Case, result *harness.Result, err error) bool {
			if err != nil {
				runs.String(err.Error())
				return true
			}
			runs.String(fmt.Sprint(result.Digest))
			return true
		})
	}
	return text.Sum(), runs.Sum()
}

// TestDrawsOfAnotherModelAreOthers: digests that agreed for any fault model would hold nothing.
func TestDrawsOfAnotherModelAreOthers(t *testing.T) {
	a, there := locks.Catalogue().Find("set-nx-lua")
	require.True(t, there)
	b, there := locks.Catalogue().Find("watchdog")
	require.True(t, there)
	drawn, played := drawsOf(t, &a, 3, 1)
	others, runs := drawsOf(t, &b, 3, 1)
	require.NotEqual(t, drawn, others)
	require.NotEqual(t, played, runs)
}
