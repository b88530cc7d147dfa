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
	agree, all := 0, 0
	rows, totals, _ := strings.Cut(strings.TrimSpace(string(text)), "\n\n")
	for _, line := range strings.Split(rows, "\n") {
		if strings.HasPrefix(line, " ") {
			continue
		}
		name, _, staged := strings.Cut(line, " (speed ")
		if !staged {
			name, _, _ = strings.Cut(line, ": cannot be staged: ")
		}
		got = append(got, name)
	}
	require.Equal(t, want, got, "go run ./cmd/locksim replay --live --all > internal/replay/testdata/table.txt")
	_, err = fmt.Sscanf(totals[strings.LastIndex(totals, "\n")+1:], "%d of %d cases agree", &agree, &all)
	require.NoError(t, err)
	require.GreaterOrEqual(t, 10*agree, 9*all)
}
