package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

func locksim(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = runIn(ctx, plainEnv(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestAFileIsReplacedWhenAllIsDone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	code, stdout, _ := locksim(t.Context(), "run", "testdata/wrong.yaml", "--format", "json", "-o", file)
	require.Equal(t, exitDiffers, code, "a report of a run that is not as expected is a report")
	require.Empty(t, stdout)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, json.Valid(text), string(text))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it keeps its mode")
}

func TestAFailedRunDestroysNoFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "out.txt")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	for _, args := range [][]string{
		{"run", "testdata/bad.yaml", "-o", file},
		{"run", "fencing-33-34", "--lock", "nonsense", "-o", file},
		{"run", "fencing-33-34", "-o", dir},
		{"run", "fencing-33-34", "-o", filepath.Join(dir, "no", "such", "folder")},
	} {
		code, _, stderr := locksim(t.Context(), args...)
		require.Equal(t, exitUsage, code)
		require.NotEmpty(t, stderr)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
	requireFiles(t, dir, "out.txt")
}

func requireFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	require.Equal(t, names, found)
}

func TestAnInterruptLeavesAWholeDocument(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stdout, stderr := locksim(ctx, "run", "--all", "--seeds", "1000", "--format", "json")
	require.Equal(t, exitInterrupted, code)
	require.Contains(t, stderr, "interrupted")
	require.True(t, json.Valid([]byte(stdout)), stdout)
}

func TestAnInterruptKeepsAnEarlierFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "out.json")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := locksim(ctx, "run", "--all", "--format", "json", "-o", file)
	require.Equal(t, exitInterrupted, code)
	require.Contains(t, stderr, "out.json.partial")
	requireFiles(t, dir, "out.json", "out.json.partial")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
}

func TestTheOutputDoesNotDependOnHowManyRunAtOnce(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		_, one, _ := locksim(t.Context(), "run", "testdata/story.yaml", "--seeds", "100", "--format", format, "--jobs", "1")
		_, many, _ := locksim(t.Context(), "run", "testdata/story.yaml", "--seeds", "100", "--format", format, "--jobs", "8")
		require.NotEmpty(t, one)
		require.Equal(t, one, many)
	}
}

func TestListHasTheSchemasKeys(t *testing.T) {
	code, stdout, _ := locksim(t.Context(), "list", "--json")
	require.Equal(t, exitOK, code)
	var l struct {
		Schema    string
		Scenarios []struct {
			Name, Title, Lock, Source string
			Fencing                   []string
		}
		Locks  []struct{ Name, Title string }
		Faults []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	require.Equal(t, "locksim.list/1", l.Schema)
	require.Len(t, l.Scenarios, len(scenarios.Names()))
	for _, s := range l.Scenarios {
		require.NotEmpty(t, s.Title, s.Name)
		require.NotEmpty(t, s.Lock, s.Name)
		require.NotEmpty(t, s.Fencing, s.Name)
	}
	require.NotEmpty(t, l.Locks)
	_, stdout, _ = locksim(t.Context(), "list", "locks", "--json")
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	require.Empty(t, l.Scenarios, "only what was asked for")
}

func TestEveryFaultIsListed(t *testing.T) {
	var names []string
	for _, f := range faultEntries() {
		names = append(names, f.Name)
	}
	require.Equal(t, sim.ActionNames(), names)
}

func TestColorIsForTerminalsUnlessAskedFor(t *testing.T) {
	const escape = "\x1b["
	_, plain, _ := locksim(t.Context(), "run", "testdata/wrong.yaml")
	require.NotContains(t, plain, escape)
	_, colored, _ := locksim(t.Context(), "run", "testdata/wrong.yaml", "--color", "always")
	require.Contains(t, colored, escape)
}

func TestColumnsGivesTheWidth(t *testing.T) {
	play := func(columns int) string {
		var out, errs bytes.Buffer
		runIn(t.Context(), env{columns: columns, jobs: 1}, []string{"run", "testdata/wrong.yaml"}, &out, &errs)
		return out.String()
	}
	require.Equal(t, play(0), play(100))
	require.NotEqual(t, play(100), play(150))
	require.Equal(t, play(minWidth), play(10), "a narrow terminal gets the narrowest text there is")
}

func TestVersionIsOneLine(t *testing.T) {
	code, stdout, _ := locksim(t.Context(), "version")
	require.Equal(t, exitOK, code)
	require.Regexp(t, `^locksim .*go1\.\d+.*\n$`, stdout)
}
