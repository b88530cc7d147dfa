package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/search/claims"
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
	args := []string{"--runs", "70", "--only", "set-nx-lua-release", "--ledger", file}
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
	ledger := readLedger(t, file)
	require.Len(t, ledger.Lines, 1)
	var release claims.Claim
	for _, c := range claims.Promises() {
		if c.Name == "set-nx-lua-release" {
			release = c
		}
	}
	require.Equal(t, claims.Spread(100)(&release), ledger.Lines[0].Runs)
}

func readLedger(t *testing.T, file string) *claims.Ledger {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	l, err := claims.ReadLedger(bytes.NewReader(text))
	require.NoError(t, err)
	return l
}

func TestCampaignThatIsInterruptedSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, said := campaign(t, ctx, "--only", "set-nx-lua-release")
	require.Equal(t, exitInterrupted, code)
	require.Equal(t, "locksim: interrupted\n", said)
}

func TestCampaignSavesWhatItFinds(t *testing.T) {
	dir := t.TempDir()
	var limit claims.Claim
	for _, c := range claims.Limits() {
		if c.Name == "set-nx-ex-del-misdelete" {
			limit = c
		}
	}
	var out, complaints bytes.Buffer
	c := &call{ctx: t.Context(), env: plainEnv(), stdout: &out, stderr: &complaints}
	o := &campaignOptions{runs: count{value: 100}, jobs: count{value: 2}, save: dir}
	require.Equal(t, exitDiffers, c.campaign(o, []claims.Claim{limit}))
	file := filepath.Join(dir, "set-nx-ex-del-misdelete.yaml")
	require.Contains(t, out.String(), "to see it: locksim run "+file)
	require.Equal(t, exitDiffers, runIn(t.Context(), plainEnv(), []string{"run", file}, &out, &complaints))
	require.Empty(t, complaints.String())
}

func TestCampaignIsToldWhatIsWrong(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.txt")
	require.NoError(t, os.WriteFile(broken, []byte("one two\n"), 0o644))
	for problem, args := range map[string][]string{
		"no promise is called so":          {"--only", "no-such-*"},
		"syntax error in pattern":          {"--only", "[x"},
		"it takes no names":                {"set-nx-lua"},
		"line 1: 2 words":                  {"--ledger", broken},
		"there are not so many":            {"--from", "18446744073709551615"},
		"not a whole number from 1 to":     {"--runs", "0"},
		"did you mean --ledger?":           {"--legder", "x"},
		"campaign: --only needs a value":   {"--only"},
		"invalid value \"x\" for --again:": {"--again=x"},
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
