package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// commandLine finds the uses of locksim in documents and workflows.
var commandLine = regexp.MustCompile(`(?m)^ *locksim (run|fuzz) (.+?)(?: \|\| .*)?$`)

// TestCommandsForOtherBuildServersExist plays what documents and workflows tell others to type, on a scenario and a lock
// of ours, and with fewer seeds.
func TestCommandsForOtherBuildServersExist(t *testing.T) {
	long.Only(t)
	for _, file := range []string{"../../docs/ci.md", "../../action.yml"} {
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

// uses finds the actions that workflows use, and what stands behind them on the line.
var uses = regexp.MustCompile(`(?m)^\s*(?:- )?uses: *(\S+)(.*)$`)

// pinned is an action by its commit, with the version that the commit had in a comment.
var pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// unpinned lists the actions of a text that are not pinned by commit. This repository's own are named by branch or by tag.
func unpinned(text string) (list []string) {
	for _, use := range uses.FindAllStringSubmatch(text, -1) {
		own := strings.HasPrefix(use[1], "locksim/locksim") || strings.HasPrefix(use[1], "./")
		if !own && !pinned.MatchString(use[1]+use[2]) {
			list = append(list, use[1])
		}
	}
	return list
}

func TestActionsArePinnedByCommit(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range append(files, "../../docs/ci.md", "../../action.yml") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotEmpty(t, uses.FindAllString(string(text), -1), file)
		require.Empty(t, unpinned(string(text)), file)
	}
	commit := strings.Repeat("0a", 20)
	require.Equal(t, []string{"a/tag@v4", "a/branch@main", "a/short@0a0a0a0", "a/unnamed@" + commit}, unpinned(
		"  - uses: a/tag@v4\n    uses: a/branch@main\n- uses: a/short@0a0a0a0 # v1.2.3\n- uses: a/unnamed@"+commit+"\n"+
			"- uses: a/right@"+commit+" # v1.2.3\n"))
}
