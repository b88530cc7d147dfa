package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fewPauses measures a lock with a token and one without, in two fencing modes.
var fewPauses = []string{
	"measure", "set-nx-lua-fenced", "set-nx-lua", "--faults", "client-pause", "--fencing", "none,fenced-write", "--property",
	"resource", "--runs", "150",
}

func TestMeasureDoesNotDependOnHowManyRunAtOnce(t *testing.T) {
	code, one, said := locksim(t.Context(), append(fewPauses, "--jobs", "1")...)
	require.Equal(t, exitOK, code)
	require.Empty(t, said)
	_, eight, _ := locksim(t.Context(), append(fewPauses, "--jobs", "8")...)
	require.Equal(t, one, eight)
	require.Contains(t, one, "150 schedules, from number 0 on; rates with exact 95 % confidence intervals")
	require.Contains(t, one, "faults: client-pause\nstyle: careless\nproperty: resource\nruns: 150\n")
	require.Regexp(t, `(?m)^set-nx-lua +none +\d+ +[\d.]+ % +[\d.]+ % to [\d.]+ % +[\d.]+ % +\d+$`, one)
	require.NotRegexp(t, `(?m)^set-nx-lua +fenced-write`, one, "it has no token")
	require.Regexp(t, `(?m)^resource on the same schedules as set-nx-lua, none +only here +only there +both +p$`, one)
	require.Regexp(t, `(?m)^  set-nx-lua-fenced, fenced-write +0 +\d+ +\d+ +[\de.-]+$`, one)
}

func TestMeasureSaysTheSameInAllFormats(t *testing.T) {
	_, text, _ := locksim(t.Context(), append(fewPauses, "--format", "json", "--confidence", "99")...)
	var d measureDocument
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	require.Equal(t, "locksim.measure/1", d.Schema)
	require.Equal(t, 99, d.Confidence)
	require.Len(t, d.Cells, 3)
	_, text, _ = locksim(t.Context(), append(fewPauses, "--format", "csv")...)
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 4)
	for i, c := range d.Cells {
		require.Equal(t, []string{c.Lock, c.Faults, c.Style, c.Fencing, c.Property}, lines[i+1][:5])
		require.Less(t, *c.Least, *c.Rate)
		require.Greater(t, *c.Most, *c.Rate)
		require.Positive(t, c.InDanger)
		require.Equal(t, c.First.Command, lines[i+1][len(lines[i+1])-1])
		require.Equal(t, i > 0, c.Compared != nil)
	}
}

func TestMeasureShowsWhatItCounted(t *testing.T) {
	_, text, _ := locksim(t.Context(), fewPauses...)
	replay := regexp.MustCompile(`(?m)^  locksim (measure set-nx-lua-fenced .*fenced-write.*) --save \.  # `).FindStringSubmatch(text)
	require.NotNil(t, replay, text)
	dir := t.TempDir()
	code, again, said := locksim(t.Context(), append(strings.Fields(replay[1]), "--save", dir)...)
	require.Equal(t, exitOK, code, said)
	files, err := filepath.Glob(filepath.Join(dir, "set-nx-lua-fenced-resource-*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Contains(t, again, "  locksim run "+files[0]+"  # ")
	code, _, said = locksim(t.Context(), "run", files[0])
	require.Equal(t, exitOK, code, "as expected, violated: %s", said)
}

func TestMeasureOfEachKindHasALineForEach(t *testing.T) {
	_, text, _ := locksim(t.Context(), "measure", "set-nx-lua", "--faults", "none,client-pause,drift", "--each", "--runs", "5",
		"--property", "all")
	for _, kind := range []string{"none", "client-pause", "drift"} {
		require.Regexp(t, `(?m)^set-nx-lua +`+kind+` +mutual-exclusion `, text)
		require.Regexp(t, `(?m)^set-nx-lua +`+kind+` +fencing-order +– +– +not judged`, text)
	}
}

// TestMeasureAnswersAsCompareDoes asks for faults that five independent masters never meet, and for work that outlasts a lease.
func TestMeasureAnswersAsCompareDoes(t *testing.T) {
	args := []string{"measure", "redlock", "set-nx-lua", "--faults", "none,overrun,failover", "--property", "mutual-exclusion", "--runs", "200"}
	_, text, _ := locksim(t.Context(), append(args, "--each", "--format", "json")...)
	var d measureDocument
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	require.Len(t, d.Cells, 6)
	violated := map[string]int{}
	for _, c := range d.Cells {
		violated[c.Lock+" "+c.Faults] = c.Violated
		require.Equal(t, c.Lock == "redlock" && c.Faults == "failover", c.Impossible != "", "%+v", c)
		require.Equal(t, c.Impossible != "", c.Runs == 0, "%+v", c)
	}
	require.Zero(t, violated["set-nx-lua none"], "no work outlasts the lease")
	require.Positive(t, violated["set-nx-lua overrun"])
	require.Positive(t, violated["set-nx-lua failover"], "it is not safer with failovers than without")
	_, text, _ = locksim(t.Context(), "measure", "redlock", "--faults", "failover,partition", "--runs", "10")
	require.Regexp(t, `(?m)^redlock +mutual-exclusion .* impossible +– +its servers have no replicas or peers`, text)
	_, text, _ = locksim(t.Context(), append(args, "--format", "csv")...)
	require.Contains(t, text, `redlock,"none,overrun,failover",careless,none,mutual-exclusion,`, "some of it can happen")
}

func TestMeasureThatIsInterruptedKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, text, said := locksim(ctx, append(fewPauses, "--format", "json")...)
	require.Equal(t, exitInterrupted, code)
	require.Equal(t, "locksim: interrupted: 0 of 450 runs were played\n", said)
	var d measureDocument
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	require.True(t, d.Interrupted)
	require.Len(t, d.Cells, 3)
}

func TestMeasureIsToldWhatIsWrong(t *testing.T) {
	for problem, args := range map[string][]string{
		`there is no lock, library or scenario "set-nx-lau"; did you mean "set-nx-lua"?`: {"set-nx-lau"},
		"no lock given":               {},
		"need a token":                {"set-nx-lua", "--fencing", "fenced-write"},
		"not one of 95, 99":           {"set-nx-lua", "--confidence", "90"},
		"not one of text, json, csv":  {"set-nx-lua", "--format", "yaml"},
		"there is no kind of fault":   {"set-nx-lua", "--faults", "rain"},
		"there is no fencing mode":    {"set-nx-lua", "--fencing", "rain"},
		"exceeds 2^64":                {"set-nx-lua", "--from", "18446744073709551615"},
		"unknown flag --run; did you": {"set-nx-lua", "--run", "1"},
	} {
		code, _, said := locksim(t.Context(), append([]string{"measure"}, args...)...)
		require.Equal(t, exitUsage, code, "%v", args)
		require.Contains(t, said, problem)
	}
}
