package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"

	"github.com/locksim/locksim/internal/search/compare"
)

// fewColumns compares a lock with a token and one without, under few faults.
var fewColumns = []string{
	"compare", "set-nx-lua-fenced", "memcached-cas", "--faults", "none,overrun,evict", "--fencing", "none,fenced-write", "--runs", "60",
}

func TestEveryRedCellReplaysWithItsCommand(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	code, _, said := locksim(t.Context(), append(fewColumns, "--save", "report")...)
	require.Equal(t, exitOK, code, said)
	text, err := os.ReadFile("report/comparison.json")
	require.NoError(t, err)
	var c compare.Comparison
	require.NoError(t, json.Unmarshal(text, &c))
	commands := map[string]compare.Cell{}
	for _, cell := range c.Cells {
		if cell.Outcome == compare.Violated {
			require.NotEmpty(t, cell.Example.Story)
			commands[cell.Command] = cell
		}
	}
	require.Greater(t, len(commands), 3)
	for command, cell := range commands {
		code, out, said := locksim(t.Context(), strings.Fields(command)[1:]...)
		require.Equal(t, exitOK, code, "%s: as expected, violated: %s", command, said)
		require.Regexp(t, cell.Property+` +violated`, out, command)
	}
	for _, kind := range []string{"yaml", "svg", "html"} {
		files, err := filepath.Glob("report/examples/*." + kind)
		require.NoError(t, err)
		require.NotEmpty(t, files)
	}
	for _, file := range []string{"index.html", "index.md", "matrix.svg"} {
		info, err := os.Stat(filepath.Join("report", file))
		require.NoError(t, err)
		require.Positive(t, info.Size(), file)
	}
}

func TestASavedComparisonIsWrittenInOtherFormatsWithoutPlaying(t *testing.T) {
	file := filepath.Join(t.TempDir(), "comparison.json")
	args := []string{"compare", "memcached-cas", "--faults", "none", "--fencing", "none", "--runs", "20"}
	code, played, said := locksim(t.Context(), append(args, "--format", "json")...)
	require.Equal(t, exitOK, code, said)
	require.NoError(t, os.WriteFile(file, []byte(played), 0o600))
	for _, format := range []string{"text", "markdown", "html", "json", "csv"} {
		code, again, said := locksim(t.Context(), "compare", "--from-json", file, "--format", format)
		require.Equal(t, exitOK, code, said)
		require.Contains(t, again, "memcached-cas", format)
		if format == "json" {
			require.Equal(t, played, again)
		}
	}
}

func TestMistakesInComparingAreSaidInOneLine(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.json")
	require.NoError(t, os.WriteFile(other, []byte(`{"schema": "locksim.measure/1"}`), 0o600))
	none := filepath.Join(dir, "none.json")
	require.NoError(t, os.WriteFile(none, []byte("locks"), 0o600))
	for _, x := range []struct {
		args []string
		says string
	}{
		{[]string{"set-nx-lau"}, `there is no lock "set-nx-lau"; did you mean "set-nx-lua"?`},
		{[]string{"--faults", "pause"}, `there is no column "pause"`},
		{[]string{"--fencing", "fence"}, `there is no fencing mode "fence"`},
		{[]string{"--runs", "0"}, "not a whole number from 1"},
		{[]string{"--from-json", other}, "is not a comparison: its form is"},
		{[]string{"--from-json", none}, "is not a comparison"},
		{[]string{"--from-json", "missing.json"}, "missing.json"},
		{[]string{"redlock", "--from-json", other}, `--from-json runs nothing, but "redlock" was given`},
		{[]string{"--save", dir, "--from-json", other}, "--save has nothing to save"},
	} {
		code, out, said := locksim(t.Context(), append([]string{"compare"}, x.args...)...)
		require.Equal(t, exitUsage, code, x.args)
		require.Empty(t, out)
		require.Contains(t, said, x.says)
		require.Equal(t, 1, strings.Count(said, "\n"), said)
	}
}

func TestAComparisonThatIsInterruptedKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, out, said := locksim(ctx, append(fewColumns, "--format", "json")...)
	require.Equal(t, exitInterrupted, code)
	require.Equal(t, "locksim: interrupted\n", said)
	var c compare.Comparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	require.True(t, c.Interrupted)
}

func TestLibrariesAreComparedBesideWhatTheyImplement(t *testing.T) {
	long.Only(t)
	dir := t.TempDir()
	code, out, problems := said(t, "compare", "redislock", "set-nx-lua", "redislock", "--faults", "none,same-random",
		"--fencing", "none", "--runs", "4", "--save", dir, "--pictures", "svg", "--rates-only")
	require.Equal(t, exitOK, code, problems)
	require.Contains(t, problems, "redislock: the library's own code (github.com/")
	require.Contains(t, out, "One of them is a")
	text, err := os.ReadFile(filepath.Join(dir, "comparison.json"))
	require.NoError(t, err)
	var c compare.Comparison
	require.NoError(t, json.Unmarshal(text, &c))
	require.Len(t, c.Locks, 2, "each once")
	require.Equal(t, "redislock", c.Locks[0].Name, "in the order in which they were named")
	require.Contains(t, c.Locks[0].Library, "github.com/bsm/redislock v")
	require.Empty(t, c.Locks[1].Library)
	red := 0
	for _, cell := range c.Cells {
		switch {
		case cell.Property == "survival":
			require.Equal(t, cell.Lock == "set-nx-lua", cell.Outcome == compare.Impossible, cell.Lock)
		case cell.Outcome == compare.Violated:
			red++
			_, err := os.Stat(filepath.Join(dir, compare.ExampleFolder, cell.Example.Name+".svg"))
			require.NoError(t, err)
		}
	}
	require.Positive(t, red, "a client with another client's random value has its lock")
}

func TestALockThatCannotBeSetUpIsNotCompared(t *testing.T) {
	code, out, problems := said(t, "compare", "../../clients/testdata/unready", "--runs", "1")
	require.Equal(t, exitUsage, code, problems)
	require.Empty(t, out)
	require.Contains(t, problems, "before it asks for the lock for the first time")
}
