package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search/compare"
)

// declared is the program with the lock of lease-overrun that says what its lock is like, so that nobody has to find out. Some of its
// text may be replaced.
func declared(t *testing.T, replace ...string) []string {
	t.Helper()
	needPython(t)
	text, err := os.ReadFile(python[1])
	require.NoError(t, err)
	sdk, err := filepath.Abs("../../sdk/python")
	require.NoError(t, err)
	const folder = `os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../sdk/python")`
	require.Contains(t, string(text), folder)
	file := filepath.Join(t.TempDir(), "client.py")
	source := "# locksim:lock key={key} deadline=monotonic\n" + strings.Replace(string(text), folder, strconv.Quote(sdk), 1)
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, source, replace[i])
		source = strings.ReplaceAll(source, replace[i], replace[i+1])
	}
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	return []string{"python3", file}
}

// TestAProgramIsMeasured varies work that outlasts a lease and work that does not: the one is violated, the other is not-seen rather
// than held, in text and in data, and the command that is printed plays the program.
func TestAProgramIsMeasured(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	program := declared(t)
	line := []string{"measure", "lease-overrun", "--variant", "lease-3s-work-4s", "--fencing", "none", "--property", "mutual-exclusion",
		"--vary", "a.work=2s,4s", "--runs", "1"}
	behind := " -- " + strings.Join(program, " ")
	code, text, problems := said(t, append(append(line, "--"), program...)...)
	require.Equal(t, exitOK, code, problems)
	require.Regexp(t, `(?m)^2s +not-seen +0 % +0 % to 97.5 % +100 % +–$`, text)
	require.Regexp(t, `(?m)^4s +1 +100 % `, text)
	require.Contains(t, text, ofProgram)
	require.Contains(t, text, "--set clients.a.work=4s --variant lease-3s-work-4s --fencing none --seed 0x0"+behind+"  # double holder\n")
	require.NotContains(t, text, "never violated")

	_, text, _ = said(t, append(append(line, "--format", "json", "--"), program...)...)
	var d measureDocument
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	require.Len(t, d.Cells, 2)
	require.Equal(t, [3]int{0, 0, 1}, [3]int{d.Cells[0].Violated, d.Cells[0].Held, d.Cells[0].NotSeen})
	require.Equal(t, [3]int{1, 0, 0}, [3]int{d.Cells[1].Violated, d.Cells[1].Held, d.Cells[1].NotSeen})
	require.True(t, strings.HasSuffix(d.Cells[1].First.Command, behind))
}

// TestAProgramIsMeasuredBesideLocks plays it on the schedules of a lock of the catalogue, of which what was not violated held.
func TestAProgramIsMeasuredBesideLocks(t *testing.T) {
	long.Only(t)
	program := declared(t)
	line := append([]string{"measure", "set-nx-lua", "--faults", "none", "--runs", "1", "--format", "csv", "--"}, program...)
	code, text, problems := said(t, line...)
	require.Equal(t, exitOK, code, problems)
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"violated", "held", "not_seen"}, lines[0][7:10])
	for _, l := range lines[1:] {
		switch {
		case l[4] != "mutual-exclusion":
		case l[0] == "set-nx-lua":
			require.Equal(t, []string{"0", "1", "0"}, l[7:10])
		default:
			require.Equal(t, strings.Join(program, " "), l[0])
			require.Equal(t, []string{"0", "0", "1"}, l[7:10])
		}
	}
}

// TestWhereNoProgramIsPlayed refuses what would play another lock than the program, or vary what the program says.
func TestWhereNoProgramIsPlayed(t *testing.T) {
	program := declared(t)
	for problem, args := range map[string][]string{
		"one lock or scenario at a time":              {"fuzz", "redlock"},
		"too many for a program":                      {"measure", "--profile", "x.yaml"},
		"no second fault can be placed in the run":    {"explore", "lease-overrun", "--variant", "lease-3s-work-4s", "--max-faults", "2"},
		"both say which lock clients have; want one":  {"measure", "lease-overrun", "--vary", "lock.algorithm=redlock"},
		"the servers of zk-gc-pause are ZooKeeper":    {"measure", "zk-gc-pause"},
		"campaign: it plays no program, but -- is fo": {"campaign"},
	} {
		code, out, problems := said(t, append(append(args, "--"), program...)...)
		require.Equal(t, exitUsage, code, "%s: %s", problem, out)
		require.Contains(t, problems, problem)
	}
}

// shortSections is a scenario with few steps in which only a fault violates anything.
const shortSections = `
name: short-sections
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {kind: redis}
clients: {a: {work: 500ms}, b: {start: 200ms, work: 1s}}
resource: {fencing: none}
network: {latency: 1ms}
`

// differing has a program wait for a time before it asks for the lock that no two of its processes have in common: they count.
var differing = []string{
	"        self.value = uuid.uuid4().hex\n",
	"        with open(__file__ + '.count', 'a') as count:\n            count.write('.')\n            waits = count.tell()\n" +
		"        time.sleep(waits / 1e3)\n        self.value = uuid.uuid4().hex\n",
}

// TestFaultsArePlacedAtTheStepsOfAProgram evicts the key of a holder at each of the steps that it was seen to take, which gives the lock
// to two, who are not seen without. Runs of a program that draws what no seed determines are said to differ, and where.
func TestFaultsArePlacedAtTheStepsOfAProgram(t *testing.T) {
	long.Only(t)
	program := declared(t)
	found := t.TempDir()
	file := filepath.Join(found, "short-sections.yaml")
	require.NoError(t, os.WriteFile(file, []byte(shortSections), 0o600))
	explore := func(program []string, args ...string) (int, string, exploreDocument) {
		line := append([]string{"explore", file, "--property", "mutual-exclusion", "--save", found}, args...)
		code, out, problems := said(t, append(append(line, "--"), program...)...)
		require.NotEqual(t, exitUsage, code, problems)
		var d exploreDocument
		if strings.HasPrefix(out, "{") {
			require.NoError(t, json.Unmarshal([]byte(out), &d))
		}
		return code, out, d
	}
	code, out, _ := explore(program, "--max-faults", "0")
	require.Equal(t, exitOK, code, out)
	require.Contains(t, out, "runs of it without faults take the same steps in 5 of 5\n")
	require.Contains(t, out, "not-seen in 1 run without faults\n")
	require.NotContains(t, out, "no violation")

	other := declared(t, differing...)
	code, out, d := explore(other, "--faults", "evict", "--runs", "1", "--format", "json")
	require.Equal(t, exitDiffers, code, out)
	require.False(t, d.Complete)
	require.Less(t, d.Levels[1].Covered, d.Levels[1].Placements, "there are more than one")
	require.Len(t, d.Findings, 1)
	require.Equal(t, "double holder", d.Findings[0].Kind)
	again := d.Findings[0].Again
	require.Positive(t, again.Seen)
	require.True(t, strings.HasSuffix(again.Command, ".yaml -- "+strings.Join(other, " ")))
	require.Equal(t, [2]int{5, 1}, [2]int{again.Runs, again.Same})
	require.Regexp(t, `^"\S+s .*", elsewhere "\S+s .*"$`, again.Differs)
	require.Equal(t, [2]int{5, 1}, [2]int{d.Repeated.Runs, d.Repeated.Same})
	text, err := os.ReadFile(d.Findings[0].Scenario)
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("seen in %d of 5 runs of this schedule, the same steps in 1 of 5 (the first that differs: %s)", again.Seen, again.Differs))
	require.NotContains(t, string(text), "The run has the digest")
	require.Equal(t, []propertyDocument{{"mutual-exclusion", d.Properties[0].Judged, d.Properties[0].AtRisk, ""}}, d.Properties)
}

// TestLedgersOfAProgram resumes and merges the ledger of a campaign with a program, and refuses another command and another version of
// the program by name.
func TestLedgersOfAProgram(t *testing.T) {
	long.Only(t)
	program, other := declared(t), declared(t)
	name := strings.Join(program, " ")
	t.Chdir(t.TempDir())
	play := func(code int, says string, args ...string) {
		t.Helper()
		got, out, problems := said(t, args...)
		require.Equal(t, code, got, "%s%s", out, problems)
		require.Contains(t, out+problems, says)
	}
	fuzz := func(more ...string) []string {
		return append(append([]string{"fuzz", "--faults", "none", "--ledger", "ledger"}, more...), "--")
	}
	play(exitOK, "not-seen in 1 run", append(fuzz("--runs", "1"), program...)...)
	first, err := os.ReadFile("ledger")
	require.NoError(t, err)
	play(exitOK, "not-seen in 2 runs", append(fuzz("--runs", "2", "--resume"), program...)...)
	both, err := os.ReadFile("ledger")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(both), string(first)), "the first run was not played again")

	play(exitUsage, "the lock \""+name+"\" is a program, which is run only if you say so: add -- "+name, "merge", "-o", "merged", "ledger")
	play(exitUsage, "the parts are of the lock "+name+", not of the program true x", "merge", "-o", "merged", "ledger", "--", "true", "x")
	play(exitOK, "not-seen in 2 runs", append([]string{"merge", "-o", "merged", "ledger", "--"}, program...)...)
	merged, err := os.ReadFile("merged")
	require.NoError(t, err)
	require.Equal(t, string(both), string(merged))

	play(exitUsage, "lock "+name+", not "+strings.Join(other, " "), append(fuzz("--runs", "3", "--resume"), other...)...)
	text, err := os.ReadFile(program[1])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program[1], append(text, "# changed\n"...), 0o600))
	play(exitUsage, "another version of its program", append(fuzz("--runs", "3", "--resume"), program...)...)
}

// TestAProgramIsComparedWithLocks plays it beside a lock of the catalogue whose algorithm is the same: what was seldom exposed of that one, or
// held, is not-seen of the program.
func TestAProgramIsComparedWithLocks(t *testing.T) {
	long.Only(t)
	program := declared(t)
	line := []string{"compare", "set-nx-lua", "--runs", "2", "--faults", "none", "--fencing", "none", "--property", "mutual-exclusion",
		"--rates-only", "--format", "json", "--"}
	code, out, problems := said(t, append(line, program...)...)
	require.Equal(t, exitOK, code, problems)
	var c compare.Comparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	require.NoError(t, c.Valid())
	require.Len(t, c.Cells, 2)
	ours, theirs := c.Cells[0], c.Cells[1]
	require.Equal(t, [2]bool{false, true}, [2]bool{c.Locks[0].Program, c.Locks[1].Program})
	require.Equal(t, [2]compare.Outcome{compare.Seldom, compare.NotSeen}, [2]compare.Outcome{ours.Outcome, theirs.Outcome})
	require.Positive(t, ours.InDanger)
	require.Positive(t, theirs.InDanger)
}

// TestAProgramIsNotHeldToWhatAScenarioExpectsOfAnotherLock drops expectations of tokens that the program does not hand out; those of a
// scenario that names the program stay.
func TestAProgramIsNotHeldToWhatAScenarioExpectsOfAnotherLock(t *testing.T) {
	program := declared(t)
	c := &call{ctx: t.Context(), argv: program, plays: asLock, stdout: io.Discard, stderr: io.Discard}
	s, err := c.baseScenario("lease-overrun", "lease-3s-work-4s")
	require.NoError(t, err)
	require.Empty(t, s.Expect)
	_, err = harness.Compile(s.Cases()[0], c.played())
	require.NoError(t, err)

	file := filepath.Join(t.TempDir(), "own.yaml")
	text := strings.Replace(shortSections, "algorithm: set-nx-lua", "algorithm: '"+strings.Join(program, " ")+"'", 1) + "expect: {mutual-exclusion: held}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	s, err = c.baseScenario(file, "")
	require.NoError(t, err)
	require.Len(t, s.Expect, 1)
}
