package replay_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/replay"
)

// TestTheTableHasEveryNamedCase wants the table to be of the scenarios that there are, and nearly all of its cases to agree.
func TestTheTableHasEveryNamedCase(t *testing.T) {
	text, err := os.ReadFile("testdata/table.txt")
	require.NoError(t, err)
	var want, got []string
	list, err := replay.Named()
	require.NoError(t, err)
	for _, s := range list {
		for _, c := range s.Cases() {
			r := replay.Result{Case: c}
			want = append(want, r.Name())
		}
	}
	agree, staged := 0, 0
	rows, totals, _ := strings.Cut(strings.TrimSpace(string(text)), "\n\n")
	for _, line := range strings.Split(rows, "\n")[1:] {
		if strings.HasPrefix(line, " ") {
			continue
		}
		name, _, ok := strings.Cut(line, ": ")
		require.True(t, ok, line)
		got = append(got, name)
	}
	require.Equal(t, want, got, "go run ./cmd/locksim replay --live --all > internal/replay/testdata/table.txt")
	_, err = fmt.Sscanf(totals[strings.LastIndex(totals, "\n")+1:], "%d of %d cases agree", &agree, &staged)
	require.NoError(t, err)
	require.GreaterOrEqual(t, 10*agree, 9*staged)
}
