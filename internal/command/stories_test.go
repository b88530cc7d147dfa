package command_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// story is a named scenario that is played with a program, and what lock the program's library has.
type story struct {
	scenario string
	lock     locks.Algorithm
	imports  string // what Python needs for it
	argv     []string
}

var stories = []story{
	{"zk-gc-pause", locks.Algorithm{
		Servers: "zookeeper", Authority: locks.Queue, Identity: "own node", Lease: true, Token: true,
		Key: func(o locks.Options) string { return "/locks/" + o.Key },
	}, "kazoo", []string{"/usr/bin/python3", "testdata/zookeeper.py"}},
	{"sentinel-lost-key", behind(func(a *locks.Algorithm) { a.Sentinel = true }), "redis", deployed},
	{"cluster-minority-master", behind(func(a *locks.Algorithm) { a.Cluster = true }), "redis", deployed},
}

var deployed = []string{"/usr/bin/python3", "testdata/deployed.py"}

// behind is a lock on the master that servers tell its client of.
func behind(what func(*locks.Algorithm)) locks.Algorithm {
	a := locks.Algorithm{
		Servers: "redis", Authority: locks.OneNode, Identity: "value", Lease: true, Deadline: locks.OnMonotonic,
		Key: func(o locks.Options) string { return o.Key },
	}
	what(&a)
	return a
}

// TestProgramsHaveTheVerdictsOfTheSimulation plays named scenarios with client libraries of other languages, and with the
// lock that they name: what is judged comes out the same.
func TestProgramsHaveTheVerdictsOfTheSimulation(t *testing.T) {
	for _, story := range stories {
		t.Run(story.scenario, func(t *testing.T) {
			t.Parallel()
			lock := story.lock
			lock.Program = program(t, story.argv...)
			if story.imports != "" && exec.Command(story.argv[0], "-c", "import "+story.imports).Run() != nil {
				t.Skip("the Python library", story.imports, "is not installed")
			}
			lock.Name, lock.Title = "program", "a program"
			s, err := scenarios.Load(story.scenario)
			require.NoError(t, err)
			violated := false
			for _, c := range s.Cases() {
				if c.Style == history.Careless {
					want := verdicts(t, &c, harness.Options{})
					require.Equal(t, want, verdicts(t, &c, harness.Options{Instead: &lock}), "%s %s", c.Variant, c.Fencing)
					violated = violated || want[checker.MutualExclusion] == checker.Violated
				}
			}
			require.True(t, violated)
		})
	}
}

// verdicts returns those on what is about locks rather than about how they release.
func verdicts(t *testing.T, c *scenarios.Case, o harness.Options) map[checker.Property]checker.Verdict {
	t.Helper()
	p, err := harness.Compile(*c, o)
	require.NoError(t, err)
	result, err := play(t, p)
	require.NoError(t, err)
	found := map[checker.Property]checker.Verdict{}
	for _, of := range []checker.Property{checker.MutualExclusion, checker.ExclusionAtService, checker.Resource, checker.FencingOrder} {
		found[of] = result.Report.Verdicts[of]
	}
	return found
}

// TestEachLanguageHasTheVerdictsOfTheSimulation plays lease-overrun with a program in each language.
func TestEachLanguageHasTheVerdictsOfTheSimulation(t *testing.T) {
	for i, argv := range languages {
		t.Run(argv[0], func(t *testing.T) {
			t.Parallel()
			if i > 0 {
				long.Only(t)
			}
			lock := locks.Algorithm{
				Name: "program", Title: "a program", Servers: "redis", Authority: locks.OneNode, Identity: "value", Lease: true,
				Deadline: locks.OnMonotonic, Program: program(t, built(t, argv)...), Key: func(o locks.Options) string { return o.Key },
			}
			s, err := scenarios.Load("lease-overrun")
			require.NoError(t, err)
			for _, c := range s.Cases() {
				if c.Fencing != history.Unfenced || c.Variant != "lease-3s-work-4s" && long.Pick(0, 0, 1) == 0 {
					continue
				}
				want, got := verdicts(t, &c, harness.Options{}), verdicts(t, &c, harness.Options{Instead: &lock})
				want[checker.FencingOrder] = checker.NotJudged // the programs have no token
				require.Equal(t, want, got, c.Variant)
			}
		})
	}
}
