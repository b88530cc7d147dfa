package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search/margin"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/scenarios"
)

// twoFields plays a pause of the holder against the lease, where both matter.
var twoFields = []string{
	"measure", "redlock-gc-pause", "--vary", "lock.ttl=6s..14s/2", "--vary", "a.pause=6s..14s/2", "--style", "careless", "--fencing",
	"none", "--runs", "20",
}

func TestMeasureOfAScenarioDoesNotDependOnHowManyRunAtOnce(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "csv", "svg", "html"} {
		code, one, said := locksim(t.Context(), append(twoFields, "--format", format, "--jobs", "1")...)
		require.Equal(t, exitOK, code, said)
		_, eight, _ := locksim(t.Context(), append(twoFields, "--format", format, "--jobs", "8")...)
		require.Equal(t, one, eight)
		require.NotEmpty(t, one)
	}
}

func TestMeasureOfAScenarioSaysTheSameInAllFormats(t *testing.T) {
	_, text, _ := locksim(t.Context(), append(twoFields, "--format", "json")...)
	var d measureDocument
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	require.Equal(t, "redlock-gc-pause", d.Scenario)
	require.Equal(t, []string{"lock.ttl", "faults.fault-1.for"}, d.Varied)
	require.Len(t, d.Cases, 9)
	_, text, _ = locksim(t.Context(), append(twoFields, "--format", "csv")...)
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+len(d.Cells))
	column := func(line int, name string) string {
		for i, head := range lines[0] {
			if head == name {
				return lines[line][i]
			}
		}
		t.Fatalf("there is no column %s", name)
		return ""
	}
	replays := 0
	for i, c := range d.Cells {
		require.Equal(t, c.Values, lines[i+1][:2])
		require.Equal(t, c.Property, column(i+1, "property"))
		if c.First == nil {
			continue
		}
		require.Equal(t, c.First.Command, column(i+1, "command"))
		if replays++; replays%4 == 1 {
			code, shown, _ := locksim(t.Context(), append(strings.Fields(c.First.Command)[1:], "--no-margin")...)
			require.Equal(t, exitDiffers, code)
			require.Regexp(t, `✗ `+c.Property+` +violated`, shown, c.First.Command)
		}
	}
	require.Positive(t, replays)
	require.Equal(t, "2", column(1, "acquisitions-max"))
}

// TestTheBorderIsWhereMarginsAre plays what a margin says of a lease: with that one a property is violated, and with the one closest
// to it that was tried it is not.
func TestTheBorderIsWhereMarginsAre(t *testing.T) {
	long.NotShort(t)
	s, err := scenarios.Load("lua-release")
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	plan, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	for _, seed := range []uint64{0, 1, 17} {
		was, err := r.Run(plan, seed, false)
		require.NoError(t, err)
		found, _ := margin.Of(&r, plan.Case, &was, []checker.Property{checker.MutualExclusion}, harness.Options{})
		lease := margin.Margin{}
		for _, m := range found {
			if m.What == "lease" && m.To < m.From {
				lease = m
			}
		}
		require.Positive(t, lease.To)
		values := scenarios.Brief(lease.To) + "," + scenarios.Brief(lease.Kept)
		code, text, said := locksim(t.Context(), "measure", "lua-release", "--vary", "lock.ttl="+values, "--property", "mutual-exclusion",
			"--runs", "1", "--from", strconv.FormatUint(seed, 10))
		require.Equal(t, exitOK, code, said)
		require.Contains(t, text, "border of mutual-exclusion: between lock.ttl = "+strings.Replace(values, ",", " and ", 1)+"\n")
	}
	_, text, _ := locksim(t.Context(), "measure", "lua-release", "--vary", "lock.ttl=9s..11s/4", "--property", "mutual-exclusion", "--runs", "20")
	require.Contains(t, text, "border of mutual-exclusion: between lock.ttl = 9.5s and 10s\n")
}

func TestMeasureDrawsTheBorder(t *testing.T) {
	_, text, _ := locksim(t.Context(), append(twoFields, "--format", "svg")...)
	require.NoError(t, xml.Unmarshal([]byte(text), new(struct{})))
	require.Contains(t, text, "How often redlock-gc-pause violates mutual-exclusion")
	require.Contains(t, text, "not the odds of a production system")
	require.Contains(t, text, "The line is the border between fields with a violation and exposed fields without one.")
	_, text, _ = locksim(t.Context(), "measure", "lease-overrun", "--variant", "lease-10s-work-12s", "--vary", "a.work=8s,12s", "--runs", "5",
		"--property", "resource", "--format", "svg")
	require.Contains(t, text, "fenced-read-write", "a row for each case")
	file := filepath.Join(t.TempDir(), "<b>&.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: still\nlock: {algorithm: set-nx-lua, ttl: 5s}\nclients: {a: {work: 9s}, b: {work: 9s}}\n"), 0o600))
	_, text, _ = locksim(t.Context(), "measure", file, "--vary", "a.work=1s,9s", "--runs", "5", "--format", "html")
	require.Equal(t, 2, strings.Count(text, "<svg"), "mutual-exclusion and resource")
	require.NotContains(t, text, "<b>")
	require.NotContains(t, text, "<script")
	require.Contains(t, text, "First: locksim run ", "the command of a field")
	require.Contains(t, text, "To see the first violation of a line:")
}

func TestMeasureSaysWhatNoSeedChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "still.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: still\nlock: {algorithm: mysql-get-lock}\nservers: {kind: mysql}\n"+
		"network: {latency: 1ms}\nclients: {a: {work: 1s}, b: {work: 1s}}\n"), 0o600))
	_, text, _ := locksim(t.Context(), "measure", file, "--runs", "30")
	require.Contains(t, text, "Every run took the same course: no seed changes anything here, so that all runs say no more than one.")
	_, text, _ = locksim(t.Context(), "measure", file, "--runs", "30", "--vary", "network.latency=1ms,[1ms,2ms]")
	require.Contains(t, text, "In 1 of 2 cases every run took the same course")
	_, text, _ = locksim(t.Context(), "measure", "redlock-gc-pause", "--runs", "5", "--style", "careless", "--fencing", "none",
		"--vary", "faults.0.after.what=read,raed")
	require.Contains(t, text, "\nThe fault fault-1 happened in 5 of 10 runs.\n")
	_, text, _ = locksim(t.Context(), "measure", file, "--runs", "30", "--set", "until=500ms")
	require.Contains(t, text, "every run alike")
	require.Contains(t, text, "(inconclusive: 30)")
	require.NotContains(t, text, "never violated")
}

func TestMeasureOfAScenarioSavesWhatItFound(t *testing.T) {
	dir := t.TempDir()
	code, text, said := locksim(t.Context(), "measure", "lua-release", "--set", "lock.ttl=9s", "--property", "resource", "--runs", "2", "--save", dir)
	require.Equal(t, exitOK, code, said)
	file := regexp.MustCompile(`locksim run (\S+\.yaml)`).FindStringSubmatch(text)
	require.NotNil(t, file, text)
	code, _, said = locksim(t.Context(), "run", file[1])
	require.Equal(t, exitOK, code, "as expected, violated: %s", said)
}

func TestMeasureOfAScenarioThatIsInterruptedKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := &call{ctx: ctx, env: plainEnv(), stderr: new(strings.Builder), files: &unfinished{}}
	o := &measureOptions{}
	names, err := parseFlags(measureFlags(o, c.env), append(twoFields[1:], "--format", "csv"))
	require.NoError(t, err)
	r := &measured{}
	require.NoError(t, c.planScenario(o, r, names))
	cancel()
	var out strings.Builder
	c.stdout = &out
	require.Equal(t, exitInterrupted, c.measure(o, r))
	lines, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+9*int(checker.PropertyCount))
	for _, format := range []string{"text", "svg", "html"} {
		o.format.value = format
		r.cells = nil
		require.Equal(t, exitInterrupted, c.measure(o, r))
	}
}

func TestMeasureThatIsInterruptedCountsWhatWasPlayed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	said := new(strings.Builder)
	c := &call{ctx: ctx, env: plainEnv(), stderr: said, files: &unfinished{}}
	o, r := &measureOptions{}, &measured{interrupted: true, percent: 95}
	args := []string{"lua-release", "--vary", "lock.ttl=10s,10500ms", "--property", "mutual-exclusion", "--runs", "50000", "--jobs", "1"}
	names, err := parseFlags(measureFlags(o, c.env), args)
	require.NoError(t, err)
	require.NoError(t, c.planScenario(o, r, names))
	r.table, err = measure.Measure(ctx, r.plan, func(runs, _ int) {
		if r.runs = runs; runs >= 32 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, c.completeMeasured(o, r))
	for _, format := range []string{"text", "csv", "json", "svg", "html"} {
		var out strings.Builder
		c.stdout, o.format.value = &out, format
		require.Equal(t, exitInterrupted, c.reportMeasured(o, r))
		require.Regexp(t, `(?i)interrupted: (3[2-9]|[4-9]\d) of 100000 runs were played|"interrupted":true|,16,`, out.String(), format)
		require.NotContains(t, out.String(), "0.007", "the bound is that of 50000 runs")
		require.NotContains(t, out.String(), ", played with")
	}
	require.Contains(t, said.String(), " of 100000 runs were played\n")
}

// TestMeasureSaysNothingWhereNothingIsKnown measures a property that was never exposed, one that is not judged, and runs that no seed
// changes.
func TestMeasureSaysNothingWhereNothingIsKnown(t *testing.T) {
	args := []string{"measure", "lua-release", "--vary", "lock.ttl=9500ms,10s", "--property", "resource,silent-loss", "--runs", "20"}
	_, text, _ := locksim(t.Context(), args...)
	require.Regexp(t, `(?m)^10s +0 +– +– +never +–$`, text)
	require.Contains(t, text, "\nproperty: resource\n", "the only one in the table")
	require.NotContains(t, text, "border", "of 10s it is not known whether it is safe")
	_, text, _ = locksim(t.Context(), append(args, "--format", "svg", "--property", "resource")...)
	require.NotContains(t, text, "border")
	_, text, _ = locksim(t.Context(), append(args, "--format", "json")...)
	var d measureDocument
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	for _, c := range d.Cells {
		require.Equal(t, c.Held+c.Violated > 0, c.Rate != nil && c.Least != nil && c.Most != nil, "%+v", c)
	}
	_, text, _ = locksim(t.Context(), append(args, "--format", "csv")...)
	require.Contains(t, text, ",20,0,0,0,20,0,0,0,,,,", "never exposed")
	require.Contains(t, text, ",20,0,0,0,0,0,20,0,,,,", "not judged")
	file := filepath.Join(t.TempDir(), "still.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: still\nlock: {algorithm: mysql-get-lock}\nservers: {kind: mysql}\n"+
		"network: {latency: 1ms}\nclients: {a: {work: 1s}, b: {start: 500ms, work: 1s}}\n"), 0o600))
	for _, format := range []string{"text", "svg", "html", "json"} {
		args := []string{"measure", file, "--runs", "30", "--vary", "a.work=1s,2s", "--property", "mutual-exclusion", "--format", format}
		_, text, _ = locksim(t.Context(), args...)
		require.NotRegexp(t, `so below|rate_at_most|% to`, text, "every run is alike")
		require.Equal(t, format != "json", strings.Contains(text, "every run was alike, no bound follows"), text)
	}
}

func TestABorderNeedsAnOrder(t *testing.T) {
	for values, border := range map[string]bool{"9s,9500ms,11s": true, "11s,9s": true, "10s,9s,11s": false} {
		args := []string{"measure", "lua-release", "--vary", "lock.ttl=" + values, "--property", "mutual-exclusion", "--runs", "5"}
		_, text, _ := locksim(t.Context(), args...)
		require.Equal(t, border, strings.Contains(text, "border of"), text)
		_, text, _ = locksim(t.Context(), append(args, "--format", "svg")...)
		require.Equal(t, border, strings.Contains(text, "The line is the border"), text)
	}
	args := []string{"measure", "misdelete", "--vary", "lock.algorithm=set-nx-ex-del,set-nx-lua", "--runs", "5", "--property", "release-safety"}
	for _, format := range []string{"text", "svg"} {
		_, text, _ := locksim(t.Context(), append(args, "--format", format)...)
		require.NotContains(t, text, "border", "locks have no order")
	}
}
