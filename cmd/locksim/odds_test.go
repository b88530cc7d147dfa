package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search/odds"
)

// ofProfile is an estimate with few runs.
func ofProfile(args ...string) []string {
	return append([]string{"measure", "--profile", "testdata/profile.yaml", "--runs", "1000"}, args...)
}

func estimatedAs(t *testing.T, args ...string) (d oddsDocument) {
	t.Helper()
	code, text, said := locksim(t.Context(), ofProfile(append(args, "--format", "json")...)...)
	require.Equal(t, exitOK, code, said)
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	return d
}

func TestOddsDoNotDependOnHowManyRunAtOnce(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	formats := []string{"json", "text", "csv"} // the first one has all that the others have
	for _, format := range formats[:long.Pick(1, 1, 3)] {
		code, one, said := locksim(t.Context(), ofProfile("set-nx-lua", "--format", format, "--jobs", "1")...)
		require.Equal(t, exitOK, code, said)
		_, four, _ := locksim(t.Context(), ofProfile("set-nx-lua", "--format", format, "--jobs", "4")...)
		require.Equal(t, one, four)
	}
}

// TestOddsSayTheSameInAllFormats also looks whether parts make up the whole, and whether a resource that checks tokens is protected.
func TestOddsSayTheSameInAllFormats(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	d := estimatedAs(t, "set-nx-lua")
	require.True(t, d.Example)
	require.Equal(t, "locksim.odds/1", d.Schema)
	require.Len(t, d.Odds, len(odds.Properties))
	for i, o := range d.Odds {
		require.True(t, o.Seen)
		require.Less(t, o.Least, o.Estimate)
		require.Less(t, o.Estimate, o.Most)
		require.InEpsilon(t, o.Estimate*1000*365.2425, o.Year, 1e-9)
		sum := 0.0
		for _, p := range d.Parts {
			sum += p.Of[i].Estimate
		}
		require.InEpsilon(t, sum, o.Estimate, 1e-9)
	}
	_, text, _ := locksim(t.Context(), ofProfile("set-nx-lua")...)
	require.Contains(t, text, figure(d.Odds[0].Estimate))
	require.Contains(t, text, "an example: the numbers are those of no deployment")
	_, text, _ = locksim(t.Context(), ofProfile("set-nx-lua", "--format", "csv")...)
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+len(odds.Properties)*len(d.Parts))
	protected := estimatedAs(t, "set-nx-lua", "--fencing", "token-equality")
	require.True(t, protected.Odds[0].Seen)
	require.False(t, protected.Odds[1].Seen, "the resource refuses the late write")
}

// TestTheScenarioOfAPartViolates plays what was saved.
func TestTheScenarioOfAPartViolates(t *testing.T) {
	long.NotShort(t)
	dir := filepath.Join(t.TempDir(), "found")
	d := estimatedAs(t, "set-nx-lua", "--save", dir)
	saved := 0
	for _, p := range d.Parts {
		if p.Replay == "" {
			continue
		}
		saved++
		code, text, said := locksim(t.Context(), strings.Fields(strings.TrimPrefix(p.Replay, "locksim "))...)
		require.Equal(t, exitOK, code, said)
		require.Contains(t, text, "violated")
	}
	require.Positive(t, saved)
}

func TestMistakesInEstimatesAreExplained(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	usual, err := os.ReadFile("testdata/profile.yaml")
	require.NoError(t, err)
	short := write("short.yaml", "acquisitions: 1/s\npauses: none\n")
	failing := write("failing.yaml", strings.Replace(string(usual), "failovers: none", "failovers: {rate: 1/year}", 1))
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"--profile", "none.yaml", "set-nx-lua"}, "none.yaml"},
		{[]string{"--profile", short, "set-nx-lua"}, "short.yaml"},
		{[]string{"--profile", short, "set-nx-lua"}, "cuts"},
		{[]string{"--profile", "testdata/profile.yaml"}, "one lock"},
		{[]string{"--profile", "testdata/profile.yaml", "set-nx-luna"}, `did you mean "set-nx-lua"?`},
		{[]string{"--profile", "testdata/profile.yaml", "set-nx-lua", "--vary", "lock.ttl=1s,2s"}, "--vary"},
		{[]string{"--profile", "testdata/profile.yaml", "set-nx-lua", "--format", "svg"}, "--format svg"},
		{[]string{"--profile", "testdata/profile.yaml", "set-nx-lua", "--style", "careless,careful"}, "one client style"},
		{[]string{"--profile", "testdata/profile.yaml", "lease-overrun"}, "choose one with"},
		{[]string{"--profile", "testdata/profile.yaml", "set-nx-lua", "--set", "lock.tll=1s"}, `"ttl"`},
		{[]string{"--profile", failing, "testdata/story.yaml", "--variant", "short", "--fencing", "none"}, "fail over"},
	} {
		code, _, said := locksim(t.Context(), append([]string{"measure", "--runs", "100"}, x.args...)...)
		require.Equal(t, exitUsage, code, "%s", x.args)
		require.Contains(t, said, x.want, "%s", x.args)
	}
}

func TestAnInterruptedEstimateKeepsWhatThereIs(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	code, text, said := locksim(over, ofProfile("set-nx-lua")...)
	require.Equal(t, exitInterrupted, code)
	require.Contains(t, text, "interrupted")
	require.Contains(t, said, "interrupted")
}

// TestTheExampleOfThePageCanBeCopied plays its commands, with LONG=5 also that with a library, which has to be built.
func TestTheExampleOfThePageCanBeCopied(t *testing.T) {
	long.NotShort(t)
	page, err := os.ReadFile("../../docs/odds.md")
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(page), "cat > my.yaml <<'END'\n")
	text, commands, found := strings.Cut(text, "END\n")
	require.True(t, found)
	path := filepath.Join(t.TempDir(), "my.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	commands, _, _ = strings.Cut(commands, "```")
	played := 0
	for line := range strings.Lines(commands) {
		line, _, _ = strings.Cut(line, "#")
		line, found := strings.CutPrefix(strings.Replace(line, "my.yaml", path, 1), "go run ./cmd/locksim ")
		require.True(t, found, line)
		if long.Pick(0, 0, 1) < 5 && strings.Contains(line, "redsync") {
			continue
		}
		code, said, problem := locksim(t.Context(), append(strings.Fields(line), "--runs", "300")...)
		require.Equal(t, exitOK, code, "%s\n%s", line, problem)
		require.Contains(t, said, "two holders at once")
		played++
	}
	require.GreaterOrEqual(t, played, 2)
}
