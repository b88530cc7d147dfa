package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	readme     = "../../README.md"
	quickStart = "../../docs/quick-start.md"
	fuzzing    = "../../docs/fuzzing.md"
)

// between returns where the text between two marks begins and ends.
func between(t *testing.T, text, open, closing string) (from, to int) {
	t.Helper()
	_, after, ok := strings.Cut(text, open)
	require.True(t, ok, "the document has no %q", open)
	from = len(text) - len(after)
	n := strings.Index(after, closing)
	require.GreaterOrEqual(t, n, 0)
	return from, from + n
}

// TestReadmeShowsWhatTheFirstCommandPrints keeps the picture in the README what the command makes of it; UPDATE=1
// rewrites it.
func TestReadmeShowsWhatTheFirstCommandPrints(t *testing.T) {
	var out, stderr bytes.Buffer
	require.Zero(t, run([]string{"run", "fencing-33-34", "--width", "96"}, &out, &stderr), stderr.String())
	from, to := between(t, out.String(), "damage", "  Measured:") // from the first verdict on, to the second picture
	picture := out.String()[from:to]
	picture = picture[strings.Index(picture, "           │"):]

	data, err := os.ReadFile(readme)
	require.NoError(t, err)
	text := string(data)
	from, to = between(t, text, "(shortened):\n\n```\n", "\n```")
	if os.Getenv("UPDATE") != "" {
		text = text[:from] + strings.TrimRight(picture, "\n") + text[to:]
		require.NoError(t, os.WriteFile(readme, []byte(text), 0o644))
		from, to = between(t, text, "(shortened):\n\n```\n", "\n```")
	}
	require.Equal(t, strings.TrimRight(picture, "\n"), text[from:to], "UPDATE=1 go test ./cmd/locksim rewrites it")
}

// TestFuzzingPageShowsWhatFuzzFinds keeps the example of the page on fuzzing up to date; UPDATE=1 rewrites it.
func TestFuzzingPageShowsWhatFuzzFinds(t *testing.T) {
	data, err := os.ReadFile(fuzzing)
	require.NoError(t, err)
	text := string(data)
	from, to := between(t, text, "go run ./cmd/locksim fuzz ", "\n```")
	args := append([]string{"fuzz"}, strings.Fields(text[from:to])...)
	var out, stderr bytes.Buffer
	require.Equal(t, exitDiffers, run(append(args, "--width", "96", "--save", t.TempDir()), &out, &stderr), stderr.String())
	found, _, ok := strings.Cut(out.String(), "\n\nredlock with a lease")
	require.True(t, ok, out.String())

	const open = "prints, before the picture:\n\n```\n"
	from, to = between(t, text, open, "\n```")
	if os.Getenv("UPDATE") != "" {
		text = text[:from] + found + text[to:]
		require.NoError(t, os.WriteFile(fuzzing, []byte(text), 0o644))
		from, to = between(t, text, open, "\n```")
	}
	require.Equal(t, found, text[from:to], "UPDATE=1 go test ./cmd/locksim rewrites it")
}

// TestScenarioOfTheQuickStartIsAsExpected plays the scenario that the quick start shows.
func TestScenarioOfTheQuickStartIsAsExpected(t *testing.T) {
	data, err := os.ReadFile(quickStart)
	require.NoError(t, err)
	from, to := between(t, string(data), "```yaml\n", "```")
	file := filepath.Join(t.TempDir(), "my-story.yaml")
	require.NoError(t, os.WriteFile(file, data[from:to], 0o644))
	var out, stderr bytes.Buffer
	require.Zero(t, run([]string{"run", file, "--seeds", "20"}, &out, &stderr), out.String()+stderr.String())
}
