package command_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// silently is a program that says nothing, and takes these steps.
func silently(steps string) []string {
	return append([]string{"python3", "testdata/silent.py"}, strings.Fields(steps)...)
}

const both = "clients: {a: {}, b: {start: 100ms}}\n"

// TestBeliefsOfSilentProgramsAreInferred has pairs of programs that differ by a mistake.
func TestBeliefsOfSilentProgramsAreInferred(t *testing.T) {
	for name, c := range map[string]struct {
		steps    string
		scenario string
		beliefs  string // of a, from its first access to its last answer, in seconds
		double   checker.Verdict
		resource checker.Verdict
	}{
		"its lease expires while it works": {steps: "lock get 12 put unlock", beliefs: "0-12",
			double: checker.Violated, resource: checker.Violated},
		"its lease does not expire": {steps: "lock get 5 put unlock", beliefs: "0-5",
			double: checker.NotSeen, resource: checker.Vacuous},
		"it writes after it has released": { // when it has stopped to believe is not known: what it read in the section may not count
			steps: "lock get a:unlock 5 put b:unlock", beliefs: "0-0 5-5", double: checker.Violated, resource: checker.NotSeen},
		"it releases, and acquires again, while another holds in between": {
			steps:   "lock get 1 put unlock a:5 b:1000 lock get put unlock",
			beliefs: "0-1 6-6", double: checker.NotSeen, resource: checker.Vacuous},
		"it lets the lease expire, and acquires again": {
			steps: "lock get put a:30 lock get put unlock", beliefs: "0-0 30-30", double: checker.NotSeen, resource: checker.Vacuous},
		"it renews what it has lost, and works on": {
			steps: "a:lock a:get a:11 b:lock b:get a:renew 2 put", beliefs: "0-13", double: checker.Violated, resource: checker.Violated},
		"it never asks": {steps: "get 5 put", beliefs: "0-0 5-5", double: checker.NotSeen, resource: checker.Vacuous},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := play(t, plan(t, both+"until: 2m\n"+c.scenario, silently(c.steps)...))
			require.NoError(t, err)
			require.Empty(t, result.History.Exits)
			var beliefs []string
			for i := range result.History.Acquisitions {
				if b, ok := result.History.Acquisitions[i].Belief(); ok && b.Acquisition.Client == "a" {
					require.Greater(t, b.To, b.From)
					seconds := func(d time.Duration) string { return strings.TrimSuffix(d.Round(time.Second).String(), "s") }
					beliefs = append(beliefs, seconds(b.From.Sub(0))+"-"+seconds(b.To.Sub(0)))
				}
			}
			require.Equal(t, c.beliefs, strings.Join(beliefs, " "))
			v := result.Report.Verdicts
			require.Equal(t, c.double == checker.Violated, v[checker.MutualExclusion] == checker.Violated, "%s", v[checker.MutualExclusion])
			require.Equal(t, c.resource == checker.Violated, v[checker.Resource] == checker.Violated, "%s", v[checker.Resource])
			for _, p := range []checker.Property{checker.Progress, checker.Availability, checker.Leak} {
				require.Equal(t, checker.NotJudged, v[p], p)
			}
		})
	}
}

// TestRequestsToTheResourceAreAnswered reads what a program writes of the answers it has.
func TestRequestsToTheResourceAreAnswered(t *testing.T) {
	for steps, want := range map[string]struct{ scenario, output string }{
		"lock get?token=3&value=a put?token=3 get": {output: "GET 200 0|PUT 200 written|GET 200 1"},
		"post":                      {output: "POST 405 want GET or PUT, not POST"},
		"/a":                        {output: "GET 400 there is no /resource//a; want /resource/NAME"},
		"put?token=x":               {output: `PUT 400 a token is a number from 1 on, not "x"`},
		"put put/1 put/7 get get/1": {"resource: {registers: 2}\n", "PUT 200 written|PUT 200 written|PUT 200 written|GET 200 3|GET 200 2"},
		"get?token=2 put?token=1 put?token=2": {"resource: {fencing: fenced-read-write}\n",
			"GET 200 0|PUT 409 the resource has refused this|PUT 200 written"},
		"1 put":      {"faults: [{at: 0s, cut: {from: a, to: storage}}]\nuntil: 1m\n", ""},
		"lock put 2": {"faults: [{after: {node: a, does: send, what: write}, crash: storage}]\n", "PUT ConnectionResetError"},
	} {
		t.Run(steps, func(t *testing.T) {
			t.Parallel()
			result, err := play(t, plan(t, "clients: {a: {}}\n"+want.scenario, silently(steps)...))
			require.NoError(t, err)
			var said []string
			for _, n := range result.History.Notes {
				if text, ok := strings.CutPrefix(n.Text, "writes: "); ok {
					said = append(said, text)
				}
			}
			require.Equal(t, want.output, strings.Join(said, "|"))
		})
	}
}

// TestTheEndOfASilentProgram is no exit of its own, unless a signal ends it: a status says whether it could do its work.
func TestTheEndOfASilentProgram(t *testing.T) {
	result, err := play(t, plan(t, alone, silently("lock get exit")...))
	require.NoError(t, err)
	require.Empty(t, result.History.Exits)
	notes := result.History.Notes
	require.Equal(t, "gives up: exits with status 3: GET 200 0", notes[len(notes)-1].Text)
	result, err = play(t, plan(t, alone, silently("lock get die")...))
	require.NoError(t, err)
	require.Len(t, result.History.Exits, 1)
	require.Equal(t, "is ended by the machine: by the signal killed", result.History.Exits[0].Text)
	_, err = play(t, plan(t, alone, silently("1")...))
	require.ErrorContains(t, err, "exits with status 0, before it asks for the lock for the first time")
}

// TestAShellScriptHasTheVerdictsOfTheSimulation plays a script of redis-cli and curl.
func TestAShellScriptHasTheVerdictsOfTheSimulation(t *testing.T) {
	for _, tool := range []string{"redis-cli", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool, "is not installed")
		}
	}
	s, err := scenarios.Load("lease-overrun")
	require.NoError(t, err)
	lock := locks.Algorithm{
		Name: "program", Title: "a program", Servers: "redis", Authority: locks.OneNode, Identity: "value", Lease: true,
		Program: program(t, "sh", "../../programs/shell/client.sh"), Key: func(o locks.Options) string { return o.Key },
	}
	unfenced := slices.DeleteFunc(s.Cases(), func(c scenarios.Case) bool { return c.Fencing != history.Unfenced })
	for i, c := range unfenced {
		if i%long.Every(9, 1) == 0 {
			want, got := verdicts(t, &c, harness.Options{}), verdicts(t, &c, harness.Options{Instead: &lock})
			want[checker.FencingOrder] = checker.NotJudged.String() // the script has no token
			require.Equal(t, want, got, c.Variant)
		}
	}
}
