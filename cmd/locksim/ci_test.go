package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// commandLine finds the uses of locksim in documents and workflows.
var commandLine = regexp.MustCompile(`(?m)^ *locksim (run|fuzz) (.+?)(?: \|\| .*)?$`)

// TestCommandsForOtherBuildServersExist plays what documents and workflows tell others to type, on a scenario and a lock
// of ours, and with fewer seeds.
func TestCommandsForOtherBuildServersExist(t *testing.T) {
	for _, file := range []string{"../../docs/ci.md", "../../.github/workflows/locks.yml"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found := commandLine.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, found, file)
		dir := t.TempDir()
		story, err := filepath.Abs("testdata/story.yaml")
		require.NoError(t, err)
		replaced := strings.NewReplacer(
			"-o locksim-report/", "-o "+dir+"/", "-o ", "-o "+dir+"/", "--save locksim-report/", "--save "+dir+"/",
			"--save ", "--save "+dir+"/", "locksim/*.yaml", story, `"${files[@]}"`, story, `"${found[@]}"`, story,
			`"$each"`, "set-nx-lua", " redlock", " set-nx-lua", `"$SEEDS"`, "3", "--seeds 1000", "--seeds 3",
			"--for 5m", "--runs 5", `--for "$FOR"`, "--runs 5",
		)
		for _, line := range found {
			args := append([]string{line[1]}, strings.Fields(replaced.Replace(line[2]))...)
			code, _, stderr := locksim(t.Context(), args...)
			require.Contains(t, []int{exitOK, exitDiffers}, code, "%s: %s\n%s", file, line[0], stderr)
		}
	}
}
