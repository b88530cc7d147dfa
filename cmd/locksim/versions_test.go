package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// TestAVersionShowsADefectOrNot holds that a version is said to show or not to show something only if the run allows that. The locks
// are native ones, since that is said of runs, whichever lock was played.
func TestAVersionShowsADefectOrNot(t *testing.T) {
	const frame = "name: defect\nlock: {algorithm: set-nx-lua, ttl: 1s}\nnetwork: {latency: 1ms}\nresource: {fencing: none}\nuntil: 20s\n"
	const overrun, inTime = "clients: {a: {work: 3s}, b: {start: 500ms}}\n", "clients: {a: {work: 500ms}, b: {start: 100ms}}\n"
	const never = "faults:\n  - {after: {node: a, does: acquired}, nth: 9, pause: a, for: 1s}\n"
	for name, c := range map[string]struct{ text, showing, why string }{
		"violated": {overrun + "expect: {mutual-exclusion: violated}\n", "shown", ""},
		"held":     {inTime + "expect: {mutual-exclusion: violated}\n", "not shown", ""},
		"only a part": {overrun + "expect: {mutual-exclusion: violated, release-safety: violated}\n",
			"inconclusive", "release-safety is"},
		"never exposed":        {"clients: {a: {}}\nexpect: {mutual-exclusion: violated}\n", "inconclusive", "mutual-exclusion is vacuous"},
		"without its fault":    {inTime + never + "expect: {mutual-exclusion: violated}\n", "inconclusive", "never happened: pause: a"},
		"a bound":              {overrun + "bounds: {steps: 20}\nexpect: {mutual-exclusion: violated}\n", "inconclusive", "bound"},
		"a measure":            {inTime + "measures: {requests: {min: 3}}\n", "shown", ""},
		"less than a measure":  {inTime + "measures: {requests: {min: 3000}}\n", "not shown", ""},
		"no value":             {inTime + "measures: {next-holder-after-crash-ns: {min: 1s}}\n", "inconclusive", "is less"},
		"measure without harm": {inTime + "measures: {requests: {min: 3}}\nexpect: {mutual-exclusion: violated}\n", "inconclusive", "is held"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scenarios.Parse("defect", []byte(frame+c.text))
			require.NoError(t, err)
			plan, err := harness.Compile(s.Cases()[0], harness.Options{})
			require.NoError(t, err)
			var runner harness.Runner
			defer runner.Close()
			result, err := runner.Run(plan, 1, false)
			require.NoError(t, err)
			run := account.Of(plan, result)
			f := reports.Finding{Case: run.Case}
			f.Add("v1", &run)
			require.True(t, reports.HasDefect(run.Case))
			require.Equal(t, c.showing, f.Versions[0].Showing.String(), f.Versions[0].Why)
			require.Contains(t, f.Versions[0].Why, c.why)
		})
	}
}

func TestVersionsThatFollowOneAnotherAreASpan(t *testing.T) {
	f := reports.Finding{}
	for i, s := range []reports.Showing{3, 3, 3, 1, 1, 3, 1} {
		f.Versions = append(f.Versions, struct {
			Version string
			Showing reports.Showing
			Why     string
		}{fmt.Sprint("v", i), s, ""})
	}
	f.AddNotBuilt("v7", errors.New("it does not compile\n./main.go:1"))
	require.Equal(t, []string{"v0 to v2", "v5"}, f.Spans(reports.Shown))
	require.Equal(t, []string{"v3, v4", "v6"}, f.Spans(reports.NotShown))
	require.Equal(t, []string{"v7 (it does not compile)"}, f.Spans(reports.NotBuilt))
}

func TestVersionsAreOfLibraries(t *testing.T) {
	const file = "../../clients/testdata/redislock-own-key.yaml"
	for _, c := range []struct{ args, problem string }{
		{"run lease-overrun --versions all", `is not that of a library`},
		{"run --all --versions all", "--all names others"},
		{"run " + file + " --versions v0.9.3 --lock redislock", "no other lock"},
		{"run " + file + " --versions v0.9.3 --set lock.ttl=1s", "which --set and --expect any leave out"},
		{"run " + file + " --versions v0.9.3 --format json", "no other format"},
	} {
		code, out, problems := said(t, strings.Fields(c.args)...)
		require.Equal(t, exitUsage, code)
		require.Empty(t, out)
		require.Contains(t, problems, c.problem)
	}
	code, out, _ := said(t, "run", file, "--versions", "nine")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, `not built    nine ("nine" is no version of github.com/bsm/redislock`)
}
