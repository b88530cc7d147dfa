package harness_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
)

// transcribed are scenarios whose observed histories stand in testdata, each for something that the observer does:
// who made the key, what a release ended, when a grant that nobody confirms is over.
var transcribed = []string{
	"fencing-33-34",             // belief, truth and effect of a pause
	"misdelete",                 // a release that ends another's grant
	"zombie-del",                // a release of something older of the same client
	"redlock-crash-restart",     // a majority, and a server that forgets
	"setnx-expire-client-crash", // a grant without end
	"watchdog-renews",           // a grant that is prolonged
}

// TestHistoriesAreAsTranscribed shows what the observer wrote down; UPDATE=1 rewrites it.
func TestHistoriesAreAsTranscribed(t *testing.T) {
	for _, name := range transcribed {
		s, err := scenarios.Load(name)
		require.NoError(t, err)
		p, err := harness.Compile(s.Cases()[0], nil)
		require.NoError(t, err)
		var r harness.Runner
		defer r.Close()
		result, err := r.Run(p, 1, false)
		require.NoError(t, err)
		text := result.History.String()

		file := filepath.Join("testdata", name+".txt")
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "UPDATE=1 go test ./harness writes it")
		require.Equal(t, string(want), text, name)

		parsed, err := history.Parse(text)
		require.NoError(t, err)
		require.Equal(t, text, parsed.String(), "the transcript of %s cannot be read back", name)
	}
}

// TestTranscriptsHaveTheirScenario keeps testdata free of what no test reads.
func TestTranscriptsHaveTheirScenario(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		known := file == experimentsFile || file == playsFile || slices.Contains(transcribed, strings.TrimSuffix(filepath.Base(file), ".txt"))
		require.True(t, known, file)
	}
}
