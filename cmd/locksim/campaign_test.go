package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
)

// speed is what differs from one campaign to the next.
var speed = regexp.MustCompile(` +\d+\n`)

func campaign(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	code = runIn(ctx, plainEnv(), append([]string{"campaign"}, args...), &out, &complaints)
	return code, speed.ReplaceAllString(out.String(), " N\n"), complaints.String()
}

func TestCampaignDoesNotDependOnHowManyRunAtOnce(t *testing.T) {
	code, one, _ := campaign(t, t.Context(), "--runs", "100", "--only", "set-nx-lua-release*", "--jobs", "1")
	require.Equal(t, exitOK, code)
	require.Greater(t, strings.Count(one, "\n"), 2, "a head, and several promises:\n%s", one)
	_, eight, _ := campaign(t, t.Context(), "--runs", "100", "--only", "set-nx-lua-release*", "--jobs", "8")
	require.Equal(t, one, eight)
}

func TestCampaignDoesNotPlayAgainWhatItsLedgerHas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.txt")
	args := []string{"--runs", "70", "--only", "set-nx-lua-release", "--untied", "--ledger", file}
	code, played, _ := campaign(t, t.Context(), args...)
	require.Equal(t, exitOK, code)
	first, err := os.ReadFile(file)
	require.NoError(t, err)

	_, nothing, said := campaign(t, t.Context(), args...)
	require.NotContains(t, nothing, "set-nx-lua-release")
	require.Contains(t, said, "1 of 1 promises are in the ledger already")

	code, again, _ := campaign(t, t.Context(), append(args, "--again")...)
	require.Equal(t, exitOK, code)
	require.Equal(t, played, again)
	second, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))

	args[1] = "100"
	_, _, _ = campaign(t, t.Context(), args...)
	ledger := ledgerIn(t, file)
	require.Len(t, ledger.Lines, 1)
	var release claims.Claim
	for _, c := range claims.Promises() {
		if c.Name == "set-nx-lua-release" {
			release = c
		}
	}
	require.Equal(t, claims.Spread(100)(&release), ledger.Lines[0].Runs)
}

// TestCampaignThatIsKilledLosesAndRepeatsNothing kills the program again and again, as soon as it has written something
// down, and has it go on.
func TestCampaignThatIsKilledLosesAndRepeatsNothing(t *testing.T) {
	long.Only(t)
	dir := t.TempDir()
	args := func(ledger string) []string {
		return []string{"--runs", "2000", "--per", "promise", "--only", "set-nx-lua-release", "--untied", "--ledger", ledger}
	}
	whole, parts := filepath.Join(dir, "whole.txt"), filepath.Join(dir, "parts.txt")
	code, one, _ := campaign(t, t.Context(), args(whole)...)
	require.Equal(t, exitOK, code)
	for range 3 {
		before := played(t, parts)
		process := program(t, append([]string{"campaign"}, args(parts)...)...)
		require.NoError(t, process.Start())
		for played(t, parts) == before {
			runtime.Gosched()
		}
		require.NoError(t, process.Process.Kill())
		require.Error(t, process.Wait())
	}
	require.Less(t, played(t, parts), 2000, "it was to be killed before its end")
	code, many, _ := campaign(t, t.Context(), args(parts)...)
	require.Equal(t, exitOK, code)
	require.Equal(t, one, many)
	want, err := os.ReadFile(whole)
	require.NoError(t, err)
	got, err := os.ReadFile(parts)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// played is how many scenarios a ledger knows of.
func played(t *testing.T, file string) (runs int) {
	t.Helper()
	for _, line := range ledgerIn(t, file).Lines {
		runs += line.Runs
	}
	return runs
}

// ledgerIn reads a ledger that another process may be writing.
func ledgerIn(t *testing.T, file string) *claims.Ledger {
	t.Helper()
	text, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	ledger, err := claims.ReadLedger(bytes.NewReader(text))
	require.NoError(t, err)
	return ledger
}

func TestCampaignsDoNotShareALedger(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.txt")
	args := []string{"--runs", "70", "--only", "set-nx-lua-release", "--untied", "--ledger"}
	first, err := claims.OpenFile(file)
	require.NoError(t, err)
	require.NoError(t, first.Save(), "the lock is also on the file that has replaced it")
	code, _, said := campaign(t, t.Context(), append(args, file)...)
	require.Equal(t, exitUsage, code)
	require.Equal(t, "locksim: "+file+": another process is writing to it\n", said)
	require.NoError(t, first.Close())
	code, _, said = campaign(t, t.Context(), append(args, file)...)
	require.Equal(t, exitOK, code, said)
	require.Positive(t, played(t, file))
}

func TestCampaignLedgersAreRegularFilesOfBoundedSize(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long.txt")
	require.NoError(t, os.WriteFile(long, []byte(strings.Repeat("# note\n", 700_000)), 0o644))
	for file, problem := range map[string]string{
		dir:         "is not a regular file",
		"/dev/zero": "is not a regular file",
		"/dev/full": "is not a regular file",
		long:        "it is longer than 4194304 bytes",
	} {
		code, _, said := campaign(t, t.Context(), "--runs", "70", "--only", "set-nx-lua-release", "--untied", "--ledger", file)
		require.Equal(t, exitUsage, code, file)
		require.Contains(t, said, problem)
	}
}

func TestCampaignThatIsInterruptedSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, said := campaign(t, ctx, "--only", "set-nx-lua-release")
	require.Equal(t, exitInterrupted, code)
	require.Equal(t, "locksim: interrupted\n", said)
}

func TestCampaignSavesWhatItFinds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "found")
	broken := claims.Claim{Name: "set-nx-ex-del-misdelete", Property: checker.ReleaseSafety, Model: search.FaultModel{
		Lock: "set-nx-ex-del", Faults: []search.Kind{search.ClientPause},
	}}
	var out, complaints bytes.Buffer
	c := &call{ctx: t.Context(), env: plainEnv(), stdout: &out, stderr: &complaints}
	o := &campaignOptions{runs: count{value: 100}, jobs: count{value: 2}, save: dir}
	require.Equal(t, exitDiffers, c.campaign(o, []claims.Claim{broken}))
	file := filepath.Join(dir, "set-nx-ex-del-misdelete.yaml")
	require.Contains(t, out.String(), "the scenario as it was drawn: locksim run "+file)
	require.Equal(t, exitDiffers, runIn(t.Context(), plainEnv(), []string{"run", file}, &out, &complaints))
	small, err := filepath.Glob(filepath.Join(dir, "set-nx-ex-del-release-safety-*.yaml"))
	require.NoError(t, err)
	require.Len(t, small, 1)
	require.Contains(t, out.String(), "locksim run "+small[0])
	require.Equal(t, exitOK, runIn(t.Context(), plainEnv(), []string{"run", small[0]}, &out, &complaints), "as expected: violated")
	require.Empty(t, complaints.String())

	// With --ledger-only nothing is shown.
	out.Reset()
	o.record.ledger, o.record.only, o.untied, o.save = filepath.Join(t.TempDir(), "a.ledger"), true, true, filepath.Join(t.TempDir(), "nothing")
	require.Equal(t, exitOK, c.campaign(o, []claims.Claim{broken}))
	require.Empty(t, out.String())
	require.NoFileExists(t, o.save)
}

// TestLedgersOfCampaignsGoThroughLogs has two shards print their ledgers, with messages before and after, and merges what was printed.
func TestLedgersOfCampaignsGoThroughLogs(t *testing.T) {
	args := []string{"--runs", "70", "--only", "set-nx-lua*", "--untied", "--ledger"}
	whole := filepath.Join(t.TempDir(), "whole")
	code, _, said := campaign(t, t.Context(), append(args, whole)...)
	require.Equal(t, exitOK, code, said)
	log := "a task begins\n"
	for _, shard := range []string{"1/2", "2/2", "1/2"} {
		code, printed, said := campaign(t, t.Context(), append(args, "-", "--shard", shard)...)
		require.Equal(t, exitOK, code, said)
		require.True(t, strings.HasPrefix(printed, claims.LedgerBegins), printed)
		log += printed
	}
	dir := t.TempDir()
	require.NoError(t, splitLedgers(strings.NewReader(log), dir))
	merged := filepath.Join(dir, "merged")
	var out, complaints bytes.Buffer
	require.Equal(t, exitOK, runIn(t.Context(), plainEnv(), []string{"merge", "-o", merged, dir}, &out, &complaints), complaints.String())
	require.Equal(t, contentOf(t, whole), contentOf(t, merged))
}

func TestAMergedCampaignSaysHowABrokenPromiseIsShown(t *testing.T) {
	dir := t.TempDir()
	part := filepath.Join(dir, "a.ledger")
	f, err := os.Create(part)
	require.NoError(t, err)
	_, err = (&claims.Ledger{Lines: []claims.Line{{
		Claim: "set-nx-lua-release", Lock: "set-nx-lua", Property: "release-safety", Runs: 100, First: 7, Violations: 2, Undecided: 1, Build: "b",
	}}}).WriteTo(f)
	require.NoError(t, errors.Join(err, f.Close()))
	var out, complaints bytes.Buffer
	require.Equal(t, exitDiffers, runIn(t.Context(), plainEnv(), []string{"merge", "-o", filepath.Join(dir, "all"), part}, &out, &complaints), complaints.String())
	require.Contains(t, out.String(), "set-nx-lua-release: 2 violations and 1 inconclusive runs of 100\n"+
		"  shown by: locksim campaign --only set-nx-lua-release --per promise --from 7 --runs 100 --again\n")
}

func TestCampaignIsToldWhatIsWrong(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.txt")
	require.NoError(t, os.WriteFile(broken, []byte("one two\n"), 0o644))
	for problem, args := range map[string][]string{
		"--ledger-only needs --ledger FILE, or --ledger -": {"--ledger-only"},
		"no such promise":                  {"--only", "no-such-*"},
		"syntax error in pattern":          {"--only", "[x"},
		"it takes no names":                {"set-nx-lua"},
		"line 1: 2 words":                  {"--untied", "--ledger", broken},
		"is not tied to a commit":          {"--ledger", broken},
		"exceeds 2^64":                     {"--from", "18446744073709551615"},
		"not a whole number from 1 to":     {"--runs", "0"},
		"did you mean --ledger?":           {"--legder", "x"},
		"campaign: --only needs a value":   {"--only"},
		"invalid value \"x\" for --again:": {"--again=x"},
		"not one of lock, promise":         {"--per", "menu"},
	} {
		code, _, said := campaign(t, t.Context(), args...)
		require.Equal(t, exitUsage, code, "%v", args)
		require.Contains(t, said, problem)
	}
}

func TestCampaignListsPromisesWithTheirArguments(t *testing.T) {
	code, text, _ := campaign(t, t.Context(), "--list", "--only", "setnx-*")
	require.Equal(t, exitOK, code)
	require.Contains(t, text, "setnx-unless-forgotten\n  mutual-exclusion holds: The key has no deadline")
}
