package main

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

func TestExploreSavesFindingsThatReplay(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	dir := t.TempDir()
	args := []string{"explore", "set-nx-ex-del", "--faults", "client-pause", "--property", "release-safety", "--save"}
	code, text, stderr := locksim(t.Context(), append(args, dir)...)
	require.Equal(t, exitDiffers, code, stderr)
	commands := regexp.MustCompile(`locksim (run \S+\.yaml.*)\n`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, commands)
	for _, c := range commands {
		code, told, stderr := locksim(t.Context(), strings.Fields(c[1])...)
		require.Equal(t, exitOK, code, "as expected:\n%s%s", told, stderr)
		require.Contains(t, told, "release-safety")
	}
	again := t.TempDir()
	_, other, _ := locksim(t.Context(), append(args, again, "--jobs", "1")...)
	require.Equal(t, text, strings.ReplaceAll(other, again, dir))
	requireSameFolders(t, dir, again)
}

// exploreResult is the JSON as others read it.
type exploreResult struct {
	Schema                    string
	Schedules, Played, Merged int
	Complete                  bool
	Interrupted               bool
	Levels                    []struct{ Faults, Placements, Covered, Played, Merged, Idle, Contain, Violating int }
	Findings                  []struct{ Property, Kind, Scenario, Story string }
}

func exploredAsJSON(t *testing.T, ctx context.Context, want int, args ...string) (r exploreResult) {
	t.Helper()
	args = append([]string{
		"explore", "set-nx-ex-del", "--faults", "client-pause", "--format", "json", "--save", t.TempDir(),
	}, args...)
	code, text, stderr := locksim(ctx, args...)
	require.Equal(t, want, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(text), &r), text)
	require.Equal(t, "locksim.explore/1", r.Schema)
	return r
}

func TestExploreCountsWhatItHasNotPlayed(t *testing.T) {
	long.NotShort(t)
	r := exploredAsJSON(t, t.Context(), exitDiffers, "--max-faults", "2", "--property", "release-safety")
	require.True(t, r.Complete)
	require.NotEmpty(t, r.Findings)
	require.Len(t, r.Levels, 3)
	schedules := 0
	for n, l := range r.Levels {
		require.Equal(t, n, l.Faults)
		require.Equal(t, l.Placements, l.Covered)
		require.Equal(t, l.Covered, l.Played+l.Merged+l.Contain)
		schedules += l.Covered - l.Idle
	}
	require.Equal(t, r.Schedules, schedules)
	require.Positive(t, r.Merged)
	require.Positive(t, r.Levels[2].Contain)
}

func TestAnInterruptedExploreKeepsWhatItHasFound(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := exploredAsJSON(t, ctx, exitInterrupted)
	require.True(t, r.Interrupted)
	require.False(t, r.Complete)
	require.Equal(t, 4, r.Played, "the base and its variations")
	require.Zero(t, r.Levels[1].Covered)
	require.Positive(t, r.Levels[1].Placements)
}

func TestAnExploreThatRunsOutOfTimeSaysHowFarItCame(t *testing.T) {
	code, text, stderr := locksim(t.Context(),
		"explore", "redlock", "--style", "careful", "--max-faults", "3", "--for", "200ms",
		"--property", "mutual-exclusion", "--faults", "client-pause", "--save", t.TempDir())
	require.Equal(t, exitInconclusive, code, stderr)
	require.Regexp(t, `covered (all|\d+ of \d+) of one fault; .*none of three faults: no violation in these\n$`, text)
}
